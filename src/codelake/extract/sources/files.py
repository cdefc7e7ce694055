"""From entries to files: which count, what they are called, what becomes of those that are not read.

The same for every kind of source. Three kinds of entries have no content and a row all the same:

- A symbolic link is never followed; what it leads to is read where it lies, if the source holds it. It has a
  row if its own name counts, if it leads to a file that counts or to a folder that holds Python, or if it has
  no ending and leaves the source, where nobody looked.
- A file that is known but not there has a row if its name counts; of one without ending nobody knows.
- A folder that is not looked into has a row if the patterns leave it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codelake.errors import Refused
from codelake.extract.sources.model import Entry, Kind, Listing, Reason, SourceFile, Unread
from codelake.extract.sources.modules import module_names
from codelake.extract.sources.paths import folders_of, resolved, shown, shown_problem
from codelake.extract.sources.select import ENDINGS, HEAD_BYTES, Choice, has_ending

_LFS = b"version https://git-lfs.github.com/spec/v1"
_LFS_LARGEST = 1024
"""No pointer is larger, says git-lfs; a larger file only starts like one."""
_HOPS = 40
"""As many links as Linux follows."""


def source_files(listing: Listing, choice: Choice, *, location: str, max_file_bytes: int) -> Iterator[SourceFile]:
    by_path = _by_path(listing, location)
    modules = module_names(by_path, package=listing.package)
    counted = _Counted(listing, by_path, choice)
    for path in sorted(by_path):
        entry = by_path[path]
        if counted.has_row(path, entry):
            yield _file(listing, entry, path, modules[path], counted.note(entry), max_file_bytes)


def counted_paths(listing: Listing, choice: Choice, *, location: str) -> Iterator[str]:
    """The paths of `source_files`, none of which is read but for first lines."""
    by_path = _by_path(listing, location)
    counted = _Counted(listing, by_path, choice)
    return (path for path, entry in by_path.items() if counted.has_row(path, entry))


def _by_path(listing: Listing, location: str) -> dict[str, Entry]:
    by_path: dict[str, Entry] = {}
    for entry in listing.entries:
        path = shown(entry.path)
        if path in by_path:
            raise Refused(
                f"{location}: {path}",
                expected="each path once",
                found="two files of that path",
                do="git fsck says what is wrong with the repository.",
            )
        by_path[path] = entry
    return by_path


class _Counted:
    """Which entries have a row."""

    def __init__(self, listing: Listing, by_path: Mapping[str, Entry], choice: Choice) -> None:
        self._listing = listing
        self._choice = choice
        self._by_path = by_path
        self._with_python = {
            folder
            for path, entry in by_path.items()
            if entry.kind is Kind.FILE and path.endswith(ENDINGS)
            for folder in (*folders_of(path), "")
        }

    def has_row(self, path: str, entry: Entry) -> bool:
        if entry.kind is Kind.FILE:
            return self._choice.counts(path, lambda: self._listing.head(entry, HEAD_BYTES))
        if entry.kind is Kind.FOLDER:
            return self._choice.allows(f"{path}/")
        if self._choice.counts(path, lambda: b""):
            return True
        return entry.kind is Kind.LINK and self._choice.allows(path) and self._leads_to_python(path, entry)

    def _leads_to_python(self, path: str, link: Entry) -> bool:
        target = self._end(link)
        if target is None:
            return not has_ending(path)
        found = self._by_path.get(target)
        if found is None or found.kind is Kind.LINK:
            return target in self._with_python
        return found.kind is not Kind.FOLDER and self.has_row(target, found)

    def _end(self, link: Entry) -> str | None:
        """Where a link and the links it leads to end; None out of the source."""
        for _ in range(_HOPS):
            target = resolved(link.path, link.target)
            if target is None:
                return None
            found = self._by_path.get(shown(target))
            if found is None or found.kind is not Kind.LINK:
                return shown(target)
            link = found
        return shown(link.path)

    def note(self, entry: Entry) -> str | None:
        """What to say about the entry, whether or not it is read."""
        said = [entry.problem, shown_problem(entry.path)]
        if entry.kind is Kind.LINK:
            target = self._end(entry)
            where = ""
            if target is None:
                where = ", out of the source"
            elif target not in self._by_path and target not in self._with_python:
                where = ", where this source has nothing to read"
            said.append(f"a symbolic link to {shown(entry.target)}{where}")
        return "; ".join(filter(None, said)) or None


def _file(listing: Listing, entry: Entry, path: str, module: str | None, note: str | None, limit: int) -> SourceFile:
    if entry.kind is Kind.LINK:
        return SourceFile(path, len(entry.target), None, module, Reason.SYMBOLIC_LINK, note)
    if entry.kind is not Kind.FILE:
        return SourceFile(path, 0, None, module, entry.reason, note)
    read = content_of(listing, entry, limit)
    if isinstance(read, Unread):
        problem = "; ".join(filter(None, [read.problem, note]))
        return SourceFile(path, read.n_bytes, None, module, read.reason, problem)
    return SourceFile(path, len(read), read, module, None, note)


def content_of(listing: Listing, entry: Entry, limit: int) -> bytes | Unread:
    """The bytes of an entry of kind FILE, which are not those of a pointer of git-lfs."""
    read = listing.read(entry, limit)
    if isinstance(read, bytes) and len(read) < _LFS_LARGEST and read.startswith(_LFS):
        return _pointer(read)
    return read


def _pointer(content: bytes) -> Unread:
    size = next((line[5:] for line in content.splitlines() if line.startswith(b"size ")), b"?")
    problem = f"git-lfs has the content, of {shown(size)} bytes; `git lfs pull` puts it into the working tree"
    return Unread(Reason.LFS_POINTER, problem, len(content))
