"""Build the graph of sources in a lake: every stage there is, then the record of what was done."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from codelake.contracts import OPERATIONS, TABLES
from codelake.delta.create import create_table, evolve
from codelake.delta.lake import Lake
from codelake.delta.publish import last_published, publish
from codelake.delta.record import record
from codelake.delta.run import Run, new_run_id, pin
from codelake.extract.content import evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.pipeline.manifest import Manifest, Repository, commits_of, text_of
from codelake.pipeline.manifest import Stage as Ran
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Listed, Reading
from codelake.pipeline.stages import STAGES
from codelake.pipeline.work import Build

_OF_BUILDS = tuple(table for table in TABLES if table not in OPERATIONS)


def build(
    lake: Lake,
    reading: Reading,
    *,
    limits: Limits,
    progress: Progress | None = None,
    extract: Extract = evidence_of,
) -> dict[str, Any]:
    """Run the stages on what `reading` reads, publish what they wrote, and say what was done."""
    started, started_at = time.monotonic(), datetime.now(UTC)
    create_tables(lake)
    run = Run(lake, new_run_id(), pipeline="build")
    work = Build(run, reading, limits, progress or Progress(), extract)
    pins = {table.name: pin(run, table).version for table in _OF_BUILDS}
    ran = []
    for stage in STAGES:
        run.stage = stage.name
        work.progress.stage(stage.name)
        begun = time.monotonic()
        stage.run(work)
        ran.append(Ran(name=stage.name, fingerprint="", why=[], seconds=round(time.monotonic() - begun, 3)))
    published = last_published(run)
    versions = {table.name: pin(run, table).version for table in _OF_BUILDS}
    if published is None or any(published.versions.get(name) != version for name, version in versions.items()):
        repositories = [Repository(**_source(listed)) for listed in reading.listed]
        manifest = Manifest(
            run_id=run.run_id,
            pipeline=run.pipeline,
            code_version=version("codelake"),
            settings="",
            started_at=started_at,
            seconds=round(time.monotonic() - started, 3),
            repositories=repositories,
            pins=pins,
            versions=versions,
            stages=ran,
            commits=commits_of(run),
        )
        publish(
            run,
            _OF_BUILDS,
            recorded=record(run, repeatable=False),
            started_at=started_at,
            repositories=[_source(listed) for listed in reading.listed],
            pins=pins,
            manifest=text_of(manifest),
        )
    return _summary(work, time.monotonic() - started)


def _source(listed: Listed) -> dict[str, Any]:
    source = listed.source
    return {"repo": source.repo, "source": source.kind, "revision": source.revision, "is_dirty": source.is_dirty}


def create_tables(lake: Lake) -> None:
    """Every table that a contract declares, as its contract says."""
    for table in TABLES:
        if lake.exists(table.name):
            evolve(lake, table)
        else:
            create_table(lake, table)


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
