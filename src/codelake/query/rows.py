"""Rows in plain Python, from Arrow without pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Table

Row = dict[str, Any]


def rows_of(batch: RecordBatch | Table) -> Iterator[Row]:
    names = batch.schema.names
    columns = [batch.column(place).to_pylist() for place in range(len(names))]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))
