"""Tables between processes: Arrow streams, each behind its length. A number that is no length is a word."""

from __future__ import annotations

import struct
from typing import BinaryIO

import pyarrow as pa

_LENGTH = struct.Struct("<q")


def send(pipe: BinaryIO, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue()
    say(pipe, len(content))
    _write(pipe, memoryview(content))


def say(pipe: BinaryIO, what: int) -> None:
    _write(pipe, memoryview(_LENGTH.pack(what)))


def _write(pipe: BinaryIO, content: memoryview) -> None:
    while content:
        content = content[pipe.write(content) :]
    pipe.flush()


def receive(pipe: BinaryIO) -> pa.Table | int:
    """A table, or what was said instead. An EOFError where the other end is gone."""
    (n,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
    return int(n) if n <= 0 else pa.ipc.open_stream(_read(pipe, n)).read_all()


def _read(pipe: BinaryIO, n: int) -> bytes:
    found = bytearray()
    while len(found) < n:
        more = pipe.read(n - len(found))
        if not more:
            raise EOFError
        found += more
    return bytes(found)
