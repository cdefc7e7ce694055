"""A `.tar.gz`. It is unpacked once into a file without a name, in which members can be found in any order.

Hard links are files with the content of what they link to. Names are bytes here: what is no UTF-8 comes back
from tarfile as surrogates, and leaves it as the bytes that it was.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Self

from codelake.errors import Unavailable
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
_LARGEST_HEADER = 1 << 20
"""Long names and pax records are read into memory before a member is seen."""
_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_VOLUME_LABEL = b"V"
# Of malformed numbers and records tarfile raises what Python raises.
_MALFORMED = (tarfile.TarError, EOFError, ValueError, OverflowError, LookupError)


class _Header(tarfile.TarInfo):
    """Refuses sizes that make tarfile go backwards for ever or read gigabytes at once."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _HEADERS and header.size > _LARGEST_HEADER):
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header


class TarListing:
    def __init__(self, file: IO[bytes], location: str, n_packed: int, package: str) -> None:
        self._location = location
        self._members: list[tarfile.TarInfo] = []
        self.package = package
        try:
            self._tar = tarfile.TarFile(
                fileobj=file, mode="r", tarinfo=_Header, encoding="utf-8", errors="surrogateescape"
            )
            found = list(self._listed(n_packed))
            self._check_end(file)
            self.entries = distinct(location, found, self._same)
        except _MALFORMED as error:
            raise damaged(location, error) from error

    def head(self, entry: Entry, n_bytes: int) -> bytes:
        return self._bytes(entry, n_bytes)

    def read(self, entry: Entry, limit: int) -> bytes | Unread:
        size = self._members[int(entry.key)].size
        return too_large(size, limit) if size > limit else self._bytes(entry, size)

    def _bytes(self, entry: Entry, n_bytes: int) -> bytes:
        member = self._members[int(entry.key)]
        wanted = min(n_bytes, member.size)
        try:
            file = self._tar.extractfile(member)
            content = file.read(wanted) if file else b""
        except _MALFORMED as error:
            raise damaged(self._location, error) from error
        if len(content) != wanted:
            raise damaged(self._location, f"a member of {len(content):,} bytes where its header says {member.size:,}")
        return content

    def _listed(self, n_packed: int) -> Iterator[Entry]:
        by_path: dict[bytes, Entry] = {}
        n_unpacked, n_members = 0, 0
        while (member := self._tar.next()) is not None:
            n_members += 1
            refuse_count(self._location, n_members)
            if member.size < 0:  # from a pax record, which no header checks
                raise tarfile.ReadError(f"a member of {member.size:,} bytes")
            path = member_path(self._location, _raw(member.name))
            entry = self._entry(member, path, by_path)
            if entry is None:
                continue
            if entry.kind is Kind.FILE:
                # Holes of a sparse file and hard links unpack to bytes that are not in the archive.
                n_unpacked += self._members[int(entry.key)].size
                refuse_size(self._location, n_packed, n_unpacked)
            by_path[path] = entry
            yield entry

    def _entry(self, member: tarfile.TarInfo, path: bytes, by_path: dict[bytes, Entry]) -> Entry | None:
        if member.isdir() or member.type == _VOLUME_LABEL:
            return None
        if member.issym():
            return Entry(path, Kind.LINK, target=link_target(self._location, path, _raw(member.linkname)))
        if member.islnk():
            linked = by_path.get(member_path(self._location, _raw(member.linkname)))
            if linked is None:
                raise refuse_member(self._location, path, "a hard link to what the archive does not have before it")
            return replace(linked, path=path)
        if not member.isreg():
            raise refuse_member(self._location, path, f"a device, a pipe or a type that is not known: {member.type!r}")
        self._members.append(member)
        return Entry(path, Kind.FILE, key=len(self._members) - 1)

    def _check_end(self, file: IO[bytes]) -> None:
        """tarfile takes a damaged header in the middle for the end."""
        file.seek(self._tar.offset)
        rest = file.read(tarfile.BLOCKSIZE)
        if rest.strip(b"\0") or len(rest) % tarfile.BLOCKSIZE:
            raise tarfile.ReadError(f"no member and no end at byte {self._tar.offset:,} of the unpacked archive")

    def _same(self, first: Entry, second: Entry) -> bool:
        one, other = (self._members[int(entry.key)] for entry in (first, second))
        if one is other or one.size != other.size:
            return one is other
        left, right = self._tar.extractfile(one), self._tar.extractfile(other)
        if left is None or right is None:
            return False
        while chunk := left.read(_CHUNK):
            if chunk != right.read(_CHUNK):
                return False
        return True


@contextmanager
def open_tar(packed: IO[bytes], location: str, stem: str, package: str) -> Iterator[TarListing]:
    with tempfile.TemporaryFile() as file:
        n_packed = os.fstat(packed.fileno()).st_size
        _unpack(packed, n_packed, location, file)
        listing = TarListing(file, location, n_packed, package)
        listing.entries = without_top_folder(listing.entries, stem)
        yield listing


def _unpack(packed: IO[bytes], n_packed: int, location: str, to: IO[bytes]) -> None:
    """Bytes are counted as they come: what the archive says of itself is not asked."""
    n_unpacked = 0
    with gzip.GzipFile(fileobj=packed) as unpacking:
        while True:
            try:
                chunk = unpacking.read(_CHUNK)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise damaged(location, error) from error
            if not chunk:
                break
            n_unpacked += len(chunk)
            refuse_size(location, n_packed, n_unpacked)
            try:
                to.write(chunk)
            except OSError as error:
                raise Unavailable(
                    f"{location}: {tempfile.gettempdir()}",
                    expected="room to unpack the archive in",
                    found=error.strerror,
                    do="Make room there, or set TMPDIR to a folder that has it.",
                ) from error
    to.seek(0)


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
