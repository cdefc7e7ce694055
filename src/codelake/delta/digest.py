"""A digest of rows: the same for the same rows in whatever order, files or engine.

Each row is hashed over its columns, by name; the hashes of all rows are added. Adding, because rows have no order,
and because a row that is there twice must count twice. It tells apart what damage or a bug does; it is no
protection against somebody who builds rows with equal sums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pandas.util import hash_array

from codelake.delta.embedded import batches
from codelake.delta.log import Log

if TYPE_CHECKING:  # a digest is taken without Spark
    from pyspark.sql import DataFrame

_MODULUS = 1 << 64


@dataclass(frozen=True)
class Digest:
    n_rows: int
    total: int

    def __str__(self) -> str:
        return f"{self.n_rows}-{self.total:016x}"


def digest_of(batches: Iterable[pa.RecordBatch]) -> Digest:
    n_rows = total = 0
    for batch in batches:
        n_rows += batch.num_rows
        total = (total + int(_row_hashes(batch).sum(dtype=np.uint64))) % _MODULUS
    return Digest(n_rows, total)


def embedded_digest(log: Log) -> Digest:
    """Of a table at a version, read by deltalake's engine."""
    log.require_files()
    return digest_of(batches({"rows": log.delta_table}, "SELECT * FROM rows"))


def spark_digest(rows: DataFrame) -> Digest:
    """Of a DataFrame; each task adds up its own rows."""
    parts = rows.mapInArrow(_task_digests, "n_rows bigint, total string").collect()
    return Digest(sum(p["n_rows"] for p in parts), sum(int(p["total"]) for p in parts) % _MODULUS)


def _task_digests(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found = digest_of(batches)
    yield pa.RecordBatch.from_pydict({"n_rows": [found.n_rows], "total": [str(found.total)]})


def _row_hashes(batch: pa.RecordBatch) -> Any:
    """NULL counts for nothing: a row has the same hash before and after a column was added to its table."""
    hashes = np.zeros(batch.num_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):  # hashes wrap around
        for name in batch.schema.names:
            column = batch.column(name)
            seed = hash_array(np.array([name], dtype=object))[0]
            there = column.is_valid().to_numpy(zero_copy_only=False)
            hashes += np.where(there, _mixed(_column_hashes(column) ^ seed), np.uint64(0))
        return _mixed(hashes)


def _mixed(hashes: Any) -> Any:
    """Spreads every bit, so that sums of sums tell apart which value was in which row (MurmurHash3's last step)."""
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return hashes ^ (hashes >> np.uint64(33))


def _column_hashes(column: pa.Array) -> Any:
    type_ = column.type
    if pa.types.is_timestamp(type_):
        column = column.cast(pa.timestamp("us", tz=type_.tz)).cast(pa.int64())
    elif pa.types.is_date32(type_):
        column = column.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_boolean(type_) or pa.types.is_integer(type_):
        column = column.cast(pa.int64())
    elif pa.types.is_floating(type_):
        column = pc.add(column.cast(pa.float64()), 0.0)  # 0.0 and -0.0 are one value
    else:
        return hash_array(np.array([_text(value) for value in column.to_pylist()], dtype=object), categorize=False)
    return hash_array(pc.fill_null(column, 0).to_numpy(zero_copy_only=False), categorize=False)


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, bytes):
        return "b" + value.hex()
    return json.dumps(_ordered(value), sort_keys=True, default=str)


def _ordered(value: Any) -> Any:
    """Nested values with a map's entries in order: engines keep them as they come."""
    if isinstance(value, dict):
        return {key: _ordered(item) for key, item in value.items()}
    if isinstance(value, list):
        items = [_ordered(item) for item in value]
        return sorted(items, key=str) if items and isinstance(value[0], tuple) else items
    return [_ordered(item) for item in value] if isinstance(value, tuple) else value
