"""A source that was found and named, but not read yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from codelake.extract.sources.files import counted_paths, source_files
from codelake.extract.sources.metadata import Declared, declared, metadata_entries
from codelake.extract.sources.model import Listing, Opener, SourceFile
from codelake.extract.sources.select import Choice


@dataclass(frozen=True)
class Source:
    repo: str
    """The name of the repository in the lake."""
    kind: str
    """`tree`, `revision` or `archive`."""
    location: str
    """As the user gave it."""
    revision: str | None
    """The commit, of a tree the one that is checked out; SHA-256 of an archive; None for a folder without git."""
    committed_at: datetime | None
    max_file_bytes: int
    choice: Choice = field(repr=False, compare=False)
    opened: Opener = field(repr=False, compare=False)
    differs: Callable[[], bool] = field(repr=False, compare=False)

    @cached_property
    def is_dirty(self) -> bool:
        """Whether a working tree differs from `revision`, when first asked; never true of anything else."""
        return self.differs()

    @contextmanager
    def read(self) -> Iterator[Opened]:
        """Listed once: files and metadata are of the same listing."""
        with self.opened() as listing:
            yield Opened(self, listing)

    def files(self) -> Iterator[SourceFile]:
        """Sorted by path. Listed at the first, each read when it is asked for; closed at the end or with `close`."""
        with self.read() as opened:
            yield from opened.files()


@dataclass(frozen=True)
class Opened:
    """A source while it is read."""

    source: Source
    listing: Listing

    def files(self) -> Iterator[SourceFile]:
        source = self.source
        limit = source.max_file_bytes
        yield from source_files(self.listing, source.choice, location=source.location, max_file_bytes=limit)

    def declared(self) -> Declared:
        """The distributions that its metadata declares, and what is wrong with that."""
        return declared(self.listing, self.source.choice, max_file_bytes=self.source.max_file_bytes)

    def paths(self) -> frozenset[str]:
        """Of all whose change a build would see: files that have a row, and metadata."""
        source = self.source
        counted = counted_paths(self.listing, source.choice, location=source.location)
        return frozenset({*counted, *metadata_entries(self.listing, source.choice)})
