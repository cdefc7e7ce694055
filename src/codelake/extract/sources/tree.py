"""A working tree: files as they lie on disk.

In a git repository: what is tracked and what is neither tracked nor ignored, by git's own rules, the user's
included. The bytes are those on disk. Where git converts line ends or runs a filter on the way out (autocrlf,
git-lfs), they are not those of the commit.

- Tracked and deleted: no row. Left out by a sparse checkout: a row without content.
- A submodule, and a repository that is neither tracked nor ignored: one row for its folder, which is not
  looked into. It can be built as a source of its own.
- In the middle of a merge: the file as it lies, with a problem that says so.

Elsewhere, and in a folder that git ignores: everything. Two kinds of folders are left out without a row,
there and among what git does not track: a lake (it holds `_codelake.json`) and a virtual environment
(`pyvenv.cfg`), unless it is the source's root itself. Outside of git also `.git` and `__pycache__`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from codelake.errors import Unavailable
from codelake.extract.sources.distributions import format_of
from codelake.extract.sources.folder import Folder, not_regular, unread
from codelake.extract.sources.git import Repository, records
from codelake.extract.sources.model import Entry, Kind, Reason, Unread
from codelake.extract.sources.modules import root_package
from codelake.extract.sources.paths import folders_of, shown
from codelake.extract.sources.select import ENDINGS, Choice

LAKE = "_codelake.json"
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
_MARKERS = frozenset({LAKE, _VIRTUAL_ENVIRONMENT})
_LEFT_OUT = frozenset({".git", "__pycache__"})
_LINK_MODE = b"120000"
_SUBMODULE_MODE = b"160000"
_LONGEST_TARGET = 4096
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_NOT_OPENED = re.compile(rb"^warning: could not open directory '(.*)/': (.*)$", re.MULTILINE)


class TreeListing:
    def __init__(self, root: Path, folder: Folder, entries: Sequence[Entry]) -> None:
        self._folder = folder
        self.entries = entries
        self.package = root_package(root.parts, lambda parts, name: Path(*parts, name).is_file())

    def head(self, entry: Entry, n_bytes: int) -> bytes:
        return self._folder.head(entry.path, n_bytes)

    def read(self, entry: Entry, limit: int) -> bytes | Unread:
        return self._folder.read(entry.path, limit)


@contextmanager
def open_folder(root: Path, choice: Choice) -> Iterator[TreeListing]:
    """A folder without git."""
    with _opened(root) as folder:
        yield TreeListing(root, folder, list(_walked(folder, choice)))


@contextmanager
def open_working_tree(repository: Repository, root: Path) -> Iterator[TreeListing]:
    """A folder of a repository's working tree."""
    with _opened(root) as folder:
        yield TreeListing(root, folder, list(_listed(repository, root, folder)))


def is_dirty(repository: Repository, root: Path) -> bool:
    """Whether the tree differs from its commit: by tracked files, or by Python or metadata that is not tracked."""
    if repository.differs(root):
        return True
    untracked = records(repository.run("ls-files", "-z", "--others", "--exclude-standard", cwd=root).stdout)
    paths = map(shown, _outside_of_marked(untracked))
    return any(path.endswith(ENDINGS) or format_of(path) for path in paths)


@contextmanager
def _opened(root: Path) -> Iterator[Folder]:
    try:
        folder = Folder(root)
    except OSError as error:
        raise Unavailable(
            shown(os.fsencode(root)),
            expected="a folder that can be read",
            found=error.strerror,
            do="Make it readable, or name another.",
        ) from error
    try:
        yield folder
    finally:
        folder.close()


def _walked(folder: Folder, choice: Choice) -> Iterator[Entry]:
    waiting = [b""]
    while waiting:
        path = waiting.pop()
        try:
            found = list(folder.names(path))
        except OSError as error:
            failed = unread(error)
            yield Entry(path, Kind.FOLDER, reason=failed.reason, problem=failed.problem)
            continue
        if path and any(item.name in _MARKERS for item in found):
            continue
        for item in found:
            below = path + b"/" + os.fsencode(item.name) if path else os.fsencode(item.name)
            if not item.is_dir(follow_symlinks=False):
                yield from _present(folder, below)
            elif item.name not in _LEFT_OUT and not choice.prunes(shown(below)):
                waiting.append(below)


