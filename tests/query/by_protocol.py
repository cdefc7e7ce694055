"""A Delta table as DuckDB has it by the protocol alone: the log, the data files and their deletion vectors are read
here, so that neither deltalake nor Spark has a say in what is in it. DuckDB's own extension is not on PyPI."""

from __future__ import annotations

import base64
import json
import string
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import duckdb
import pyarrow as pa

Action = dict[str, Any]
_Z85 = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
_B85 = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
_VECTOR, _WITH_RUNS, _WITHOUT_RUNS = 1681511377, 12347, 12346
"""What a deletion vector and both kinds of roaring bitmaps begin with."""


def rows_by_duckdb(table: Path, version: int) -> pa.Table:
    """Of a version whose log is there from its beginning."""
    metadata, files = state(table, version)
    assert not metadata["partitionColumns"] and "delta.columnMapping.mode" not in metadata["configuration"]
    columns = ", ".join(f'"{field["name"]}"' for field in json.loads(metadata["schemaString"])["fields"])
    connection = duckdb.connect(config={"threads": 2})
    parts = []
    for file in files:
        gone = pa.table({"place": pa.array(deleted(table, file.get("deletionVector")), pa.int64())})
        connection.register("gone", gone)
        sql = f"SELECT {columns} FROM read_parquet(?, file_row_number = true) WHERE file_row_number NOT IN (FROM gone)"
        parts.append(connection.sql(sql, params=[str(table / unquote(file["path"]))]).to_arrow_table())
    return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})


def state(table: Path, version: int) -> tuple[Action, list[Action]]:
    """What the table is, and the files that it has, at a version."""
    metadata: Action = {}
    files: dict[tuple[str, str], Action] = {}
    for number in range(version + 1):
        commit = table / "_delta_log" / f"{number:020}.json"
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        # Within a commit a file may go and come back, with another deletion vector.
        for action in sorted(actions, key=lambda one: "remove" not in one):
            if "metaData" in action:
                metadata = action["metaData"]
            elif "remove" in action:
                files.pop(_key(action["remove"]), None)
            elif "add" in action:
                files[_key(action["add"])] = action["add"]
    return metadata, list(files.values())


def _key(file: Action) -> tuple[str, str]:
    """A file is another one with another deletion vector."""
    vector = file.get("deletionVector") or {}
    return file["path"], f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}@{vector.get('offset')}"


def deleted(table: Path, vector: Action | None) -> list[int]:
    """Places of the rows that are no more."""
    if vector is None:
        return []
    if vector["storageType"] == "i":
        raw = _z85(vector["pathOrInlineDv"])
    else:
        assert vector["storageType"] == "u", "an absolute path: codelake writes none"
        prefix, encoded = vector["pathOrInlineDv"][:-20], vector["pathOrInlineDv"][-20:]
        file = (table / prefix / f"deletion_vector_{UUID(bytes=_z85(encoded))}.bin").read_bytes()
        at = vector.get("offset") or 0
        (size,) = struct.unpack_from(">i", file, at)
        assert size == vector["sizeInBytes"]
        raw = file[at + 4 : at + 4 + size]
    found = list(_numbers(raw))
    assert len(found) == vector["cardinality"]
    return found


def _z85(text: str) -> bytes:
    return base64.b85decode(text.translate(str.maketrans(_Z85, _B85)))


def _numbers(raw: bytes) -> Iterator[int]:
    """Of a 64-bit roaring bitmap: 32-bit ones, each with the upper half of its numbers."""
    magic, n_bitmaps = struct.unpack_from("<iq", raw)
    assert magic == _VECTOR
    at = 12
    for _ in range(n_bitmaps):
        (upper,) = struct.unpack_from("<I", raw, at)
        lower, at = _bitmap(raw, at + 4)
        yield from ((upper << 32) + one for one in lower)


def _bitmap(raw: bytes, at: int) -> tuple[list[int], int]:
    """Its numbers and where it ends. docs: https://github.com/RoaringBitmap/RoaringFormatSpec"""
    (cookie,) = struct.unpack_from("<I", raw, at)
    if cookie & 0xFFFF == _WITH_RUNS:
        n = (cookie >> 16) + 1
        bits = int.from_bytes(raw[at + 4 : at + 4 + (n + 7) // 8], "little")
        at += 4 + (n + 7) // 8
    else:
        assert cookie == _WITHOUT_RUNS
        n, bits = struct.unpack_from("<I", raw, at + 4)[0], 0
        at += 8
    heads = [struct.unpack_from("<HH", raw, at + 4 * place) for place in range(n)]
    at += 4 * n
    if cookie == _WITHOUT_RUNS or n >= 4:
        at += 4 * n  # offsets, of which nobody who reads all has need
    found: list[int] = []
    for place, (key, least) in enumerate(heads):
        if bits >> place & 1:
            (n_runs,) = struct.unpack_from("<H", raw, at)
            runs = [struct.unpack_from("<HH", raw, at + 2 + 4 * run) for run in range(n_runs)]
            values = [one for start, more in runs for one in range(start, start + more + 1)]
            at += 2 + 4 * n_runs
        elif least + 1 <= 4096:
            values = list(struct.unpack_from(f"<{least + 1}H", raw, at))
            at += 2 * (least + 1)
        else:
            words = struct.unpack_from("<1024Q", raw, at)
            values = [64 * word + bit for word, mask in enumerate(words) for bit in range(64) if mask >> bit & 1]
            at += 8192
        found.extend((key << 16) + value for value in values)
    return found, at
