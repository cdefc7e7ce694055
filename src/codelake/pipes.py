"""Processes beside this one, and tables between them: Arrow streams, each behind its length. A number that is no length
is a word."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO, cast

import pyarrow as pa

_LENGTH = struct.Struct("<q")


class Process:
    """A module of ours that runs by itself: what it is sent comes to its standard input, what it answers comes here."""

    def __init__(self, module: str) -> None:
        # -P: the current folder is often somebody's repository, and its modules are not ours to import.
        # Ctrl-C is for this process, which then ends that one.
        # Without a buffer, what has been said can be seen before it is read.
        self._process = subprocess.Popen(
            (sys.executable, "-P", "-m", module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            process_group=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_said(self) -> bool:
        """Whether there is something to receive: a table, a word, or that it has ended."""
        said = select.poll()
        said.register(self._answers, select.POLLIN)
        return bool(said.poll(0))

    def send(self, table: pa.Table) -> None:
        """A BrokenPipeError where it has ended."""
        send(cast(BinaryIO, self._process.stdin), table)

    def receive(self) -> pa.Table | int:
        """An EOFError where it has ended."""
        return receive(self._answers)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def _answers(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)


def ends() -> tuple[BinaryIO, BinaryIO]:
    """In such a process: where it is asked, and where it answers. From now on it ends with whoever asks, also in the
    midst of its work."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    threading.Thread(target=_end_with_asker, daemon=True).start()
    return sys.stdin.buffer, answers


def _end_with_asker() -> None:
    gone = select.poll()
    gone.register(0, 0)  # that the other end was closed is told unasked
    gone.poll()
    os._exit(0)


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


def tables(pipe: BinaryIO) -> Iterator[pa.Table]:
    """As they come, until the other end is gone."""
    while True:
        try:
            yield cast(pa.Table, receive(pipe))
        except EOFError:
            return


def _read(pipe: BinaryIO, n: int) -> bytes:
    found = bytearray()
    while len(found) < n:
        more = pipe.read(n - len(found))
        if not more:
            raise EOFError
        found += more
    return bytes(found)
