"""Published runs: the versions of all tables that belong together, as one row. Delta commits one table at a time; a
reader that opens the tables at a published run's versions never sees half of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import RUNS
from codelake.contracts.table import Table
from codelake.delta.run import Run, pin
from codelake.delta.write import commit

PUBLICATION = "_publication"
"""The lock that whoever may change what readers will see next holds while it reads, commits and publishes. It is taken
before the lock of a table, never after."""


def publish(
    run: Run,
    tables: Sequence[Table],
    *,
    recorded: Mapping[str, int],
    started_at: datetime,
    repositories: Sequence[Mapping[str, Any]],
    pins: Mapping[str, int],
    manifest: str,
) -> dict[str, int]:
    """One row that makes what the run has done visible: `tables` as the run reads them now, its own commits among them,
    and the versions that recording it made. Returns these versions."""
    versions = {table.name: pin(run, table).version for table in tables} | dict(recorded)
    row = {
        "run_id": run.run_id,
        "recorded_at": datetime.now(UTC),
        "pipeline": run.pipeline,
        "started_at": started_at,
        "repositories": repositories,
        "versions": versions,
        "pins": pins,
        "manifest": manifest,
    }
    publisher = Run(run.lake, run.run_id, stage="publish", pipeline=run.pipeline, number=run.number)
    commit(publisher, RUNS, arrow_table(RUNS, [row]), mode="append")
    return versions
