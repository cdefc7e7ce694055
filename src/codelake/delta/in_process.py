"""Rows that this process holds, written by deltalake: to plan a commit of few rows takes Spark a hundred times as long
as to write them (docs/decisions/0023-commits-in-process.md).

Only on a local disk, where the table's lock keeps both engines apart, and only into a table that deltalake writes as
its contract says: its features, its layout, and every rule but the key as a constraint of the table itself, which both
engines read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import (
    ColumnProperties,
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, DeltaError

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.table import Table
from codelake.delta.alike import are_read_alike
from codelake.delta.checksum import write_checksum
from codelake.delta.drift import CONSTRAINT, drift
from codelake.delta.engine import translated
from codelake.delta.features import writes
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.modes import replace_condition
from codelake.delta.plain import plain_schema
from codelake.delta.reading import said, text
from codelake.errors import Conflict

_MODES = ("append", "replace")
_MOST_BYTES = 64 << 20
"""More is written by Spark, on all cores."""
_ZSTD = "parquet.compression.codec.zstd.level"
_SIZE_AHEAD = 2
"""deltalake closes a file when what it holds of it, most of it not compressed yet, has the size that was asked for."""
_PACKED = 8
"""And Arrow takes so many times as much as that."""
_INVALID = "failed validation check"


class RulesBroken(Exception):
    """The key, a constraint, or a row outside of what is replaced. Spark's gates say which."""


def takes(lake: Lake, table: Table, log: Log, rows: pa.Table, mode: str) -> bool:
    layout = table.layout
    return (
        lake.store.is_local
        and lake.locking
        and mode in _MODES
        and rows.nbytes <= _MOST_BYTES
        and table.schema_mode == "strict"
        and not (layout.partition_by or layout.cluster_by or layout.sort_by)
        and not (layout.bloom or layout.file_bytes or layout.row_group_bytes)
        and not (table.references or (table.key and table.key_scope == "table"))
        and are_read_alike(table)
        and writes(log, "deltalake")
        and _is_as_declared(table, log)
    )


def _is_as_declared(table: Table, log: Log) -> bool:
    """The checks of the contract are those of the table, and so are the columns."""
    declared = {CONSTRAINT + check.name for check in table.all_checks}
    stored = {name for name in log.properties if name.startswith(CONSTRAINT)}
    same = stored == declared and all(check.action == "fail" for check in table.all_checks)
    return same and all(one.kind == "property" for one in drift(table, log))


def conformed(rows: pa.Table, table: Table) -> pa.Table | None:
    """The rows with the contract's columns in its order, if these and their types are what they have."""
    # NULL where the contract has none is for the gates to tell, with the rows.
    schema = plain_schema(arrow_schema(table))
    if sorted(rows.column_names) != sorted(schema.names):
        return None
    rows = rows.select(schema.names)
    return rows.cast(schema) if plain_schema(rows.schema) == schema else None


def write(
    lake: Lake, table: Table, log: Log, rows: pa.Table, metadata: str, replacing: Sequence[Sequence[Any]]
) -> None:
    """Append, or replace what has the values `replacing`. An append of nothing makes no version."""
    if not replacing and rows.num_rows == 0:
        return
    if table.key and table.key_scope == "write" and _is_twice(rows, table.key):
        raise RulesBroken
    if table.layout.order:
        rows = rows.sort_by([(name, "ascending") for name in table.layout.order])
    target = DeltaTable(lake.uri(table.name), version=log.version)
    how: dict[str, Any] = {
        "target_file_size": _file_bytes(table, log, rows),
        "writer_properties": _writer_properties(table),
        # No retries: the lock is held, so a conflict is with somebody who does not ask for it.
        "commit_properties": CommitProperties(custom_metadata={"userMetadata": metadata}, max_commit_retries=0),
        "post_commithook_properties": PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False),
    }
    try:
        if replacing:
            where = replace_condition(table, replacing, text=text)
            write_deltalake(target, rows, mode="overwrite", predicate=where, **how)
        else:
            write_deltalake(target, rows, mode="append", **how)
    except CommitFailedError as error:
        raise Conflict(
            f"commit to {table.name}", found=said(error), do="Nothing was written. Plan again from a new pin."
        ) from error
    except (DeltaError, OSError) as error:
        if _INVALID in str(error):
            raise RulesBroken from error
        raise translated(f"commit to {table.name}", error) from error
    write_checksum(log, target)


def _is_twice(rows: pa.Table, key: Sequence[str]) -> bool:
    counted = rows.select(key).group_by(list(key)).aggregate([([], "count_all")]).column("count_all")
    return bool(rows.num_rows and pc.max(counted).as_py() > 1)


# files -------------------------------------------------------------------------------------------


def _file_bytes(table: Table, log: Log, rows: pa.Table) -> int | None:
    """What as many rows take as the contract allows in a file: by those that are there, or else by these."""
    most, there = table.layout.file_rows, log.files.column_names
    if most is None or rows.num_rows == 0:
        return None
    n_rows = pc.sum(log.files.column("num_records")).as_py() if "num_records" in there else None
    a_row = log.n_bytes * _SIZE_AHEAD / n_rows if n_rows else rows.nbytes / _PACKED / rows.num_rows
    return int(most * a_row)


def _writer_properties(table: Table) -> WriterProperties:
    """The contract's layout, in deltalake's words. Of what is without statistics, those that the log has are kept."""
    asked, layout = table.properties, table.layout
    compression: Any = layout.compression.upper()
    has_dictionaries = asked.get("parquet.enable.dictionary") != "false"
    has_statistics = asked.get("parquet.column.statistics.enabled") != "false"

    def of(name: str, kind: pa.DataType) -> ColumnProperties:
        is_plain = name in layout.no_dictionary
        encoding: Any = "DELTA_BYTE_ARRAY" if pa.types.is_string(kind) else "DELTA_BINARY_PACKED"
        is_told = (has_statistics or name in (layout.stats or ())) and not _is_told_roughly(kind)
        return ColumnProperties(
            dictionary_enabled=has_dictionaries and not is_plain,
            encoding=encoding if is_plain else None,
            statistics_enabled="PAGE" if is_told else "NONE",
        )

    return WriterProperties(
        compression=compression,
        compression_level=int(asked.get(_ZSTD, "3")) if layout.compression == "zstd" else None,
        default_column_properties=of("", pa.null()),
        column_properties={name: of(name, kind) for name, kind in _leaves(arrow_schema(table))},
    )


def _is_told_roughly(kind: pa.DataType) -> bool:
    """deltalake leaves NaN out of statistics, which to Spark is the greatest number, and rounds those of decimals."""
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _leaves(fields: Iterator[pa.Field] | pa.Schema, before: str = "") -> Iterator[tuple[str, pa.DataType]]:
    """Columns as Parquet names them, and their types."""
    for field in fields:
        kind = field.type
        if pa.types.is_list(kind):
            yield from _leaves(iter([kind.value_field.with_name("element")]), f"{before}{field.name}.list.")
        elif pa.types.is_struct(kind):
            yield from _leaves(iter(kind), f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}", kind
