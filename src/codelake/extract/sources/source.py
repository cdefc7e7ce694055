"""A source that was found and named, but not read yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from codelake.extract.sources.files import source_files
from codelake.extract.sources.model import Opener, SourceFile
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

    def files(self) -> Iterator[SourceFile]:
        """Sorted by path. Listed at the first, each read when it is asked for; closed at the end or with `close`."""
        with self.opened() as listing:
            yield from source_files(listing, self.choice, location=self.location, max_file_bytes=self.max_file_bytes)
