"""Deletion vectors: each can be read, deletes as many rows as the log says, and rows that its file has."""

from __future__ import annotations

import json
from collections.abc import Iterator

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.state import Action
from codelake.delta.checks.stored import Stored, leaves
from codelake.delta.vectors import read_vector, vector_path


def deletion_vectors(table: Stored) -> Iterator[Finding]:
    for one in (table.state.files if table.state else {}).values():
        if one.get("deletionVector"):
            yield from _vector(table, one)


def _vector(table: Stored, one: Action) -> Iterator[Finding]:
    descriptor = one["deletionVector"]
    place = f"the deletion vector of {one['path']}"
    if descriptor.get("storageType") == "p" or leaves(str(descriptor.get("pathOrInlineDv")).rpartition("/")[0]):
        yield Finding(
            table.name,
            "path leaves the table",
            place,
            "a file below the table's own folder",
            str(descriptor.get("pathOrInlineDv")),
        )
        return
    try:
        path = vector_path(descriptor)
        if path is not None and path not in table.data_files:
            yield Finding(table.name, "missing deletion vector", place, path, "no such file")
            return
        vector = read_vector(descriptor, table.read(path) if path is not None else b"")
    except (ValueError, KeyError, TypeError) as error:
        yield Finding(table.name, "corrupt deletion vector", place, "a bitmap of rows", str(error))
        return
    if vector.n_rows != descriptor.get("cardinality"):
        yield Finding(
            table.name, "deletion vector lies", place, f"{descriptor.get('cardinality')} rows", str(vector.n_rows)
        )
    n_records = _n_records(one)
    if n_records is not None and vector.last_row >= n_records:
        yield Finding(table.name, "deletion vector lies", place, f"rows below {n_records}", f"row {vector.last_row}")


def _n_records(one: Action) -> int | None:
    try:
        return int(json.loads(one["stats"])["numRecords"])
    except (ValueError, KeyError, TypeError):
        return None