def _listed(repository: Repository, root: Path, folder: Folder) -> Iterator[Entry]:
    arguments = ("-z", "-t", "--stage", "--cached", "--others", "--exclude-standard")
    done = repository.run("ls-files", *arguments, cwd=root)
    untracked: list[bytes] = []
    tracked: dict[bytes, tuple[bytes, bytes, bytes]] = {}
    for record in records(done.stdout):
        if record.startswith(b"? "):
            untracked.append(record[2:])
        else:
            about, _, path = record.partition(b"\t")
            tag, mode, _, stage = about.split(b" ")
            tracked[path] = (tag, mode, stage)  # of several stages of an unmerged file, the last
    for path, (tag, mode, stage) in tracked.items():
        yield from _tracked(folder, path, tag, mode, stage)
    for path in _outside_of_marked(untracked):
        if path.endswith(b"/"):
            problem = "a git repository that is neither tracked nor ignored; it can be built as a source of its own"
            yield Entry(path[:-1], Kind.FOLDER, reason=Reason.NESTED_REPOSITORY, problem=problem)
        else:
            yield from _present(folder, path)
    yield from _unopened(done.stderr, repository, root)


def _tracked(folder: Folder, path: bytes, tag: bytes, mode: bytes, stage: bytes) -> Iterator[Entry]:
    if mode == _SUBMODULE_MODE:
        problem = "a submodule is not looked into; it can be built as a source of its own"
        yield Entry(path, Kind.FOLDER, reason=Reason.SUBMODULE, problem=problem)
        return
    merging = "the file is in the middle of a merge; it is read as it lies" if stage != b"0" else None
    there = False
    for entry in _present(folder, path, problem=merging):
        there = True
        if mode == _LINK_MODE and entry.kind is Kind.FILE:
            # With core.symlinks off, git writes a link as a file that holds its target.
            entry = Entry(path, Kind.LINK, target=folder.head(path, _LONGEST_TARGET))
        yield entry
    if not there and tag == b"S":
        problem = "the sparse checkout leaves the file out; `git sparse-checkout` can add it"
        yield Entry(path, Kind.ABSENT, reason=Reason.NOT_CHECKED_OUT, problem=problem)


def _present(folder: Folder, path: bytes, *, problem: str | None = None) -> Iterator[Entry]:
    """What lies at a path that was listed; nothing if it is gone, or a folder has taken its place."""
    try:
        mode = folder.stat(path).st_mode
        if stat.S_ISLNK(mode):
            yield Entry(path, Kind.LINK, target=folder.target(path), problem=problem)
        elif stat.S_ISREG(mode):
            yield Entry(path, Kind.FILE, problem=problem)
        elif not stat.S_ISDIR(mode):
            special = not_regular(mode)
            yield Entry(path, Kind.ABSENT, reason=special.reason, problem=special.problem)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            failed = unread(error)
            yield Entry(path, Kind.ABSENT, reason=failed.reason, problem=failed.problem)


def _outside_of_marked(paths: Iterator[bytes] | Sequence[bytes]) -> list[bytes]:
    """Without what is in a lake or a virtual environment, which git knows nothing of."""
    by_path = {shown(path): path for path in paths}
    marked = {folder for path in by_path for folder, _, name in [path.rpartition("/")] if name in _MARKERS and folder}
    return [raw for path, raw in by_path.items() if marked.isdisjoint(folders_of(path))]


def _unopened(stderr: bytes, repository: Repository, root: Path) -> Iterator[Entry]:
    """Folders that git could not open, of which it only warns. Their paths start at the top of the tree."""
    above = os.fsencode(root.relative_to(repository.top))
    prefix = b"" if above == b"." else above + b"/"
    for path, said in _NOT_OPENED.findall(stderr):
        if path.startswith(prefix):
            problem = f"the operating system says: {shown(said)}"
            yield Entry(path[len(prefix) :], Kind.FOLDER, reason=Reason.UNREADABLE, problem=problem)
