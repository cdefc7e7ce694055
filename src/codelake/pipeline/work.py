"""One build, as its stages see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from codelake.delta.run import Run, advance
from codelake.delta.write import Committed
from codelake.extract.content import evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading

Place = tuple[str, ...]
"""Repository and path; or a repository, for all of it."""
OUTSIDE: Place = ("", "")
"""The repository and path of what is outside of the lake."""


class Impact(NamedTuple):
    """A file that a change reached."""

    repo: str
    path: str
    reason: str
    symbol: str | None
    """The id whose meaning, or presence, is another; None where the file itself has changed."""
    hop: int
    """0 for a file that has changed itself, 1 for one that uses it, and so on."""


class Places(NamedTuple):
    """What is rendered anew."""

    files: list[Place]
    """Whose links are others; gone ones among them."""
    around: list[Place]
    """Folders in which files have come or gone, and files that were not read."""
    outside: bool
    is_all: bool = False
    """There is nothing else in the lake."""

    @property
    def repos(self) -> list[str]:
        return sorted({place[0] for place in (*self.files, *self.around)})

    @property
    def all(self) -> list[Place]:
        return sorted({*self.files, *self.around, *((OUTSIDE,) if self.outside else ())})


class Seen(NamedTuple):
    """What the evidence of a content says of it as a whole."""

    status: str
    reason: str | None
    encoding: str | None
    n_lines: int
    problems: list[dict[str, Any]]


@dataclass
class Told:
    """What a stage says of itself."""

    why: list[str] = field(default_factory=list)
    n_hits: int = 0
    n_misses: int = 0
    impacts: list[Impact] = field(default_factory=list)


@dataclass
class Build:
    run: Run
    reading: Reading
    limits: Limits
    progress: Progress
    extract: Extract = evidence_of
    open_units: OpenUnits = field(default_factory=OpenUnits)
    """Those of the session."""
    seen: dict[str, Seen] = field(default_factory=dict)
    """By digest: every content of this build, once the stage `evidence` is done."""
    versions: dict[str, int] = field(default_factory=dict)
    """What this build committed: table and version."""
    stale: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By repository and path: what there is to say of claims of other tools that are not used."""
    rendered: Places | None = None
    """What this build rendered anew, if anything."""
    has_unpublished: bool = False
    """Whether the graph that this build found is another than the one that was published last."""
    fingerprint: str = ""
    """Of the stage that runs."""
    told: Told = field(default_factory=Told)
    """By the stage that runs."""
    n_stored: int = 0
    """Contents that were new to the lake."""
    n_extracted: int = 0
    """Contents that were parsed, and not found parsed before."""

    @property
    def spark(self) -> SparkSession:
        return self.run.lake.session

    def committed(self, done: Committed | None) -> None:
        """From here on the build reads what it wrote."""
        if done is not None and not done.is_empty:
            self.moved(done.table, done.version)

    def moved(self, table: str, version: int) -> None:
        self.versions[table] = version
        advance(self.run, table, version)
