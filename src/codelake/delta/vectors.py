"""Deletion vectors, read from their bytes: how many rows a vector deletes, and the last of them.

A vector lies in a file of its own or inside the log. Its bytes are a 64-bit Roaring bitmap: a count of 32-bit
bitmaps in Roaring's portable format, each under its high word. In a file, its size stands before it and a CRC
behind it (Delta's protocol, "Deletion Vector Format").
"""

from __future__ import annotations

import base64
import struct
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MAGIC = 1681511377
_FILE_VERSION = 1
_NO_RUNS, _RUNS = 12346, 12347
_ARRAY_MOST = 4096
_BITMAP_BYTES = 8192
_Z85 = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
)


@dataclass(frozen=True)
class Vector:
    n_rows: int
    last_row: int


def vector_path(descriptor: Mapping[str, Any]) -> str | None:
    """The file below the table; None for a vector inside the log, or in a file elsewhere."""
    if descriptor["storageType"] != "u":
        return None
    prefix, coded = descriptor["pathOrInlineDv"][:-20], descriptor["pathOrInlineDv"][-20:]
    name = f"deletion_vector_{uuid.UUID(bytes=_decoded(coded))}.bin"
    return f"{prefix}/{name}" if prefix else name


def read_vector(descriptor: Mapping[str, Any], file: bytes) -> Vector:
    """`file` is the vector's file, empty for one inside the log. ValueError says what is wrong with it."""
    if descriptor["storageType"] == "i":
        return _bitmap(_decoded(descriptor["pathOrInlineDv"])[: descriptor["sizeInBytes"]])
    if not file:
        raise ValueError("an empty file")
    if file[0] != _FILE_VERSION:
        raise ValueError(f"format {file[0]} instead of {_FILE_VERSION}")
    start, size = int(descriptor.get("offset") or 1), int(descriptor["sizeInBytes"])
    if len(file) < start + 4 + size + 4:
        raise ValueError(f"{len(file)} bytes, too few for {size} at {start}")
    (said,) = struct.unpack_from(">i", file, start)
    if said != size:
        raise ValueError(f"{said} bytes in the file, {size} in the log")
    raw = file[start + 4 : start + 4 + size]
    (checksum,) = struct.unpack_from(">I", file, start + 4 + size)
    if zlib.crc32(raw) != checksum:
        raise ValueError("bytes that do not fit their checksum")
    return _bitmap(raw)


def _decoded(text: str) -> bytes:
    return base64.b85decode(text.encode().translate(_Z85))


def _bitmap(raw: bytes) -> Vector:
    try:
        magic, n_bitmaps = struct.unpack_from("<iq", raw)
        if magic != _MAGIC:
            raise ValueError(f"the mark {magic} instead of {_MAGIC}")
        place, n_rows, last = 12, 0, -1
        for _ in range(n_bitmaps):
            (high,) = struct.unpack_from("<I", raw, place)
            n, low, place = _bitmap32(raw, place + 4)
            n_rows, last = n_rows + n, (high << 32) | low
    except struct.error as error:
        raise ValueError(f"a bitmap that ends early: {error}") from error
    return Vector(n_rows, last)


def _bitmap32(raw: bytes, place: int) -> tuple[int, int, int]:
    """Rows, the last of them, and where the bitmap ends."""
    (cookie,) = struct.unpack_from("<I", raw, place)
    place += 4
    if cookie & 0xFFFF == _RUNS:
        n = (cookie >> 16) + 1
        runs = raw[place : place + (n + 7) // 8]
        place += len(runs)
    elif cookie == _NO_RUNS:
        (n,) = struct.unpack_from("<I", raw, place)
        runs, place = b"", place + 4
    else:
        raise ValueError(f"the cookie {cookie} of no bitmap")
    heads = [struct.unpack_from("<HH", raw, place + 4 * i) for i in range(n)]
    place += 4 * n
    if not runs or n >= 4:
        place += 4 * n  # where each container begins
    total, last = 0, -1
    for i, (key, less_one) in enumerate(heads):
        is_run = bool(runs) and bool(runs[i // 8] >> (i % 8) & 1)
        count, low, place = _container(raw, place, less_one + 1, is_run=is_run)
        if count != less_one + 1:
            raise ValueError(f"a container of {count} rows that says {less_one + 1}")
        total, last = total + count, (key << 16) | low
    return total, last, place


def _container(raw: bytes, place: int, n: int, *, is_run: bool) -> tuple[int, int, int]:
    if is_run:
        (n_runs,) = struct.unpack_from("<H", raw, place)
        pairs = [struct.unpack_from("<HH", raw, place + 2 + 4 * i) for i in range(n_runs)]
        return sum(length + 1 for _, length in pairs), sum(pairs[-1]), place + 2 + 4 * n_runs
    if n <= _ARRAY_MOST:
        values = struct.unpack_from(f"<{n}H", raw, place)
        return len(set(values)), values[-1], place + 2 * n
    (bits,) = struct.unpack_from(f"{_BITMAP_BYTES}s", raw, place)
    number = int.from_bytes(bits, "little")
    return number.bit_count(), number.bit_length() - 1, place + _BITMAP_BYTES
