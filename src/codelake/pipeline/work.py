"""One build, as its stages see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from codelake.delta.run import Run, advance
from codelake.delta.write import Committed
from codelake.extract.content import evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading


class Seen(NamedTuple):
    """What the evidence of a content says of it as a whole."""

    status: str
    reason: str | None
    encoding: str | None
    n_lines: int
    problems: list[dict[str, Any]]


@dataclass
class Build:
    run: Run
    reading: Reading
    limits: Limits
    progress: Progress
    extract: Extract = evidence_of
    seen: dict[str, Seen] = field(default_factory=dict)
    """By digest: every content of this build, once the stage `evidence` is done."""
    versions: dict[str, int] = field(default_factory=dict)
    """What this build committed: table and version."""
    rendered: list[str] = field(default_factory=list)
    """Repositories whose graph this build made anew."""
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
            self.versions[done.table] = done.version
            advance(self.run, done.table, done.version)
