"""Tables looked after, as a run of its own: what the contracts' upkeep finds due is done, recorded, and published.

An optimized table has the same rows in a new version. Readers open what is published, so that version is published
too, unless the table has commits that no run has published: then the next build does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import MAINTENANCE, OPERATIONS, RUNS
from codelake.contracts.table import Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.due import due
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.operation import Maintained
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.record import record
from codelake.delta.run import Run, new_run_id
from codelake.delta.runs import last_published
from codelake.pipeline.manifest import Manifest, Stage, read, text_of

_DO: Mapping[str, Callable[..., Maintained]] = {
    "optimize": lambda run, table, **how: optimize(run, table, **how),
    "checkpoint": lambda run, table, **how: checkpoint(run, table.name, **how),
    "vacuum": lambda run, table, **how: vacuum(run, table.name, **how),
    "cleanup-log": lambda run, table, **how: cleanup_log(run, table.name, **how),
}


def maintain(lake: Lake, tables: Sequence[Table], *, dry_run: bool = False) -> list[Maintained]:
    """Whatever is due for these tables. A dry run says what would be done, and why."""
    run = new_upkeep(lake)
    done = []
    for table in tables:
        if lake.exists(table.name):
            for one in due(run, table):
                done.append(_DO[one.operation](run, table, reason=one.reason, dry_run=dry_run))
    if not dry_run:
        finish(run, done)
    return done


def new_upkeep(lake: Lake) -> Run:
    return Run(lake, new_run_id(), stage="maintain", pipeline="maintain")


def finish(run: Run, done: Sequence[Maintained]) -> None:
    """Record what was done, and publish the versions that it made."""
    if not run.rows.get(MAINTENANCE.name):
        return
    started_at = run.rows[MAINTENANCE.name][0]["recorded_at"]
    create_table(run.lake, MAINTENANCE)
    record(run, repeatable=False)
    moved = {one.table: (one.from_version, one.version) for one in done if one.version != one.from_version}
    if moved and run.lake.exists(RUNS.name):
        publish_moved(run, moved, started_at)


def publish_moved(run: Run, moved: Mapping[str, tuple[int, int]], started_at: datetime) -> None:
    """The last published run's versions, with those tables moved on that stood at what it had published.

    Planned again if somebody publishes in between: what they published stays published.
    """
    own = {table.name for table in OPERATIONS}

    def plan(current: Run) -> Plan:
        last = last_published(current)
        if last is None:
            return None
        on = {
            name: after
            for name, (before, after) in moved.items()
            if name in last.versions and (last.versions[name] == before or name in own) and name != RUNS.name
        }
        if not on:
            return None
        versions = last.versions | on
        was = read(last.manifest)
        row = run_row(
            current, versions, pins=last.versions, started_at=started_at, stages=was.stages, totals=was.totals
        )
        return arrow_table(RUNS, [row])

    publisher = Run(run.lake, run.run_id, stage="publish", pipeline=run.pipeline, number=run.number)
    commit_planned(publisher, RUNS, plan, mode="append", from_pin=True)


def run_row(
    run: Run,
    versions: Mapping[str, int],
    *,
    pins: Mapping[str, int],
    started_at: datetime,
    stages: Sequence[Stage] = (),
    totals: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """A row of `runs` for a run that built nothing. `stages` are those that the tables are the work of: the next build
    compares with them."""
    now = datetime.now(UTC)
    manifest = Manifest(
        run_id=run.run_id,
        pipeline=run.pipeline,
        code_version=version("codelake"),
        started_at=started_at,
        seconds=round((now - started_at).total_seconds(), 3),
        store=run.lake.store.identity,
        totals=dict(totals or {}),
        repositories=[],
        pins=dict(pins),
        versions=dict(versions),
        stages=list(stages),
        commits=[],
    )
    return {
        "run_id": run.run_id,
        "recorded_at": now,
        "pipeline": run.pipeline,
        "started_at": started_at,
        "repositories": [],
        "versions": dict(versions),
        "pins": dict(pins),
        "manifest": text_of(manifest),
    }
