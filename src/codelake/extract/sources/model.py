"""What a source is and what it gives: its files that count as Python, one by one, in the order of their paths.

A source is listed first and read afterwards. How that is done differs (`Listing`); what is made of it does
not: `files.py` decides for all of them which entries count, what they are called and what becomes of those
that cannot be read. So the same repository gives the same files as a tree, a revision or an archive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Reason(StrEnum):
    """Why a file has no content."""

    SYMBOLIC_LINK = "symbolic link"
    SUBMODULE = "submodule"
    NESTED_REPOSITORY = "nested repository"
    LFS_POINTER = "git-lfs pointer"
    NOT_CHECKED_OUT = "not checked out (sparse)"
    NOT_FETCHED = "not fetched (partial clone)"
    NOT_REGULAR = "not a regular file"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too large"
    GONE = "gone while reading"
    CHANGED = "changed while reading"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that counts as Python or would have; a folder that could not be looked into has a row too."""

    path: str
    """Relative to the source's root, parts divided by `/`. Always text: see `paths.shown`."""
    n_bytes: int
    """Of the content; where there is none, what is known of its size, else 0."""
    content: bytes | None
    module: str | None
    """Dotted name; None where the file cannot be imported."""
    reason: Reason | None
    """Why there is no content."""
    problem: str | None
    """What the diagnostics should say about it, with or without content."""


class Kind(StrEnum):
    """What an entry of a listing is."""

    FILE = "file"
    LINK = "link"
    ABSENT = "absent"
    """A file that is known but not there: `reason` says why."""
    FOLDER = "folder"
    """A folder that is not looked into: `reason` says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    path: bytes
    """As the file system, git or the archive has it."""
    kind: Kind
    target: bytes = b""
    """Of a link."""
    reason: Reason | None = None
    problem: str | None = None
    key: str | int = 0
    """What the listing finds its bytes by, where that is not the path."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What `Listing.read` gives in place of bytes."""

    reason: Reason
    problem: str
    n_bytes: int = 0


class Listing(Protocol):
    """An opened source: all of its entries, in any order, and the bytes of those of kind FILE."""

    @property
    def entries(self) -> Sequence[Entry]: ...

    @property
    def package(self) -> str:
        """What the root is called if it turns out to be a package: see `modules.root_package`."""
        ...

    def head(self, entry: Entry, n_bytes: int) -> bytes:
        """Its first bytes; none where it cannot be read."""
        ...

    def read(self, entry: Entry, limit: int) -> bytes | Unread:
        """All of its bytes, unless they are more than `limit`."""
        ...


Opener = Callable[[], AbstractContextManager[Listing]]


def too_large(n_bytes: int, limit: int) -> Unread:
    return Unread(Reason.TOO_LARGE, f"{n_bytes:,} bytes are more than the {limit:,} that are read of a file", n_bytes)
