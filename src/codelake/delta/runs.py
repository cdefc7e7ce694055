"""Published runs, read without Spark: all of them, and the one that an id or a time names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from codelake.contracts.operations import RUNS
from codelake.delta.embedded import rows
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.moments import moment
from codelake.delta.run import Run, pin
from codelake.errors import NotFound


@dataclass(frozen=True)
class PublishedRun:
    run_id: str
    recorded_at: datetime
    pipeline: str
    versions: dict[str, int]
    manifest: str


def published_runs(lake: Lake) -> list[PublishedRun]:
    """Oldest first."""
    return _runs(lake.log(RUNS.name), "ORDER BY recorded_at, run_id") if lake.exists(RUNS.name) else []


def last_published(run: Run) -> PublishedRun | None:
    """What readers see, as the run has pinned it."""
    log = run.lake.log(RUNS.name, version=pin(run, RUNS).version)
    return next(iter(_runs(log, "ORDER BY recorded_at DESC, run_id DESC LIMIT 1")), None)


def _runs(log: Log, which: str) -> list[PublishedRun]:
    sql = f"SELECT run_id, recorded_at, pipeline, versions, manifest FROM runs {which}"
    return [
        PublishedRun(
            row["run_id"], row["recorded_at"].astimezone(UTC), row["pipeline"], dict(row["versions"]), row["manifest"]
        )
        for row in rows({"runs": log.delta_table}, sql).to_pylist()
    ]


def run_named(lake: Lake, text: str) -> PublishedRun:
    """By its id or a unique beginning of it, or the last one published at or before a time (ISO 8601)."""
    runs = published_runs(lake)
    named = [run for run in runs if run.run_id == text] or [run for run in runs if run.run_id.startswith(text)]
    if len(named) == 1:
        return named[0]
    if not named:
        until = moment(text)
        named = [run for run in runs if until is not None and run.recorded_at <= until][-1:]
        if named:
            return named[0]
    raise NotFound(
        f"run {text}",
        expected="the id of a published run, or a time after the first",
        found=f"{len(named)} runs that begin so" if named else f"{len(runs)} runs, none of them this",
        do="The table `runs` has them all.",
    )
