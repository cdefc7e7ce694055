"""A `.zip` or `.whl`. No more is read of a member than its entry in the directory says, and all sizes there
together are what the archive unpacks to. Its sums of bytes are checked by zipfile.

Names without the mark for UTF-8 are taken as bytes: git writes them so where they are none.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from codelake.extract.sources.archive import (
    damaged,
    distinct,
    link_target,
    member_path,
    refuse_count,
    refuse_member,
    refuse_size,
    without_top_folder,
)
from codelake.extract.sources.model import Entry, Kind, Unread, too_large

_CHUNK = 1 << 20
_LONGEST_TARGET = 4096
_ENCRYPTED = 0x1
_UTF8 = 0x800
_UNIX = 3
_MALFORMED = (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error, struct.error, ValueError, OSError)


class ZipListing:
    def __init__(self, file: zipfile.ZipFile, location: str, n_packed: int, package: str) -> None:
        self._file = file
        self._location = location
        self.package = package
        self._members = file.infolist()
        refuse_count(location, len(self._members))
        refuse_size(location, n_packed, sum(member.file_size for member in self._members))
        found = (self._entry(number, member) for number, member in enumerate(self._members))
        self.entries = distinct(location, (entry for entry in found if entry), self._same)

    def head(self, entry: Entry, n_bytes: int) -> bytes:
        return self._bytes(self._members[int(entry.key)], n_bytes)

    def read(self, entry: Entry, limit: int) -> bytes | Unread:
        member = self._members[int(entry.key)]
        return too_large(member.file_size, limit) if member.file_size > limit else self._bytes(member, limit)

    def _bytes(self, member: zipfile.ZipInfo, n_bytes: int) -> bytes:
        wanted = min(n_bytes, member.file_size)
        try:
            with self._file.open(member) as file:
                # With a size: without one zipfile inflates before it looks at how much there should be.
                content = file.read(wanted) if wanted else b""
        except _MALFORMED as error:
            raise damaged(self._location, error) from error
        if len(content) != wanted:
            found = f"{member.orig_filename!r} of {len(content):,} bytes where the directory says {member.file_size:,}"
            raise damaged(self._location, found)
        return content

    def _entry(self, number: int, member: zipfile.ZipInfo) -> Entry | None:
        path = member_path(self._location, _raw(member))
        mode = member.external_attr >> 16 if member.create_system == _UNIX else 0
        if member.orig_filename.endswith("/") or stat.S_ISDIR(mode):
            return None
        if member.flag_bits & _ENCRYPTED:
            raise refuse_member(self._location, path, "an encrypted member")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise refuse_member(self._location, path, f"compression {member.compress_type}, which is not deflate")
        if stat.S_ISLNK(mode):
            if member.file_size > _LONGEST_TARGET:
                raise refuse_member(self._location, path, f"a link whose target has {member.file_size:,} bytes")
            target = self._bytes(member, _LONGEST_TARGET)
            return Entry(path, Kind.LINK, target=link_target(self._location, path, target))
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise refuse_member(self._location, path, "a device or a pipe")
        return Entry(path, Kind.FILE, key=number)

    def _same(self, first: Entry, second: Entry) -> bool:
        one, other = (self._members[int(entry.key)] for entry in (first, second))
        if one.file_size != other.file_size:
            return False
        try:
            with self._file.open(one) as left, self._file.open(other) as right:
                while chunk := left.read(_CHUNK):
                    if chunk != right.read(_CHUNK):
                        return False
        except _MALFORMED as error:
            raise damaged(self._location, error) from error
        return True


@contextmanager
def open_zip(packed: IO[bytes], location: str, stem: str | None, package: str) -> Iterator[ZipListing]:
    """`stem` is None for a wheel: its paths start at the archive's root."""
    try:
        file = zipfile.ZipFile(packed)
    except _MALFORMED as error:
        raise damaged(location, error) from error
    with file:
        listing = ZipListing(file, location, os.fstat(packed.fileno()).st_size, package)
        if stem is not None:
            listing.entries = without_top_folder(listing.entries, stem)
        yield listing


def _raw(member: zipfile.ZipInfo) -> bytes:
    return member.orig_filename.encode("utf-8" if member.flag_bits & _UTF8 else "cp437")
