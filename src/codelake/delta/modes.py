"""How each mode of a commit reaches Delta: a DataFrame writer with options, or a SQL statement.

SQL statements take a commit's metadata only from a session's configuration, so each runs in a session of
its own, whose configuration no other thread sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from codelake.contracts.table import Table
from codelake.delta.create import sql_text
from codelake.delta.lake import Lake
from codelake.delta.layout import laid_out, write_confs, write_options
from codelake.delta.reading import any_of
from codelake.errors import UsageError


def write_rows(
    lake: Lake,
    table: Table,
    rows: DataFrame,
    *,
    metadata: str,
    txn: tuple[str, int] | None,
    overwrite: bool,
    condition: str | None = None,
    rearranged: bool = False,
) -> None:
    """Append, overwrite, or overwrite only what satisfies `condition`.

    `rearranged` rows are those that the table has, in other files: the change feed tells of nothing.
    """
    writer = (
        laid_out(rows, table)
        .write.format("delta")
        .mode("overwrite" if overwrite else "append")
        .options(**write_options(table))
        .option("userMetadata", metadata)
    )
    if txn:
        writer = writer.option("txnAppId", txn[0]).option("txnVersion", str(txn[1]))
    if table.schema_mode == "merge":
        writer = writer.option("mergeSchema", "true")
    elif table.schema_mode == "overwrite" and overwrite and condition is None:
        writer = writer.option("overwriteSchema", "true")
    if condition is not None:
        writer = writer.option("replaceWhere", condition)
    if rearranged:
        writer = writer.option("dataChange", "false")
    with _configured(lake.session, write_confs(table)):
        writer.save(lake.uri(table.name))


def run_statement(
    lake: Lake,
    table: Table,
    statement: str,
    *,
    metadata: str,
    txn: tuple[str, int] | None,
    confs: Mapping[str, str] = MappingProxyType({}),
) -> None:
    confs = {
        **confs,
        "spark.databricks.delta.commitInfo.userMetadata": metadata,
        "spark.sql.parquet.compression.codec": table.layout.compression,
        **write_confs(table),
    }
    if txn:
        confs["spark.databricks.delta.write.txnAppId"] = txn[0]
        confs["spark.databricks.delta.write.txnVersion"] = str(txn[1])
    session = _session_of_its_own(lake.session)
    for key, value in confs.items():
        session.conf.set(key, value)
    session.sql(statement).collect()


def merge(
    lake: Lake,
    table: Table,
    rows: DataFrame,
    *,
    view: str,
    delete_unmatched: str | None,
    metadata: str,
    txn: tuple[str, int] | None,
) -> None:
    # a global view, because the statement runs in another session than the rows were planned in
    rows.createGlobalTempView(view)
    try:
        statement = _merge_statement(table, lake.sql_name(table.name), f"global_temp.{view}", delete_unmatched)
        run_statement(lake, table, statement, metadata=metadata, txn=txn)
    finally:
        lake.session.catalog.dropGlobalTempView(view)


def _merge_statement(table: Table, target: str, source: str, delete_unmatched: str | None) -> str:
    rest = [c for c in table.column_names if c not in table.key]
    same_key = " AND ".join(f"t.`{c}` = s.`{c}`" for c in table.key)
    evolution = "WITH SCHEMA EVOLUTION " if table.schema_mode == "merge" else ""
    clauses = []
    if rest:
        # rows that are the same are left alone, so that the change feed shows only what really changed
        unchanged = " AND ".join(f"t.`{c}` <=> s.`{c}`" for c in rest)
        clauses.append(f"WHEN MATCHED AND NOT ({unchanged}) THEN UPDATE SET *")
    clauses.append("WHEN NOT MATCHED THEN INSERT *")
    if delete_unmatched is not None:
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND ({delete_unmatched}) THEN DELETE")
    return f"MERGE {evolution}INTO {target} t USING {source} s ON {same_key} " + " ".join(clauses)


def delete_statement(name: str, where: str) -> str:
    return f"DELETE FROM {name} WHERE {where}"


def update_statement(name: str, values: Mapping[str, str], where: str) -> str:
    return f"UPDATE {name} SET {', '.join(f'`{c}` = {text}' for c, text in values.items())} WHERE {where}"


def replace_condition(
    table: Table, replacing: Sequence[Sequence[Any]], *, text: Callable[[str], str] = sql_text
) -> str:
    """`replacing` may give values for the first columns of `replace_by` only: then all rows with those go. `text` says
    how the engine that reads the condition writes texts."""
    columns = table.replace_by
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for values in replacing:
        if not 0 < len(values) <= len(columns):
            raise UsageError(f"values to replace in {table.name}", expected=f"1 to {len(columns)}", found=len(values))
        literals = tuple(_literal(value, text) for value in values)
        groups.setdefault(literals[:-1], []).append(literals[-1])
    return any_of([_one_of(columns, before, last) for before, last in groups.items()])


def _one_of(columns: Sequence[str], before: Sequence[str], last: Sequence[str]) -> str:
    """Equal to `before` in the first columns, and to one of `last` in the next."""
    conditions = [f"`{column}` = {value}" for column, value in zip(columns, before, strict=False)]
    conditions.append(f"`{columns[len(before)]}` IN ({', '.join(last)})")
    return "(" + " AND ".join(conditions) + ")"


def _literal(value: Any, text: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError("values to replace", expected="strings or whole numbers", found=repr(value))
    return str(value)


def _session_of_its_own(spark: SparkSession) -> SparkSession:
    return spark.newSession() if hasattr(spark, "_jvm") else spark.cloneSession()  # type: ignore[attr-defined]


@contextmanager
def _configured(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    for key, value in confs.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in confs:
            spark.conf.unset(key)
