"""Files beneath a folder on disk, none of them reached through a symbolic link.

Each part of a path is opened within the one before it and must not be a link, so that not even a folder that
is replaced by a link in the middle of a build leads elsewhere. Only regular files are opened: a pipe would
block, a device might act.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codelake.extract.sources.model import Reason, Unread, too_large

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Should a pipe take the file's place after it was looked at, opening it does not block.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ATTEMPTS = 3


class Folder:
    def __init__(self, root: Path) -> None:
        # The root may be a link: it is what the user named.
        self._root = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
        # The folders of the path asked for last. In sorted order the next path mostly shares them.
        self._open: list[tuple[bytes, int]] = []

    def close(self) -> None:
        self._leave(0)
        os.close(self._root)

    def stat(self, path: bytes) -> os.stat_result:
        parent, name = self._parent(path)
        return os.stat(name, dir_fd=parent, follow_symlinks=False)

    def target(self, path: bytes) -> bytes:
        parent, name = self._parent(path)
        return os.readlink(name, dir_fd=parent)

    def names(self, path: bytes) -> Iterator[os.DirEntry[str]]:
        """What a folder holds, in any order; the root is b''."""
        with os.scandir(self._enter(path.split(b"/") if path else [])) as found:
            yield from found

    def head(self, path: bytes, n_bytes: int) -> bytes:
        try:
            with self._file(path) as file:
                return b"" if isinstance(file, Unread) else os.read(file, n_bytes)
        except OSError:
            return b""

    def read(self, path: bytes, limit: int) -> bytes | Unread:
        try:
            for _ in range(_ATTEMPTS):
                with self._file(path) as file:
                    content = file if isinstance(file, Unread) else _content(file, limit)
                if content is not None:
                    return content
        except OSError as error:
            return unread(error)
        return Unread(Reason.CHANGED, f"the file changed each of the {_ATTEMPTS} times that it was read")

    @contextmanager
    def _file(self, path: bytes) -> Iterator[int | Unread]:
        found = self.stat(path)
        if not stat.S_ISREG(found.st_mode):
            yield not_regular(found.st_mode)
            return
        parent, name = self._parent(path)
        fd = os.open(name, _FILE, dir_fd=parent)
        try:
            opened = os.fstat(fd).st_mode
            yield fd if stat.S_ISREG(opened) else not_regular(opened)
        finally:
            os.close(fd)

    def _parent(self, path: bytes) -> tuple[int, bytes]:
        *folders, name = path.split(b"/")
        return self._enter(folders), name

    def _enter(self, folders: list[bytes]) -> int:
        same = 0
        for (name, _), wanted in zip(self._open, folders, strict=False):
            if name != wanted:
                break
            same += 1
        self._leave(same)
        for name in folders[same:]:
            self._open.append((name, os.open(name, _FOLDER, dir_fd=self._current())))
        return self._current()

    def _leave(self, depth: int) -> None:
        while len(self._open) > depth:
            os.close(self._open.pop()[1])

    def _current(self) -> int:
        return self._open[-1][1] if self._open else self._root


def _content(fd: int, limit: int) -> bytes | Unread | None:
    """What the file holds; None if that changed in the meantime."""
    before = os.fstat(fd)
    if before.st_size > limit:
        return too_large(before.st_size, limit)
    with open(fd, "rb", closefd=False) as file:
        content = file.read(before.st_size + 1)
    after = os.fstat(fd)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return content if same and len(content) == after.st_size else None


def unread(error: OSError) -> Unread:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Unread(Reason.GONE, "the file was there when the source was listed and is no more")
    return Unread(Reason.UNREADABLE, f"the operating system says: {error.strerror}")


_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
}


def not_regular(mode: int) -> Unread:
    return Unread(Reason.NOT_REGULAR, f"{_KINDS.get(stat.S_IFMT(mode), 'something else')}, and never opened")
