"""Questions to pinned tables, answered in this process by deltalake's own engine: for what a build looks up and counts,
Spark would take longer to plan than the answer takes."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from deltalake import QueryBuilder

from codelake.contracts.operations import SCANS
from codelake.contracts.table import Table
from codelake.delta.run import Run, pin

_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def ask(run: Run, tables: Iterable[Table], sql: str) -> pa.Table:
    """`sql` over these tables, each by its name and as the run has pinned it."""
    engine = QueryBuilder()
    for table in tables:
        log = run.lake.log(table.name, version=pin(run, table).version)
        n_files = log.files.num_rows  # paths that leave the table are refused here
        engine.register(table.name, log.delta_table)
        run.note(
            SCANS,
            table_name=table.name,
            version=log.version,
            stage=run.stage,
            filter=None,
            n_files=n_files,
            n_candidates=n_files,
            n_pruned=0,
            n_bytes=log.n_bytes,
            n_rows=None,
            from_version=None,
            options={"engine": "embedded", "sql": sql},
        )
    found = pa.table(engine.execute(sql).read_all())
    return found.cast(pa.schema([pa.field(one.name, _plain(one.type)) for one in found.schema]))


def _plain(found: pa.DataType) -> pa.DataType:
    """The engine's texts are views, which little else of Arrow knows."""
    if pa.types.is_string_view(found):
        return pa.string()
    if pa.types.is_binary_view(found):
        return pa.binary()
    if pa.types.is_list(found):
        return pa.list_(_plain(found.value_type))
    if pa.types.is_map(found):
        return pa.map_(_plain(found.key_type), _plain(found.item_type))
    if pa.types.is_struct(found):
        return pa.struct([pa.field(found.field(k).name, _plain(found.field(k).type)) for k in range(found.num_fields)])
    return found


def without_views(rows: pa.Table) -> pa.Table:
    """The engine gives texts and bytes as views, which few other tools take."""
    return rows.cast(plain_schema(rows.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(f.name, _plain_type(f.type), f.nullable) for f in schema])


def _plain_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_plain_type(type_.value_type))
    if pa.types.is_map(type_):
        return pa.map_(_plain_type(type_.key_type), _plain_type(type_.item_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(f.name, _plain_type(f.type), f.nullable) for f in type_])
    return _VIEWS.get(type_, type_)


def text(value: str) -> str:
    """A text in the SQL of that engine, which knows no escapes but doubled quotes."""
    return "'" + value.replace("'", "''") + "'"


def among(column: str, values: Iterable[str]) -> str:
    """A condition: `column` has one of the values."""
    listed = ", ".join(map(text, values))
    return f"{column} IN ({listed})" if listed else "false"
