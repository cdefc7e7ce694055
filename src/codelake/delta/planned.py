"""A commit that is planned from pins, and planned again when somebody else has committed first."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame

from codelake.contracts.operations import COMMITS
from codelake.contracts.table import Table
from codelake.delta.run import Run
from codelake.delta.write import Committed, commit
from codelake.errors import Conflict

ATTEMPTS = 5

Plan: TypeAlias = DataFrame | pa.Table | tuple[DataFrame | pa.Table, Mapping[str, Any]] | None
"""Rows to commit; with options of `commit` that depend on them; or None where there is nothing to do."""


def commit_planned(run: Run, table: Table, plan: Callable[[Run], Plan], **options: Any) -> Committed | None:
    """`commit`, with rows that `plan` makes from the run's pins. On a conflict: plan again from a new pin of
    the table; what else the run reads stays what it was."""
    for attempt in range(1, ATTEMPTS + 1):
        planned = plan(run)
        if planned is None:
            return None
        rows, more = planned if isinstance(planned, tuple) else (planned, {})
        try:
            done = commit(run, table, rows, **options, **more)
        except Conflict as conflict:
            if attempt == ATTEMPTS or type(conflict) is not Conflict:
                raise
            run.pins.pop(table.name)
            time.sleep(0.1 * 2**attempt)
            continue
        if attempt > 1:
            run.rows[COMMITS.name][-1]["n_attempts"] = attempt
        return replace(done, n_attempts=attempt)
    raise AssertionError("the loop returns or raises")
