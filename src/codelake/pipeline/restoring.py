"""A table or the whole lake brought back to a run, a version or a time, and published as a run of its own.

Tables that only grow are not taken back: what is in them is addressed by content, or tells what was done. Of these,
readers open the version that the run had. A build that is running is waited for: what it publishes would be half
restored and half built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime

from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import MAINTENANCE, RUNS
from codelake.contracts.table import Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.maintenance.operation import Maintained
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.publish import PUBLICATION
from codelake.delta.record import record
from codelake.delta.restore import cursors_at, restore_table
from codelake.delta.run import Run, new_run_id
from codelake.delta.runs import PublishedRun, last_published, run_named
from codelake.pipeline.manifest import Stage, read
from codelake.pipeline.upkeep import run_row


def restore_lake(lake: Lake, tables: Sequence[Table], to: str, *, dry_run: bool = False) -> list[Maintained]:
    """Every table that the run has published, to the version it had then. `to` is a run or a time.

    Killed midway, nothing is published; asked again, tables that are there already stay as they are.
    """
    then = run_named(lake, to)
    run, started_at = _new_run(lake), datetime.now(UTC)
    done: list[Maintained] = []
    versions = dict(then.versions)
    known = [table for table in tables if table.name in then.versions and lake.exists(table.name)]
    with _alone(lake, dry_run):
        for table in known:  # nothing is taken back if something is gone
            lake.log(table.name, version=then.versions[table.name]).require_files()
        # sources first: what was derived from them is told their new versions
        for table in known:
            if not table.append_only:
                version = then.versions[table.name]
                cursors = _moved(cursors_at(lake, table.name, version), then, versions)
                reason = f"to run {then.run_id}"
                one = restore_table(run, table, version, cursors=cursors, reason=reason, dry_run=dry_run)
                versions[table.name] = one.version
                done.append(one)
        if not dry_run:
            _finish(run, versions, started_at, read(then.manifest).stages)
    return done


def restore_one(lake: Lake, table: Table, version: int, *, dry_run: bool = False) -> Maintained:
    run, started_at = _new_run(lake), datetime.now(UTC)
    with _alone(lake, dry_run):
        done = restore_table(run, table, version, reason=f"to version {version}", dry_run=dry_run)
        if not dry_run:
            _finish(run, {table.name: done.version}, started_at, ())
    return done


def _alone(lake: Lake, dry_run: bool) -> AbstractContextManager[None]:
    return nullcontext() if dry_run else lake.writing(PUBLICATION)


def _moved(
    cursors: Mapping[str, Mapping[str, int]], then: PublishedRun, versions: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """A reader that had read all of a source has read all of the restored one. One that had not reads on from
    there: everything that came since, and its undoing."""
    return {
        reader: {
            source: versions[source] if then.versions.get(source) == version else version
            for source, version in sources.items()
        }
        for reader, sources in cursors.items()
    }


def _new_run(lake: Lake) -> Run:
    return Run(lake, new_run_id(), stage="restore", pipeline="restore")


def _finish(run: Run, versions: Mapping[str, int], started_at: datetime, stages: Sequence[Stage]) -> None:
    create_table(run.lake, MAINTENANCE)
    recorded = record(run, repeatable=False)
    if not run.lake.exists(RUNS.name):
        return  # nothing was ever built here: there are no readers of published runs

    def plan(current: Run) -> Plan:
        last = last_published(current)
        before = last.versions if last else {}
        kept = stages or (read(last.manifest).stages if last else ())
        row = run_row(current, {**before, **versions, **recorded}, pins=before, started_at=started_at, stages=kept)
        return arrow_table(RUNS, [row])

    publisher = Run(run.lake, run.run_id, stage="publish", pipeline=run.pipeline, number=run.number)
    commit_planned(publisher, RUNS, plan, mode="append", from_pin=True)
