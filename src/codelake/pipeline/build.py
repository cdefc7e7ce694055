"""Build the graph of sources in a lake: every stage there is, then the record of what was done."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from codelake.contracts import TABLES
from codelake.delta.create import create_table, evolve
from codelake.delta.lake import Lake
from codelake.delta.record import record
from codelake.delta.run import Run
from codelake.extract.content import evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Listed, Reading
from codelake.pipeline.stages import STAGES
from codelake.pipeline.work import Build


def build(
    lake: Lake,
    reading: Reading,
    *,
    limits: Limits,
    progress: Progress | None = None,
    extract: Extract = evidence_of,
) -> dict[str, Any]:
    """Run the stages on what `reading` reads, and say what was done."""
    started = time.monotonic()
    create_tables(lake)
    run = Run(lake, _new_run_id(), pipeline="build")
    work = Build(run, reading, limits, progress or Progress(), extract)
    for stage in STAGES:
        run.stage = stage.name
        work.progress.stage(stage.name)
        stage.run(work)
    record(run, repeatable=False)
    return _summary(work, time.monotonic() - started)


def create_tables(lake: Lake) -> None:
    """Every table that a contract declares, as its contract says."""
    for table in TABLES:
        if lake.exists(table.name):
            evolve(lake, table)
        else:
            create_table(lake, table)


def _new_run_id() -> str:
    """Sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def _summary(work: Build, seconds: float) -> dict[str, Any]:
    return {
        "run_id": work.run.run_id,
        "lake": work.run.lake.store.root,
        "repositories": [_counted(work, listed) for listed in work.reading.listed],
        "n_contents": len(work.reading.sizes),
        "n_contents_stored": work.n_stored,
        "n_contents_extracted": work.n_extracted,
        "versions": dict(sorted(work.versions.items())),
        "seconds": round(seconds, 1),
    }


def _counted(work: Build, listed: Listed) -> dict[str, Any]:
    source = listed.source
    seen = [work.seen[file.digest] for file in listed.files if file.digest is not None]
    statuses = Counter(one.status for one in seen)
    return {
        "repo": source.repo,
        "source": source.kind,
        "revision": source.revision,
        "is_dirty": source.is_dirty,
        "n_files": len(listed.files),
        "n_parsed": statuses["parsed"],
        "n_recovered": statuses["recovered"],
        "n_skipped": statuses["skipped"] + len(listed.files) - len(seen),
        "n_lines": sum(one.n_lines for one in seen),
        "n_bytes": sum(file.n_bytes for file in listed.files if file.digest is not None),
    }
