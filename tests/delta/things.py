"""A small contract that most tests of the control plane use, and rows for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from codelake.contracts import Check, Column, Layout, Table
from codelake.contracts.arrow import arrow_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run

THINGS = Table(
    name="things",
    meaning="Things, for tests.",
    columns=(
        Column("id", "bigint", "the key"),
        Column("owner", "string", "what a replace rewrites"),
        Column("size", "int", "a number", nullable=True),
    ),
    key=("id",),
    replace_by=("owner",),
    checks=(Check("size_positive", "size > 0", null="passes"),),
    layout=Layout(sort_by=("id",)),
)

COPY = Table(
    "copy",
    "A copy of things, kept by their feed.",
    (Column("id", "bigint", "k"), Column("owner", "string", "o")),
    key=("id",),
)

Row = tuple[int | None, str | None, int | None]


def with_checks(*checks: Check, **changes: Any) -> Table:
    return replace(THINGS, checks=checks, **changes)


def frame(lake: Lake, rows: Sequence[Row], table: Table = THINGS) -> DataFrame:
    loose = replace(
        table,
        columns=tuple(replace(c, nullable=True) for c in table.columns),
        key=(),
        replace_by=(),
    )
    dicts = [dict(zip(table.column_names, row, strict=False)) for row in rows]
    return lake.session.createDataFrame(arrow_table(loose, dicts))


def stored(lake: Lake, table: Table | str = THINGS, version: int | None = None) -> list[tuple[Any, ...]]:
    """Every row of a table, sorted: what a digest would tell apart, and readable when a test fails."""
    reader = lake.session.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    name = table if isinstance(table, str) else table.name
    return sorted((tuple(r) for r in reader.load(lake.uri(name)).collect()), key=repr)


def new_run(lake: Lake, run_id: str = "run-1", **values: Any) -> Run:
    return Run(lake, run_id, **{"stage": "test", **values})
