"""What a run did, written down: one append per operations table, at the run's end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import OPERATIONS
from codelake.contracts.table import Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.together import together
from codelake.delta.write import Committed, commit


def create_operations(lake: Lake) -> None:
    for table in OPERATIONS:
        create_table(lake, table)


def record(run: Run, *, repeatable: bool = True) -> Mapping[str, int]:
    """Append the run's rows. Recorded twice, they are written once. Returns the versions made.

    A run that is not `repeatable` is never submitted again, and may end after a later run of its pipeline.

    The commits made here are not themselves rows of `commits`: their metadata is in the Delta log.
    """
    recorder = Run(run.lake, run.run_id, stage="record", pipeline=run.pipeline, number=run.number)

    def append(table: Table) -> Committed:
        rows = arrow_table(table, run.rows[table.name])
        return commit(recorder, table, rows, mode="append", txn=recorder.txn if repeatable else None)

    made = together(partial(append, table) for table in OPERATIONS if run.rows.get(table.name))
    run.rows.clear()
    return {done.table: done.version for done in made}
