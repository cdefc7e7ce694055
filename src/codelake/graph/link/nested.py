"""Packed columns of evidence, flat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow_vectors import fields_of, n_things
from codelake.contracts.evidence import FIELDS, LINK_INPUT

Numbers = np.ndarray[Any, np.dtype[np.int32]]


class Nested:
    """One packed column of all files, flat: its fields, and to which file each row belongs."""

    def __init__(self, table: pa.Table, name: str) -> None:
        self.names = LINK_INPUT[name]
        rows = table.column(name).combine_chunks()
        lengths = n_things(rows).astype(np.int32)
        self._columns = fields_of(rows, FIELDS[name])
        self.starts: Numbers = (np.cumsum(lengths) - lengths).astype(np.int32)
        self.files: Numbers = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        self.places: Numbers = np.arange(len(self.files), dtype=np.int32) - self.starts[self.files]

    def column(self, name: str) -> pa.Array:
        return self._columns[name]

    def numbers(self, name: str) -> Numbers:
        found: Numbers = self.column(name).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        return found

    def is_null(self, name: str) -> Any:
        return self.column(name).is_null().to_numpy(zero_copy_only=False)

    def booleans(self, name: str) -> Any:
        return self.column(name).fill_null(False).to_numpy(zero_copy_only=False)

    def texts(self, name: str) -> list[str]:
        found: list[str] = self.column(name).fill_null("").to_pylist()
        return found

    def dicts(self) -> Iterator[dict[str, Any]]:
        columns = [self.column(name).to_pylist() for name in self.names]
        for values in zip(*columns, strict=True):
            yield dict(zip(self.names, values, strict=True))
