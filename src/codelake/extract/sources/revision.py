"""A revision of a git repository, with or without a working tree: the bytes that were committed.

- A symbolic link and a submodule: as in a working tree.
- What git-lfs keeps is a pointer here, whether or not the content has been pulled.
- In a partial clone nothing is fetched: what is missing is a row without content. A shallow clone has all
  that its commits need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from codelake.errors import Refused, UsageError
from codelake.extract.sources.blobs import Blobs
from codelake.extract.sources.git import Repository
from codelake.extract.sources.model import Entry, Kind, Reason, Unread
from codelake.extract.sources.modules import root_package
from codelake.extract.sources.paths import shown

MAX_FILES = 5_000_000
"""A few objects can make a tree of any number of files, each folder holding the next one ten times."""
_LINK_MODE = b"120000"
_LONGEST_TARGET = 4096


class RevisionListing:
    def __init__(self, blobs: Blobs, entries: Sequence[Entry], package: str) -> None:
        self._blobs = blobs
        self.entries = entries
        self.package = package

    def head(self, entry: Entry, n_bytes: int) -> bytes:
        return self._blobs.head(str(entry.key), n_bytes)

    def read(self, entry: Entry, limit: int) -> bytes | Unread:
        return self._blobs.read(str(entry.key), limit)


@contextmanager
def open_revision(repository: Repository, commit: str, folder: bytes, location: str) -> Iterator[RevisionListing]:
    """The files of a commit beneath `folder`, which is b'' for all of them."""
    with Blobs(repository) as blobs:
        missing = _missing(repository, commit) if repository.is_partial else frozenset()
        prefix = folder + b"/" if folder else b""
        paths: set[bytes] = set()
        entries = []
        for n_files, record in enumerate(repository.stream("ls-tree", "-r", "-z", "--full-tree", commit)):
            if n_files >= MAX_FILES:
                raise _too_many(location, commit)
            about, _, path = record.partition(b"\t")
            paths.add(path)
            if path.startswith(prefix):
                mode, kind, name = about.split(b" ")
                entries.append(_entry(blobs, path[len(prefix) :], mode, kind, name.decode(), missing))
        if folder and not entries:
            raise UsageError(
                f"{location}: --rev {commit}",
                expected=f"the folder {shown(folder)} in that commit",
                found="no such folder",
                do="Name a folder that the commit has, or the whole repository.",
            )
        yield RevisionListing(blobs, entries, _package(repository, paths, folder))


def _too_many(location: str, commit: str) -> Refused:
    return Refused(
        f"{location}: --rev {commit}",
        expected=f"no more than {MAX_FILES:,} files",
        found="more",
        do="Build its folders as sources of their own.",
    )


def _package(repository: Repository, paths: set[bytes], folder: bytes) -> str:
    top = repository.name
    parts = [top, *shown(folder).split("/")] if folder else [top]
    return root_package(parts, lambda above, name: "/".join([*above[1:], name]).encode() in paths)


def _entry(blobs: Blobs, path: bytes, mode: bytes, kind: bytes, name: str, missing: frozenset[str]) -> Entry:
    if kind == b"commit":
        problem = f"a submodule, at commit {name}, is not looked into; it can be built as a source of its own"
        return Entry(path, Kind.FOLDER, reason=Reason.SUBMODULE, problem=problem)
    if name in missing:
        problem = f"the partial clone does not have {name}; `git fetch --refetch --no-filter` gets all of them"
        return Entry(path, Kind.ABSENT, reason=Reason.NOT_FETCHED, problem=problem)
    if mode == _LINK_MODE:
        return Entry(path, Kind.LINK, target=blobs.head(name, _LONGEST_TARGET))
    return Entry(path, Kind.FILE, key=name)


def _missing(repository: Repository, commit: str) -> frozenset[str]:
    """The objects of a commit that a partial clone has not fetched. To ask for one of them would fetch it."""
    listed = repository.run("rev-list", "--objects", "--no-walk", "--missing=print", commit).stdout
    return frozenset(line[1:].decode() for line in listed.splitlines() if line.startswith(b"?"))
