"""Messages of protobuf, field by field: https://protobuf.dev/programming-guides/encoding.

A SCIP index is read once, front to back, and six kinds of fields of it are wanted. That takes these lines; generated
classes would make an object of every symbol's documentation, and be code that nobody here wrote.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_MAX_SHIFT = 63


class Malformed(ValueError):
    """Bytes that are no message."""


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field, in the order of the bytes."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED_64, _FIXED_32):
            size = 8 if wire == _FIXED_64 else 4
        else:
            raise Malformed(f"a field of wire type {wire} at byte {at}")
        if size > end - at:
            raise Malformed(f"a field of {size} bytes at byte {at}, where {end - at} are left")
        yield number, data[at : at + size]
        at += size


def numbers(value: int | memoryview) -> list[int]:
    """Of a field of numbers: one, or many packed."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        one, at = _varint(value, at)
        found.append(one)
    return found


def text(value: int | memoryview) -> str:
    if isinstance(value, int):
        raise Malformed("a number where a text should be")
    return str(value, "utf-8")


def message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise Malformed("a number where a message should be")
    return value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("it ends within a number")
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
        if shift > _MAX_SHIFT:
            raise Malformed(f"a number of more than ten bytes before byte {at}")
