"""What holds for archives of any format: which members are accepted, and what they are called.

Nothing is ever unpacked into a folder; members are read one by one. All the same an archive is refused as a
whole if a member's name, or the target of a link, would leave the folder that it is unpacked in, if there is
a device among the members, if two members of one name differ, or if it unpacks to far more than it is.
What is refused is refused before the first file is given.

Where all members are in one folder that is no package, as in an sdist (`Django-1.4/`) or what `git archive
--prefix` makes, paths start in that folder: they are those of the tree that was packed. That needs a sign:
the folder holds a file directly, or is called like the archive. In a wheel paths are as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from codelake.errors import Refused, Unavailable
from codelake.extract.sources.model import Entry, Kind
from codelake.extract.sources.paths import resolved, shown

MAX_MEMBERS = 1_000_000
MAX_UNPACKED_BYTES = 2 << 30
MAX_RATIO = 200
SMALL_BYTES = 64 << 20
"""However well an archive is packed, this much is no attack."""

_DRIVE = re.compile(rb"[A-Za-z]:")
_INIT = frozenset({b"__init__.py", b"__init__.pyi"})


def limit_of(n_packed: int) -> int:
    """How many bytes an archive of a size may unpack to."""
    return min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * n_packed))


def refuse_size(location: str, n_packed: int, n_unpacked: int) -> None:
    if n_unpacked > (limit := limit_of(n_packed)):
        raise Refused(
            f"{location}: an archive of {n_packed:,} bytes",
            expected=f"that it unpacks to no more than {limit:,} bytes",
            found=f"at least {n_unpacked:,}",
            do="If you trust it, unpack it and build the folder.",
        )


def refuse_count(location: str, n_members: int) -> None:
    if n_members > MAX_MEMBERS:
        raise Refused(
            location,
            expected=f"an archive of no more than {MAX_MEMBERS:,} members",
            found="more",
            do="If you trust it, unpack it and build the folder.",
        )


def refuse_member(location: str, name: bytes, found: str) -> Refused:
    return Refused(
        f"{location}: member {shown(name)!r}",
        expected="files, folders and links within the archive",
        found=found,
        do="Nothing of the archive was read. If you trust it, unpack it yourself and build the folder.",
    )


def damaged(location: str, found: object) -> Unavailable:
    return Unavailable(
        location,
        expected="a whole archive of the format its name says",
        found=found,
        do="Get the archive again; it is truncated, damaged or something else.",
    )


def member_path(location: str, name: bytes) -> bytes:
    """A member's path; b'' for the folder that the archive is unpacked in."""
    if b"\0" in name:
        raise refuse_member(location, name, "a name with a NUL in it")
    if name.startswith((b"/", b"\\")):
        raise refuse_member(location, name, "an absolute name")
    if _DRIVE.match(name):
        raise refuse_member(location, name, "a name with a drive")
    if b".." in re.split(rb"[/\\]", name):
        raise refuse_member(location, name, "a name that goes up by ..")
    return b"/".join(part for part in name.split(b"/") if part not in (b"", b"."))


def link_target(location: str, path: bytes, target: bytes) -> bytes:
    if b"\0" in target:
        raise refuse_member(location, path, "a link whose target has a NUL in it")
    if resolved(path, target) is None:
        raise refuse_member(location, path, f"a link to {shown(target)}, which leaves the archive")
    return target


def distinct(location: str, entries: Iterable[Entry], same: Callable[[Entry, Entry], bool]) -> list[Entry]:
    """One entry per path. A member may be there twice, but not with something else in it."""
    by_path: dict[bytes, Entry] = {}
    for entry in entries:
        if not entry.path:
            raise refuse_member(location, entry.path, "a file without a name")
        first = by_path.setdefault(entry.path, entry)
        if first is entry:
            continue
        if (first.kind, first.target) != (entry.kind, entry.target):
            raise refuse_member(location, entry.path, "two members of that name, of different kinds")
        if first.kind is Kind.FILE and not same(first, entry):
            raise refuse_member(location, entry.path, "two members of that name with different contents")
    return list(by_path.values())


def without_top_folder(entries: list[Entry], stem: str) -> list[Entry]:
    """Paths from the one folder that holds all of them, where there is one; `stem` is the archive's name."""
    tops = {entry.path.partition(b"/")[0] for entry in entries}
    if len(tops) != 1 or any(b"/" not in entry.path for entry in entries):
        return entries
    top = tops.pop()
    directly = {name for entry in entries if b"/" not in (name := entry.path[len(top) + 1 :])}
    is_package = shown(top).isidentifier() and not _INIT.isdisjoint(directly)
    if is_package or not (directly or shown(top) == stem):
        return entries
    return [replace(entry, path=entry.path[len(top) + 1 :]) for entry in entries]
