"""Data files: there, whole, within the table, with the columns and rows that the log promises; and statistics
that tell the truth about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.protocol import schema_fields
from codelake.delta.checks.state import Action
from codelake.delta.checks.statistics import lying_statistics
from codelake.delta.checks.stored import Stored, below, leaves
from codelake.delta.vectors import vector_path

_PARQUET = {
    "string": ("BYTE_ARRAY",),
    "binary": ("BYTE_ARRAY",),
    "boolean": ("BOOLEAN",),
    "byte": ("INT32",),
    "short": ("INT32",),
    "integer": ("INT32",),
    "long": ("INT64", "INT32"),
    "float": ("FLOAT",),
    "double": ("DOUBLE", "FLOAT", "INT32"),
    "date": ("INT32",),
    "timestamp": ("INT96", "INT64"),
    "timestamp_ntz": ("INT96", "INT64"),
}
"""What a column of the log's type may be in a file. Narrower ones are of before a type was widened."""


def files(table: Stored) -> Iterator[Finding]:
    state = table.state
    if state is None:
        return
    fields = schema_fields(state) or []
    partitions = list((state.metadata or {}).get("partitionColumns") or ())
    for one in state.files.values():
        yield from _partition_values(table, one, fields, partitions)
        broken = _broken(table, one)
        if broken is not None:
            yield broken
        else:
            yield from _contents(table, one, [f for f in fields if f["name"] not in partitions])
    yield from _foreign(table)


def _broken(table: Stored, one: Action) -> Finding | None:
    path = one["path"]
    if leaves(path):
        return Finding(
            table.name,
            "path leaves the table",
            path,
            "a file below the table's own folder",
            path,
            do="Export the clone's rows into a table of their own.",
        )
    file = table.data_files.get(below(path))
    if file is None:
        return Finding(table.name, "missing file", path, f"{one.get('size')} bytes", "no such file")
    if file.size != one.get("size"):
        return Finding(table.name, "truncated file", path, f"{one.get('size')} bytes", f"{file.size} bytes")
    return None


def _contents(table: Stored, one: Action, fields: list[dict[str, Any]]) -> Iterator[Finding]:
    path = below(one["path"])
    try:
        with table.fs.open_input_file(path) as file:
            parquet = pq.ParquetFile(file)
            yield from _columns(table, path, parquet, fields)
            yield from lying_statistics(table.name, path, one, parquet)
    except (ValueError, OSError) as error:
        yield Finding(table.name, "corrupt file", path, "a Parquet file", str(error).splitlines()[0])


def _columns(table: Stored, path: str, parquet: pq.ParquetFile, fields: list[dict[str, Any]]) -> Iterator[Finding]:
    """A column that a file lacks is NULL in its rows; one that is NOT NULL cannot be lacking."""
    there = {parquet.schema.column(i).path: parquet.schema.column(i) for i in range(len(parquet.schema))}
    heads = {name.partition(".")[0] for name in there}
    for field in fields:
        name = field.get("metadata", {}).get("delta.columnMapping.physicalName", field["name"])
        if name not in heads:
            if not field.get("nullable", True):
                yield Finding(table.name, "file of another schema", path, f"the column {name}, NOT NULL", "none")
        elif isinstance(field["type"], str) and field["type"] in _PARQUET:
            physical = there[name].physical_type if name in there else "a nested column"
            if physical not in _PARQUET[field["type"]]:
                yield Finding(table.name, "file of another schema", path, f"{name} as {field['type']}", physical)
            elif not field.get("nullable", True) and (n_null := _n_null(parquet, name)):
                yield Finding(table.name, "NULL in a NOT NULL column", path, f"a value of {name}", f"{n_null} NULLs")


def _n_null(parquet: pq.ParquetFile, name: str) -> int:
    index = next(i for i in range(len(parquet.schema)) if parquet.schema.column(i).path == name)
    groups = (parquet.metadata.row_group(i).column(index).statistics for i in range(parquet.metadata.num_row_groups))
    return sum(s.null_count for s in groups if s is not None and s.has_null_count)


def _partition_values(
    table: Stored, one: Action, fields: list[dict[str, Any]], partitions: list[str]
) -> Iterator[Finding]:
    by_name = {field["name"]: field for field in fields}
    values = one.get("partitionValues") or {}
    for column in partitions:
        if column not in by_name:
            continue  # the schema's own check says so
        field = by_name[column]
        name = field.get("metadata", {}).get("delta.columnMapping.physicalName", column)
        if name not in values:
            yield Finding(table.name, "bad partition value", one["path"], f"a value of {column}", "none")
            continue
        value = values[name]
        if value is not None and field["type"] in ("long", "integer", "short", "byte"):
            try:
                int(value)
            except ValueError:
                yield Finding(table.name, "bad partition value", one["path"], f"{column} as {field['type']}", value)


def _foreign(table: Stored) -> Iterator[Finding]:
    """Files that no entry of the log names: left by a writer that was killed, or put there by somebody."""
    named: set[str] = set()
    actions = [a for entry in table.entries.values() for a in entry.actions]
    actions += [a for found in table.checkpoints.values() for one in found for a in one.actions]
    for action in actions:
        for kind in ("add", "remove", "cdc"):
            one = action.get(kind)
            if not one or not isinstance(one.get("path"), str):
                continue
            named.add(below(one["path"]))
            vector = one.get("deletionVector")
            if vector and vector.get("storageType") == "u":
                named.add(vector_path(vector) or "")
    for path in sorted(set(table.data_files) - named):
        yield Finding(
            table.name,
            "foreign file",
            path,
            "files that the log names",
            "one that it does not",
            level="note",
            do="Vacuum deletes it when it is older than the table's retention.",
        )
