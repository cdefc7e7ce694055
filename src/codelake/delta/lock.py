"""One writer at a time for a table on a local disk.

Delta's log store for local disks looks whether the next entry exists and then renames a file onto it; two
JVMs that look at the same moment both succeed and one commit is lost. An OS lock around the commit closes
that gap. The kernel frees the lock when its holder dies, but the holder's JVM can outlive it by a moment
and still finish a commit: the lock file names the JVM, and whoever finds the name of a holder that did
not come back to erase it waits until that JVM is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from codelake.errors import Conflict, Unavailable

_PAUSE = 0.01


@contextmanager
def table_lock(path: Path, *, jvm: int | None, timeout: float) -> Iterator[Callable[[int | None], None]]:
    """Hold the lock file `path`. `jvm` is the process that will commit on our behalf, if it is on this host. What this
    gives names another, such as one that was started since."""
    deadline = time.monotonic() + timeout
    fd = _opened(path)
    try:
        _take(path, fd, fcntl.LOCK_EX, deadline, timeout)
        while _orphan(fd):
            _wait(path, fd, deadline, timeout)

        def name(jvm: int | None) -> None:
            _write(fd, _holder(jvm))

        name(jvm)
        try:
            yield name
        finally:
            _write(fd, b"")
    finally:
        os.close(fd)


@contextmanager
def shared_lock(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the lock file `path` beside others who hold it so: `table_lock` waits for all of them. One of them is named
    in it, also after its end; that keeps nobody."""
    fd = _opened(path)
    try:
        _take(path, fd, fcntl.LOCK_SH, time.monotonic() + timeout, timeout)
        _write(fd, _holder(None))
        yield
    finally:
        os.close(fd)


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Unavailable(
            f"lock {path}",
            expected="a folder that can be written",
            found=error.strerror,
            do="Nothing was written. Make the lake's folder writable or name another with --lake.",
        ) from error


def _take(path: Path, fd: int, kind: int, deadline: float, timeout: float) -> None:
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            _wait(path, fd, deadline, timeout)


def _holder(jvm: int | None) -> bytes:
    return json.dumps({"pid": os.getpid(), "jvm": jvm, "jvm_start": _started(jvm)}).encode()


def _wait(path: Path, fd: int, deadline: float, timeout: float) -> None:
    if time.monotonic() > deadline:
        holder = os.pread(fd, 4096, 0).decode(errors="replace") or "unknown"
        raise Conflict(
            f"lock {path}",
            expected=f"to get it within {timeout:g} seconds",
            found=f"held by {holder}",
            do="Nothing was written. Try again when that process is done, or raise lock_timeout.",
        )
    time.sleep(_PAUSE)


def _orphan(fd: int) -> bool:
    """Whether a JVM still runs whose Python died while it held the lock."""
    raw = os.pread(fd, 4096, 0)
    if not raw:
        return False
    try:
        holder = json.loads(raw)
    except json.JSONDecodeError:
        return False  # its writer died within the write, so before its JVM was asked for anything
    jvm, started = holder.get("jvm"), holder.get("jvm_start")
    return jvm is not None and started is not None and _started(jvm) == started


def _started(pid: int | None) -> str | None:
    """When a live process began, as the kernel counts: a pid alone may be somebody else's by now."""
    if pid is None:
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while it is read
        return _started_without_proc(pid)
    return None if fields[0] == "Z" else fields[19]


def _started_without_proc(pid: int) -> str | None:
    """On systems without /proc the pid has to do."""
    if Path("/proc/self").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    return "running"


def _write(fd: int, raw: bytes) -> None:
    os.ftruncate(fd, 0)
    os.pwrite(fd, raw, 0)
