"""Things packed as bytes (codelake.contracts.vectors), made from values and read as arrays: for all rows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.vectors import Fields

Values: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]
_Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_ARROW = {"int": pa.int32(), "float": pa.float32(), "boolean": pa.bool_(), "string": pa.string()}
_NULL = -(2**31)
_WIDTHS: dict[int, np.dtype[Any]] = {1: np.dtype("<i1"), 2: np.dtype("<i2"), 4: np.dtype("<i4")}
_VIEWS: dict[str, np.dtype[Any]] = {"int": np.dtype("<i4"), "float": np.dtype("<f4")}
_ADDED = 128
"""In the byte that tells how a vector is written: each number is what it adds to the one before."""


# to bytes ----------------------------------------------------------------------------------------


def packed(parts: Sequence[Sequence[Values]], counts: Sequence[int], fields: Fields) -> pa.Array:
    """Of rows with so many things each (`counts`). By field, its values; in parts, as they come, which need not be
    rows."""
    n = np.array(counts, np.int64)
    modes: list[Any] = []
    bodies: list[list[bytes | memoryview]] = [[] for _ in counts]
    for values, type_ in zip(parts, fields.values(), strict=True):
        if type_ == "string":
            lengths, texts, ends = _texts(values, n)
            modes.append(_add(bodies, lengths, n))
            for body, begin, end in zip(bodies, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
                body.append(texts[begin:end])
        else:
            modes.append(_add(bodies, _numbers(values, type_), n))
    heads = np.array(modes, np.uint8).T
    rows = zip(counts, heads, bodies, strict=True)
    return pa.array(
        [b"".join((count.to_bytes(4, "little"), head.tobytes(), *body)) for count, head, body in rows], pa.binary()
    )


def _add(bodies: Sequence[list[bytes | memoryview]], numbers: _Numbers, n: _Numbers) -> Any:
    """To each row its vector; its mode."""
    ends = np.cumsum(n)
    begins = ends - n
    first = begins[n > 0]
    added = np.diff(numbers, prepend=0)
    added[first] = numbers[first]
    plain_width, added_width = (_widths(one, first, n) for one in (numbers, added))
    is_added = added_width < plain_width
    width = np.where(is_added, added_width, plain_width)
    written = {
        (flag, size): memoryview(one.astype(dtype).tobytes())
        for flag, one in ((False, numbers), (True, added))
        for size, dtype in _WIDTHS.items()
        if np.any((is_added == flag) & (width == size))
    }
    rows = zip(bodies, is_added.tolist(), width.tolist(), begins.tolist(), ends.tolist(), strict=True)
    for body, flag, size, begin, end in rows:
        body.append(written[flag, size][begin * size : end * size])
    return width + _ADDED * is_added


def _widths(numbers: _Numbers, first: _Numbers, n: _Numbers) -> _Numbers:
    """By row, the bytes that its largest number needs: 1, 2 or 4; 8 where 4 are too few."""
    found = np.ones(len(n), np.int64)
    if len(first):
        most = np.maximum.reduceat(np.where(numbers < 0, ~numbers, numbers), first)
        found[n > 0] = np.select([most < 1 << 7, most < 1 << 15, most < 1 << 31], [1, 2, 4], 8)
    return found


def _numbers(parts: Sequence[Values], type_: str) -> _Numbers:
    if not parts:
        return np.empty(0, np.int64)
    if type_ == "int" and all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts).astype(np.int64)
    values = pa.array(chain.from_iterable(parts), _ARROW[type_])
    if type_ == "boolean":
        values = values.cast(pa.int32())
    elif type_ == "float":
        values = pc.add(values, pa.scalar(0, pa.float32()))  # the bits of -0.0 are those of NULL
        values = pa.Array.from_buffers(pa.int32(), len(values), values.buffers(), values.null_count)
    return np.asarray(values.fill_null(_NULL)).astype(np.int64)


def _texts(parts: Sequence[Values], n: _Numbers) -> tuple[_Numbers, memoryview, _Numbers]:
    """How long each text is, all of them, and where those of each row begin and the last ends."""
    texts = pa.array(list(chain.from_iterable(parts)), pa.string())
    _, offsets, data = texts.buffers()
    at = np.frombuffer(offsets, np.int32)[: len(texts) + 1] if len(texts) else np.zeros(1, np.int32)
    lengths = np.diff(at).astype(np.int64)
    if texts.null_count:
        lengths[np.asarray(texts.is_null())] = -1
    return lengths, memoryview(data or b""), at[np.cumsum([0, *n.tolist()])]


# and back ----------------------------------------------------------------------------------------


def n_things(rows: pa.Array) -> _Numbers:
    """How many things each row has."""
    data, begins, sizes = _bytes(rows)
    found = np.zeros(len(begins), np.int64)
    found[sizes > 0] = _counts(data, begins[sizes > 0])
    return found


def bytes_of_rows(batch: pa.RecordBatch) -> _Numbers:
    """How many bytes each row has in its packed columns."""
    packed = [column for column in batch.columns if pa.types.is_binary(column.type)]
    sizes: _Numbers = sum((_bytes(column)[2] for column in packed), np.zeros(batch.num_rows, np.int64))
    return sizes


def fields_of(rows: pa.Array, fields: Fields) -> dict[str, pa.Array]:
    """The values of each field, of the things of all rows end to end."""
    data, begins, sizes = _bytes(rows)
    reader = _Reader(data, begins[sizes > 0], len(fields))
    return {name: reader.texts() if type_ == "string" else reader.array(type_) for name, type_ in fields.items()}


class _Reader:
    """Reads vector by vector, of all rows."""

    def __init__(self, data: Any, begins: _Numbers, n_vectors: int) -> None:
        self._bytes = memoryview(data)
        self._n = _counts(data, begins)
        self._modes = data[(begins + 4)[:, None] + np.arange(n_vectors)].T.astype(np.int64)
        self._vector = 0
        self._at = begins + 4 + n_vectors
        """Where the next vector of each row begins."""

    def array(self, type_: str) -> pa.Array:
        numbers = self._numbers().astype(np.int32)
        is_null = numbers == _NULL
        if type_ == "boolean":
            return pa.array(numbers.astype(bool), mask=is_null)
        return pa.array(numbers.view(_VIEWS[type_]), _ARROW[type_], mask=is_null if is_null.any() else None)

    def texts(self) -> pa.Array:
        lengths = self._numbers()
        is_null = lengths < 0
        ends = np.concatenate([[0], np.cumsum(np.where(is_null, 0, lengths))])
        of_rows = ends[np.concatenate([[0], np.cumsum(self._n)])]
        data = self._taken(np.diff(of_rows), slice(None))
        valid = pa.array(~is_null).buffers()[1] if is_null.any() else None
        offsets = pa.py_buffer(ends.astype(np.int32))
        return pa.Array.from_buffers(pa.string(), len(lengths), [valid, offsets, pa.py_buffer(data)])

    def _numbers(self) -> _Numbers:
        modes = self._modes[self._vector]
        self._vector += 1
        widths, is_added = modes % _ADDED, modes >= _ADDED
        found = np.empty(int(self._n.sum()), np.int64)
        of_rows = np.repeat(widths, self._n)
        for width, dtype in _WIDTHS.items():
            if (chosen := np.flatnonzero(widths == width)).size:
                found[of_rows == width] = np.frombuffer(self._taken(self._n * width, chosen), dtype)
        return _summed(found, self._n, is_added) if is_added.any() else found

    def _taken(self, sizes: _Numbers, rows: Any) -> bytes:
        """The next bytes of these rows, so many of each."""
        ends = self._at[rows] + sizes[rows]
        places = zip(self._at[rows].tolist(), ends.tolist(), strict=True)
        found = b"".join([self._bytes[begin:end] for begin, end in places])
        self._at[rows] = ends
        return found


def _summed(added: _Numbers, n: _Numbers, is_added: Any) -> _Numbers:
    """The numbers of those rows whose vectors say what each adds to the one before."""
    total = np.cumsum(added)
    begins = (np.cumsum(n) - n)[n > 0]
    before = np.zeros(len(n), np.int64)
    before[n > 0] = total[begins] - added[begins]
    found: _Numbers = np.where(np.repeat(is_added, n), total - np.repeat(before, n), added)
    return found


def _counts(data: Any, begins: _Numbers) -> _Numbers:
    found: _Numbers = data[begins[:, None] + np.arange(4)].view("<i4")[:, 0].astype(np.int64)
    return found


def _bytes(rows: pa.Array) -> tuple[Any, _Numbers, _Numbers]:
    """All bytes; where those of each row begin, and how many they are."""
    if not len(rows):
        return np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int64)
    _, offsets, data = rows.buffers()
    ends = np.frombuffer(offsets, np.int32)[rows.offset : rows.offset + len(rows) + 1].astype(np.int64)
    return np.frombuffer(data or b"", np.uint8), ends[:-1], np.diff(ends)


def nested(rows: pa.Array, fields: Fields) -> pa.ListArray:
    """Each row as a list of its things."""
    ends = pa.array(np.concatenate([[0], np.cumsum(n_things(rows))]), pa.int32())
    columns = list(fields_of(rows, fields).values())
    things = pa.StructArray.from_arrays(columns, fields=[pa.field(n, _ARROW[t]) for n, t in fields.items()])
    return pa.ListArray.from_arrays(ends, things)


def with_lists(table: pa.Table, columns: Mapping[str, Fields]) -> pa.Table:
    """These packed columns as lists."""
    for name, fields in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, nested(table.column(name).combine_chunks(), fields))
    return table
