"""Tables made from contracts, and brought to them when a contract has changed."""

from __future__ import annotations

from collections.abc import Mapping

from codelake.contracts.table import Table
from codelake.contracts.types import parse_type
from codelake.delta.drift import CONSTRAINT, NOT_SET, Drift, drift
from codelake.delta.engine import engine_errors
from codelake.delta.features import check_enable
from codelake.delta.lake import Lake
from codelake.delta.layout import table_properties
from codelake.errors import ContractBroken


def create_table(lake: Lake, table: Table, *, allow_features: tuple[str, ...] = ()) -> None:
    """Make the table if it is not there. One that is there must be as the contract says."""
    check_enable(table.features, allow=allow_features)
    statement = ddl(table, lake.sql_name(table.name))
    with lake.writing(table.name):
        if lake.exists(table.name):
            require_contract(lake, table)
            return
        lake.clear_unmade(table.name)
        with engine_errors(f"table {table.name}: creation"):
            lake.session.sql(statement)


def require_contract(lake: Lake, table: Table) -> None:
    found = drift(table, lake.log(table.name))
    if found:
        raise ContractBroken(
            f"table {table.name} differs from its contract",
            found="; ".join(map(str, found)),
            do=f"Nothing was written. See `codelake tables {table.name}`; evolve() brings it to the contract.",
        )


def ddl(table: Table, name: str) -> str:
    """The CREATE TABLE statement: also what registers the table in a catalogue."""
    columns = ",\n  ".join(
        f"`{c.name}` {_sql_type(c.type)}{'' if c.nullable else ' NOT NULL'} COMMENT {sql_text(c.meaning)}"
        for c in table.columns
    )
    properties = table_properties(table)
    for check in table.all_checks:
        if check.action == "fail":
            properties[CONSTRAINT + check.name] = check.sql
    listed = ",\n  ".join(f"{sql_text(k)} = {sql_text(v)}" for k, v in sorted(properties.items()))
    layout = ""
    if table.layout.partition_by:
        layout = f"PARTITIONED BY ({', '.join(f'`{c}`' for c in table.layout.partition_by)})\n"
    if table.layout.cluster_by:
        layout = f"CLUSTER BY ({', '.join(f'`{c}`' for c in table.layout.cluster_by)})\n"
    return (
        f"CREATE TABLE {name} (\n  {columns}\n) USING delta\n{layout}"
        f"COMMENT {sql_text(table.meaning)}\nTBLPROPERTIES (\n  {listed}\n)"
    )


def evolve(lake: Lake, table: Table, *, drop_columns: bool = False) -> tuple[Drift, ...]:
    """Bring a table to its contract, without rewriting its rows, and say what was done.

    Precedence: the contract decides; what a change would lose or rewrite is refused before anything is
    done. Renames and drops need column mapping in the contract; a drop must also be asked for. Types,
    partitioning and NOT NULL on stored rows cannot be changed in place: they need a rewrite (overwrite).
    """
    with lake.writing(table.name):
        found = drift(table, lake.log(table.name))
        mapped = "columnMapping" in table.features
        for one in found:
            _refuse_in_place(table, one, mapped=mapped, drop_columns=drop_columns)
        name = lake.sql_name(table.name)
        order = {"property": 0, "renamed": 1, "missing column": 2, "extra column": 3, "check": 4}
        with engine_errors(f"table {table.name}: evolution"):
            for one in sorted(found, key=lambda d: order.get(d.kind, 5)):
                lake.session.sql(_alteration(table, one, name))
    return found


def registration(name: str, location: str, comment: str) -> str:
    """The statement by which a catalogue comes to know a table that is there. `name` is quoted by the caller."""
    return f"CREATE TABLE IF NOT EXISTS {name} USING delta LOCATION {sql_text(location)} COMMENT {sql_text(comment)}"


def set_properties(lake: Lake, name: str, properties: Mapping[str, str]) -> None:
    """For maintenance, which holds the table's lock and leaves a row."""
    listed = ", ".join(f"{sql_text(key)} = {sql_text(value)}" for key, value in properties.items())
    with engine_errors(f"table {name}: properties"):
        lake.session.sql(f"ALTER TABLE {lake.sql_name(name)} SET TBLPROPERTIES ({listed})")


def drop_feature(lake: Lake, name: str, feature: str, *, truncate_history: bool) -> None:
    """For maintenance. Delta says itself what stands in the way, and whether history has to go first."""
    end = " TRUNCATE HISTORY" if truncate_history else ""
    with engine_errors(f"table {name}: drop of the feature {feature}"):
        lake.session.sql(f"ALTER TABLE {lake.sql_name(name)} DROP FEATURE `{feature}`{end}")


def _refuse_in_place(table: Table, one: Drift, *, mapped: bool, drop_columns: bool) -> None:
    reason = None
    if one.kind in ("retyped", "partitioning", "clustering"):
        reason = "it needs a rewrite: commit all rows with mode overwrite under schema mode overwrite"
    elif one.kind == "nullable" and one.expected == "NOT NULL":
        reason = "stored rows may hold NULL: commit all rows with mode overwrite under schema mode overwrite"
    elif one.kind in ("renamed", "extra column") and not mapped:
        reason = "a rename or drop in place needs the feature columnMapping in the contract"
    elif one.kind == "extra column" and not drop_columns:
        reason = "dropping a column must be asked for (drop_columns=True)"
    elif one.kind == "missing column":
        column = table.column(one.name)
        if not column.nullable:
            reason = "stored rows would have no value for it: make it nullable"
    elif one.kind == "check" and one.found != NOT_SET:
        reason = "the table has another rule of that name, and stored rows may break this one"
    if reason:
        raise ContractBroken(f"table {table.name}, {one}", do=f"Nothing was changed: {reason}.")


def _alteration(table: Table, one: Drift, name: str) -> str:
    if one.kind == "property":
        return f"ALTER TABLE {name} SET TBLPROPERTIES ({sql_text(one.name)} = {sql_text(one.expected)})"
    if one.kind == "renamed":
        return f"ALTER TABLE {name} RENAME COLUMN `{one.found}` TO `{one.expected}`"
    if one.kind == "missing column":
        column = table.column(one.name)
        comment = sql_text(column.meaning)
        return f"ALTER TABLE {name} ADD COLUMN `{one.name}` {_sql_type(column.type)} COMMENT {comment}"
    if one.kind == "extra column":
        return f"ALTER TABLE {name} DROP COLUMN `{one.name}`"
    if one.kind == "nullable":
        return f"ALTER TABLE {name} ALTER COLUMN `{one.name}` DROP NOT NULL"
    return f"ALTER TABLE {name} ADD CONSTRAINT `{one.name}` CHECK ({one.expected})"


def _sql_type(text: str) -> str:
    return str(parse_type(text))


def sql_text(value: str) -> str:
    """A SQL string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
