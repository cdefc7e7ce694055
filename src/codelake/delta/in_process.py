"""Rows that this process holds, written by deltalake: to plan a commit of few rows takes Spark a hundred times as long
as to write them (docs/decisions/0023-commits-in-process.md).

Only on a local disk, where the table's lock keeps both engines apart, and only into a table that deltalake writes as
its contract says: its features, its layout, and every rule but the key as a constraint of the table itself.
"""

from __future__ import annotations

import json
import os
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
from codelake.delta.drift import CONSTRAINT, drift
from codelake.delta.engine import translated
from codelake.delta.entries import LOG
from codelake.delta.features import writes
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.modes import replace_condition
from codelake.delta.reading import checksum_of, said, text
from codelake.errors import Conflict, ContractBroken

_MODES = ("append", "replace")
_MOST_BYTES = 64 << 20
"""More is written by Spark, on all cores."""
_ZSTD = "parquet.compression.codec.zstd.level"
_SIZE_AHEAD = 2
"""deltalake closes a file when what it holds of it, most of it not compressed yet, has the size that was asked for."""
_PACKED = 8
"""And Arrow takes so many times as much as that."""
_HISTORY = 20
"""Entries before the last in which a checksum is looked for."""
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
        and writes(log, "deltalake")
        and _is_as_declared(table, log)
    )


def _is_as_declared(table: Table, log: Log) -> bool:
    """The checks of the contract are those of the table, and so are the columns."""
    declared = {CONSTRAINT + check.name for check in table.all_checks}
    stored = {name for name in log.properties if name.startswith(CONSTRAINT)}
    same = stored == declared and all(check.action == "fail" for check in table.all_checks)
    return same and all(one.kind == "property" for one in drift(table, log))


def conformed(rows: pa.Table, table: Table) -> pa.Table:
    """Arrow of exactly the contract's columns and types."""
    if rows.schema.names != list(table.column_names):
        raise ContractBroken(
            f"table {table.name}: rows of another shape",
            expected=", ".join(table.column_names),
            found=", ".join(rows.schema.names),
            do="Nothing was written. Bring the rows into the contract's shape, or change the contract.",
        )
    schema = arrow_schema(table)
    # NULL where the contract has none is for the gates to tell, with the rows.
    nullable = pa.schema([field.with_nullable(True) for field in schema])
    try:
        return rows if rows.schema == schema else rows.cast(nullable)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ContractBroken(
            f"table {table.name}: rows of another shape",
            expected=", ".join(f"{field.name} {field.type}" for field in schema),
            found=str(error),
            do="Nothing was written. Bring the rows into the contract's shape, or change the contract.",
        ) from error


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
        "post_commithook_properties": PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False),
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
    _write_checksum(lake, log, target)


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
    dictionary = asked.get("parquet.enable.dictionary") != "false"
    statistics = asked.get("parquet.column.statistics.enabled") != "false"
    columns = {
        name: ColumnProperties(
            dictionary_enabled=False,
            encoding="DELTA_BYTE_ARRAY" if pa.types.is_string(kind) else "DELTA_BINARY_PACKED",
            statistics_enabled="PAGE",
        )
        for name, kind in _leaves(arrow_schema(table))
        if name in layout.no_dictionary
    }
    if not statistics:
        columns |= {name: ColumnProperties(statistics_enabled="PAGE") for name in layout.stats or ()}
    compression: Any = layout.compression.upper()
    return WriterProperties(
        compression=compression,
        compression_level=int(asked.get(_ZSTD, "3")) if layout.compression == "zstd" else None,
        default_column_properties=ColumnProperties(
            dictionary_enabled=dictionary, statistics_enabled="PAGE" if statistics else "NONE"
        ),
        column_properties=columns,
    )


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


def _write_checksum(lake: Lake, log: Log, table: DeltaTable) -> None:
    """Beside the entry, as Spark writes it: a reader compares what it has replayed. deltalake writes none. What is the
    same as in the newest one is taken from there; where there is none, or columns have changed since, none is written.
    """
    folder = lake.store.path / log.name / LOG
    for version in range(log.version, max(log.version - _HISTORY, -1), -1):
        beside = folder / f"{version:020}.crc"
        if beside.exists():
            break
        if any("metaData" in action or "protocol" in action for action in log.actions(version)):
            return
    else:
        return
    raw = beside.read_bytes()
    if checksum_of(raw) is None:
        return
    files = table.get_add_actions(flatten=True)
    before: dict[str, Any] = json.loads(raw)
    kept = ("numMetadata", "numProtocol", "setTransactions", "domainMetadata", "metadata", "protocol")
    found = {name: value for name, value in before.items() if name in kept}
    found |= {"tableSizeBytes": sum(files.column("size_bytes").to_pylist()), "numFiles": files.num_rows}
    if before.get("numDeletionVectorsOpt") != 0:
        found["numDeletionVectorsOpt"] = table.deletion_vectors().read_all().num_rows
    else:
        found |= {"numDeletionVectorsOpt": 0, "numDeletedRecordsOpt": 0}
    made = folder / f"{table.version():020}.crc"
    unfinished = made.with_name(f".{made.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_text(json.dumps(found))
        unfinished.replace(made)
    except OSError:
        # The commit is made, and readers do without: a disk that is full is for the next commit to tell.
        unfinished.unlink(missing_ok=True)
