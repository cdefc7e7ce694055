"""A report of another tool, as its own coordinates have it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple, Protocol

Unit = Literal["utf-8", "utf-16", "utf-32"]
"""What characters of a line are counted in."""


class Occurrence(NamedTuple):
    """Something that a report says of a place."""

    start: tuple[int, int]
    """Line and character, both from 0."""
    end: tuple[int, int]
    kind: Literal["name", "call"]
    target: str | None
    """The id of what it means; None where it is only there to be looked for."""
    text: str | None = None
    """What must stand there, or the report is about another content."""
    named: str | None = None
    """What must stand there, or the report is wrong about this place."""


class Document(NamedTuple):
    """A file of a report."""

    unit: Unit
    occurrences: Iterable[Occurrence]
    text: str | None = None
    """The content that it is about, where the report has it."""


class Report(Protocol):
    origin: str
    tool: str
    digest: str
    location: str
    """As the user gave it."""

    @property
    def paths(self) -> Collection[str]:
        """Its files, relative to the repository's root."""
        ...

    def document(self, repo: str, path: str) -> Document: ...
