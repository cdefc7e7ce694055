"""Contents extracted in a process that may die.

A parser is C code that is given bytes from anywhere: it may crash, take all memory, or never end. So the
contents of a task are extracted in a forked child, which sends record batches back through a pipe and keeps,
in shared memory, the place of the content it is at. If the child dies, what it had sent is kept, the content
it was at gets a row that says why it was skipped, and another child does the rest.

Kernel limits end a child, none is watched: a timer of CPU time for each content (and one of the clock, for
what waits for ever), a limit on memory, and a signal when its parent is gone. Nothing here catches an
exception of an extractor either: whatever it is, it ends the child, and the parent is told of it.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import gc
import mmap
import os
import resource
import signal
import struct
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from codelake.extract.batches import SCHEMA, Batch
from codelake.extract.content import Evidence, evidence_of, skipped
from codelake.lean import WithoutPandas

Content = tuple[str, pa.Buffer]
"""Digest and raw bytes; a buffer of Arrow, so that no copy is made before it is needed."""
Extract = Callable[[bytes], Evidence]

BATCH_BYTES = 1 << 20
"""Source bytes of a record batch. Its rows take some twenty times as much while they are lists of Python."""
MAX_BATCH_BYTES = 128 << 20
"""Of Arrow. A content whose rows alone take more is skipped: the JVM has to hold them several times."""
_PATIENCE = 4
"""By the clock, a content may take this many times its CPU time: the machine may be busy with other work."""
_TOO_LARGE = "rows: "
_HEAD = struct.Struct("<qq")
_FAILURE = -1
_PIPE_BYTES = 1 << 20
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    """For one content."""

    seconds: float = 60.0
    """Of CPU time."""
    memory: int = 2 << 30
    """Bytes that the child may take beyond what it has when it starts."""


@dataclass(frozen=True)
class Fault:
    reason: str
    message: str
    is_certain: bool = False
    """It was this content, and not what the child did before it."""


class TooLarge(Exception):
    """Rows take more than MAX_BATCH_BYTES."""


@dataclass(frozen=True)
class _Skip:
    place: int
    fault: Fault


def guarded(contents: Sequence[Content], *, limits: Limits, extract: Extract = evidence_of) -> Iterator[pa.RecordBatch]:
    """The evidence of each content, in their order: whatever happens, one row each."""
    todo: deque[range | _Skip] = deque([range(len(contents))])
    while todo:
        part = todo.popleft()
        if isinstance(part, _Skip):
            yield _skipped(contents[part.place], part.fault)
            continue
        if not part:
            continue
        child = _Child(contents, part, limits, extract)
        try:
            yield from child.batches()
        finally:
            fault = child.end()
        if fault is not None:
            find = _halves if child.is_packing else _rest
            todo.extendleft(reversed(find(part, child.n_sent, child.place, fault)))


def _halves(part: range, n_sent: int, place: int, fault: Fault) -> list[range | _Skip]:
    """What is to be done after a child died of a whole batch, which ends at a place: each half of it, those behind."""
    batch = range(part.start + n_sent, place + 1)
    behind = range(place + 1, part.stop)
    if len(batch) == 1:
        return [_Skip(place, fault), behind]
    return [batch[: len(batch) // 2], batch[len(batch) // 2 :], behind]


def _rest(part: range, n_sent: int, place: int, fault: Fault) -> list[range | _Skip]:
    """What is to be done after a child died at a place: what it had not sent, the content itself, those behind."""
    unsent = range(part.start + n_sent, place)
    # Dead at its first content, or by a limit that counts for each: it is this one. Otherwise it is tried alone.
    alone = place == part.start or fault.is_certain
    culprit: range | _Skip = _Skip(place, fault) if alone else range(place, place + 1)
    return [unsent, culprit, range(place + 1, part.stop)]


def _skipped(content: Content, fault: Fault) -> pa.RecordBatch:
    digest, raw = content
    batch = Batch()
    batch.add(digest, skipped(fault.reason, fault.message, raw.to_pybytes()))
    return batch.record_batch()


class _Child:
    """A forked process that extracts a part of the contents."""

    def __init__(self, contents: Sequence[Content], part: range, limits: Limits, extract: Extract) -> None:
        self.part = part
        self.limits = limits
        self.n_sent = 0
        self._said = ""
        self._is_silent = False
        """It has ended, or is about to."""
        self._place = mmap.mmap(-1, mmap.PAGESIZE)  # shared: what the child writes is read here
        self._place[:8] = part.start.to_bytes(8, "little")
        self._read, write = os.pipe()
        with suppress(OSError, AttributeError):  # more than the machine allows, or not Linux
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            _live(contents, part, limits, extract, write, self._place, parent)
        os.close(write)

    @property
    def place(self) -> int:
        return int.from_bytes(self._place[:8], "little")

    @property
    def is_packing(self) -> bool:
        """It had all contents of a batch, up to `place`, and was making one record batch of them."""
        return self._place[8] == 1

    def batches(self) -> Iterator[pa.RecordBatch]:
        while (head := self._bytes(_HEAD.size)) is not None:
            n_sent, n_bytes = _HEAD.unpack(head)
            body = self._bytes(n_bytes)
            if body is None:
                return
            if n_sent == _FAILURE:
                self._said = body.to_pybytes().decode()
                self._is_silent = True
                return
            self.n_sent = n_sent
            yield pa.ipc.read_record_batch(body, SCHEMA)

    def _bytes(self, n: int) -> pa.Buffer | None:
        """The next bytes from the child, or None if it ended before it sent them all."""
        buffer = pa.allocate_buffer(n)
        view, done = memoryview(buffer), 0
        while done < n:
            got = os.readv(self._read, [view[done:]])
            if got == 0:
                self._is_silent = True
                return None
            done += got
        return buffer

    def end(self) -> Fault | None:
        """Why it died, if it did not do its part. A child that nobody listens to any more is killed."""
        os.close(self._read)
        is_done = self.n_sent == len(self.part)
        if not (is_done or self._is_silent):
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        return None if is_done else _fault(os.waitstatus_to_exitcode(status), self._said, self.limits)


def _fault(code: int, said: str, limits: Limits) -> Fault:
    memory = f"more than {limits.memory >> 20:,} MB of memory are needed"
    if code == -signal.SIGPROF:
        return Fault("took too long", f"more than {limits.seconds:g} seconds of CPU time", is_certain=True)
    if code == -signal.SIGALRM:
        return Fault("took too long", f"more than {limits.seconds * _PATIENCE:g} seconds", is_certain=True)
    if said.startswith("MemoryError"):
        return Fault("out of memory", memory)
    if said.startswith(_TOO_LARGE):
        return Fault("too large", said.removeprefix(_TOO_LARGE))
    if said:
        return Fault("extractor failed", said)
    if code == -signal.SIGKILL:
        return Fault("out of memory", "killed, as the system does when memory runs out")
    if code < 0:
        return Fault("extractor crashed", f"ended by the signal {signal.Signals(-code).name}")
    return Fault("extractor crashed", f"ended with exit code {code} and without a result")


# in the child ------------------------------------------------------------------------------------


def _live(
    contents: Sequence[Content],
    part: range,
    limits: Limits,
    extract: Extract,
    pipe: int,
    place: mmap.mmap,
    parent: int,
) -> NoReturn:
    """All that the child does. It never returns to the code that forked it."""
    code = 1
    try:
        _confine(limits, parent)
        _extract(contents, part, limits, extract, pipe, place)
        code = 0
    finally:
        if code and (error := sys.exception()) is not None:
            _release()
            text = _told(error).encode("utf-8", "replace")
            _send(pipe, _FAILURE, pa.py_buffer(text))
        os._exit(code)


def _extract(
    contents: Sequence[Content], part: range, limits: Limits, extract: Extract, pipe: int, place: mmap.mmap
) -> None:
    batch, n_bytes, n_done = Batch(), 0, 0
    for at in part:
        place[:8] = at.to_bytes(8, "little")
        digest, content = contents[at]
        raw = content.to_pybytes()
        _allow(limits.seconds)
        batch.add(digest, extract(raw))
        _allow(0)
        n_bytes, n_done = n_bytes + len(raw), n_done + 1
        if n_bytes >= BATCH_BYTES or n_done == len(part):
            place[8] = 1
            _send(pipe, n_done, _packed(batch).serialize())
            place[8] = 0
            batch, n_bytes = Batch(), 0
            gc.collect()


def _packed(batch: Batch) -> pa.RecordBatch:
    packed = batch.record_batch()
    if packed.nbytes > MAX_BATCH_BYTES:
        raise TooLarge(f"{packed.nbytes >> 20:,} MB of evidence are more than {MAX_BATCH_BYTES >> 20:,}")
    return packed


def _send(pipe: int, n_sent: int, body: pa.Buffer) -> None:
    view = memoryview(body).cast("B")
    os.write(pipe, _HEAD.pack(n_sent, len(view)))
    while view:
        view = view[os.write(pipe, view) :]


def _confine(limits: Limits, parent: int) -> None:
    faulthandler.disable()  # its file, if it has one, is the parent's
    for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    _die_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if (taken := _address_space()) is not None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (taken + limits.memory, most))
    # Arrow's own allocator reserves addresses by the gigabyte, which would count.
    pa.set_memory_pool(pa.system_memory_pool())
    sys.meta_path.insert(0, WithoutPandas)
    # Syntax trees are many small objects that live shortly: the collector would go through them again and again.
    gc.freeze()
    gc.disable()


def _release() -> None:
    """Room to say why the child ends, where it ends for want of memory."""
    _allow(0)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _allow(seconds: float) -> None:
    """Time for one content: the default action of these timers' signals ends the process, in C code too."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * _PATIENCE)


def _die_with(parent: int) -> None:
    """Killed when the parent is, however that comes about."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _address_space() -> int | None:
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except FileNotFoundError:
        return None
    return int(pages) * mmap.PAGESIZE


def _told(error: BaseException) -> str:
    """The exception in a line, with the place in codelake or below that raised it."""
    if isinstance(error, TooLarge):
        return f"{_TOO_LARGE}{error}"
    text = "".join(traceback.format_exception_only(error)).strip().partition("\n")[0]
    frames: list[Any] = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{text}{where}"
