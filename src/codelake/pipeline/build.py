"""Build the graph of sources in a lake: every stage there is, the record of what was done, and its publication."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec

from codelake.contracts import OPERATIONS, TABLES, Table
from codelake.contracts import operations as tables
from codelake.contracts.graph import RENDERED
from codelake.delta.create import create_table, evolve
from codelake.delta.lake import Lake
from codelake.delta.publish import PUBLICATION, publish
from codelake.delta.record import record
from codelake.delta.run import Run, new_run_id, pin
from codelake.delta.runs import PublishedRun, last_published
from codelake.delta.together import together
from codelake.errors import ContractBroken
from codelake.extract.content import evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.pipeline import manifest
from codelake.pipeline.fingerprints import Fingerprint, Parts, changed_parts
from codelake.pipeline.linking import keep_linked
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Listed, Reading
from codelake.pipeline.rows import few_rows
from codelake.pipeline.stages import STAGES, Stage, fingerprints
from codelake.pipeline.totals import totals
from codelake.pipeline.work import Build, Told

BUILT = tuple(table for table in TABLES if table not in OPERATIONS)
"""What builds write, and a published run names."""


def build(
    lake: Lake,
    reading: Reading,
    *,
    limits: Limits,
    progress: Progress | None = None,
    extract: Extract = evidence_of,
    open_units: OpenUnits | None = None,
) -> dict[str, Any]:
    """Run the stages on what `reading` reads, publish what they wrote, and say what was done. With `open_units`, what
    was built stays linked for the next build, until they are ended."""
    started, started_at = time.monotonic(), datetime.now(UTC)
    create_tables(lake)
    run = Run(lake, new_run_id(), pipeline="build")
    with lake.reading(), nullcontext(open_units) if open_units else OpenUnits() as units:
        work = Build(run, reading, limits, progress or Progress(), extract, units)
        known = fingerprints(limits)
        ran = [_run(work, stage, known[stage.name], {}) for stage in STAGES if not stage.alone]
        with lake.writing(PUBLICATION):
            run.pins.clear()  # another build may have published since
            before = last_published(run)
            work.has_unpublished = _has_unpublished(run, before)
            parts = _parts(before)
            ran += [_run(work, stage, known[stage.name], parts.get(stage.name, {})) for stage in STAGES if stage.alone]
            versions = {table.name: pin(run, table).version for table in BUILT}
            totals_before = totals_now = manifest.read(before.manifest).totals if before else {}
            if before is None or any(before.versions.get(name) != number for name, number in versions.items()):
                totals_now = totals(run)
                _publish(work, ran, versions, totals_now, started_at)
            if open_units is not None:
                keep_linked(work, known["link"].text)
    summary = _summary(work, ran, time.monotonic() - started)
    return summary | {"totals": totals_now, "totals_before": totals_before}


def _has_unpublished(run: Run, before: PublishedRun | None) -> bool:
    """Whether the graph is another than the one that was published last."""
    published = before.versions if before else {}
    return any(published.get(table.name) != pin(run, table).version and not is_empty(run, table) for table in RENDERED)


def create_tables(lake: Lake) -> None:
    """Every table that a contract declares, as its contract says."""

    def bring(table: Table) -> None:
        if not lake.exists(table.name):
            create_table(lake, table)
            return
        try:
            evolve(lake, table)
        except ContractBroken as error:
            raise ContractBroken(
                error.what,
                expected=error.expected,
                found=error.found,
                do="It was left as it is. Another version of codelake made this lake: build a new one (`--lake`).",
            ) from error

    if not all(lake.exists(table.name) for table in TABLES):
        lake.session  # noqa: B018 - it is Spark that makes them, and this thread that is to start it
    together(partial(bring, table) for table in TABLES)


def _run(work: Build, stage: Stage, now: Fingerprint, parts: Parts) -> manifest.Stage:
    """`parts` are those of the fingerprint that the stage had when it was last published."""
    begun = time.monotonic()
    work.run.stage, work.fingerprint, work.told = stage.name, now.text, Told()
    work.progress.stage(stage.name)
    stage.run(work)
    told = work.told
    if told.why and parts:
        told.why = [*changed_parts(parts, now.parts), *told.why]
    seconds = time.monotonic() - begun
    work.run.note(
        tables.STAGES,
        stage=stage.name,
        fingerprint=now.text,
        cache=stage.cache,
        why=told.why,
        n_hits=told.n_hits,
        n_misses=told.n_misses,
        impacts=[one._asdict() for one in told.impacts],
        duration_ms=int(seconds * 1000),
    )
    return manifest.Stage(
        name=stage.name,
        fingerprint=now.text,
        parts=dict(now.parts),
        why=told.why,
        n_hits=told.n_hits,
        n_misses=told.n_misses,
        seconds=round(seconds, 3),
    )


def _parts(before: PublishedRun | None) -> dict[str, Parts]:
    return {stage.name: stage.parts for stage in manifest.read(before.manifest).stages} if before else {}


def _publish(
    work: Build,
    ran: list[manifest.Stage],
    versions: dict[str, int],
    totals: dict[str, int],
    started_at: datetime,
) -> None:
    run, sources = work.run, [listed.source for listed in work.reading.listed]
    pins = _began_from(run)
    done = manifest.Manifest(
        run_id=run.run_id,
        pipeline=run.pipeline,
        code_version=version("codelake"),
        started_at=started_at,
        seconds=round((datetime.now(UTC) - started_at).total_seconds(), 3),
        store=run.lake.store.identity,
        limits=asdict(work.limits),
        totals=totals,
        repositories=[
            manifest.Repository(repo=one.repo, source=one.kind, revision=one.revision, is_dirty=one.is_dirty)
            for one in sources
        ],
        pins=pins,
        versions=versions,
        stages=ran,
        commits=manifest.commits_of(run),
    )
    with few_rows(work):
        publish(
            run,
            BUILT,
            recorded=record(run, repeatable=False),
            started_at=started_at,
            repositories=[msgspec.structs.asdict(one) for one in done.repositories],
            pins=pins,
            manifest=manifest.text_of(done),
        )


def _began_from(run: Run) -> dict[str, int]:
    """Of each table the version that the run read first."""
    pinned = [(row["table_name"], row["version"]) for row in run.rows.get(tables.SNAPSHOTS.name, ())]
    return {name: min(number for one, number in pinned if one == name) for name, _ in pinned}


def _summary(work: Build, ran: list[manifest.Stage], seconds: float) -> dict[str, Any]:
    return {
        "run_id": work.run.run_id,
        "lake": work.run.lake.store.root,
        "repositories": [_counted(work, listed) for listed in work.reading.listed],
        "n_contents": len(work.reading.sizes),
        "n_contents_stored": work.n_stored,
        "n_contents_extracted": work.n_extracted,
        "stages": [{"stage": stage.name, "why": stage.why, "seconds": stage.seconds} for stage in ran],
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
