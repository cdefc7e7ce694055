"""Rows that the driver knows: only what differs from the stored ones is committed, so that a change feed shows real
changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.arrow import arrow_table
from codelake.delta.embedded import among, ask
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.schema import handed
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.work import Build
from codelake.session import for_few_rows

Row = Mapping[str, Any]


def commit_rows(build: Build, table: Table, rows: Sequence[Row], repos: Collection[str]) -> None:
    """`rows` in the place of all that the table has of the repositories."""

    def plan(run: Run) -> Plan:
        sql = f"SELECT {', '.join(table.column_names)} FROM {table.name} WHERE {among('repo', repos)}"
        old = [] if is_empty(run, table) else ask(run, (table,), sql).to_pylist()
        new, gone = _only(rows, old, table), _only(old, rows, table)
        if not gone:
            return (arrow_table(table, new), {"mode": "append"}) if new else None
        touched = {_values(row, table.replace_by) for row in (*new, *gone)}
        there = [row for row in rows if _values(row, table.replace_by) in touched]
        return arrow_table(table, there), {"mode": "replace", "replacing": sorted(touched)}

    with few_rows(build):
        build.committed(commit_planned(build.run, table, plan, from_pin=True))


@contextmanager
def few_rows(build: Build) -> Iterator[None]:
    """Around commits of few rows. On a local disk most of them are made in this process, and no session is started."""
    with nullcontext() if build.run.lake.store.is_local else for_few_rows(build.spark):
        yield


def frame(build: Build, rows: pa.Table) -> DataFrame:
    return handed(build.spark, rows)


def _only(rows: Sequence[Row], others: Sequence[Row], table: Table) -> list[Row]:
    """The rows that `others` does not have, or not as often."""
    there = Counter(_values(row, table.column_names) for row in others)
    found = []
    for row in rows:
        values = _values(row, table.column_names)
        if there[values]:
            there[values] -= 1
        else:
            found.append(row)
    return found


def _values(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    values = (row[column] for column in columns)
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
