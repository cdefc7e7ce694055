"""Every byte: Hadoop keeps a CRC of each 512 bytes beside what it writes to a local disk."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.stored import Stored

_HEAD = b"crc\0"


def checksums(table: Stored) -> Iterator[Finding]:
    if not table.store.is_local:
        return
    root = table.store.path / table.name
    for beside in sorted(root.rglob(".*.crc")):
        file = beside.with_name(beside.name[1:].removesuffix(".crc"))
        if file.is_file() and (place := _first_difference(file, beside.read_bytes())) is not None:
            path = str(file.relative_to(root))
            yield Finding(table.name, "changed bytes", path, "the bytes that were written", f"others at {place}")


def _first_difference(file: Path, sums: bytes) -> int | None:
    if sums[:4] != _HEAD or len(sums) < 8:
        return None  # not Hadoop's
    (each,) = struct.unpack(">i", sums[4:8])
    wanted = struct.iter_unpack(">I", sums[8 : len(sums) - len(sums) % 4])
    with file.open("rb") as stream:
        place = 0
        for (checksum,) in wanted:
            if zlib.crc32(stream.read(each)) != checksum:
                return place
            place += each
        return place if stream.read(1) else None
