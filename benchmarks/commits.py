"""A 1,000-row commit through the control plane against the bare writer, in the same session.

Both append the same DataFrame to a table with the same properties and constraints, by turns. The control
plane also takes the lock, checks protocol, schema, key, NULLs and checks, makes the commit idempotent and
reads back its own version and metrics. Bar: at most 1.3 times the bare writer.

    python benchmarks/commits.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame

from codelake.contracts import Check, Column, Layout, Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.session import session, stop
from codelake.settings import load

N_ROWS = 1_000
WARM_UP = 15

KEYED = Table(
    name="keyed",
    meaning="Rows with a key, NOT NULL columns and a check.",
    columns=(
        Column("id", "bigint", "the key"),
        Column("name", "string", "some text"),
        Column("size", "int", "a number"),
    ),
    key=("id",),
    key_scope="write",
    checks=(Check("size_positive", "size > 0"),),
)
VARIANTS = (
    KEYED,
    replace(KEYED, name="keyless", key=()),
    replace(KEYED, name="sorted", layout=Layout(sort_by=("id",))),
)


def main(rounds: int) -> None:
    spark = session(load({}))
    rows = spark.range(N_ROWS).selectExpr("id", "concat('name ', id) AS name", "int(id % 7 + 1) AS size").cache()
    rows.count()
    with tempfile.TemporaryDirectory() as folder:
        lake = create_lake(Store(str(Path(folder) / "lake")), spark)
        create_table(lake, replace(KEYED, name="bare"))
        for table in VARIANTS:
            create_table(lake, table)
            ours, bare = measured(rounds, lambda t=table: ours_once(lake, t, rows), lambda: bare_once(lake, rows))
            print(
                f"{table.name:8} through the control plane {ours * 1000:6.0f} ms, bare writer {bare * 1000:6.0f} ms, "
                f"ratio {ours / bare:.2f}  (bar 1.30, medians of {rounds})"
            )
    stop(spark)


def ours_once(lake: Lake, table: Table, rows: DataFrame) -> None:
    run = Run(lake, "benchmark", stage="append")
    commit(run, table, rows, mode="append", txn=run.txn)


def bare_once(lake: Lake, rows: DataFrame) -> None:
    rows.write.format("delta").mode("append").save(lake.uri("bare"))


def measured(rounds: int, ours: Callable[[], None], bare: Callable[[], None]) -> tuple[float, float]:
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(WARM_UP + rounds):
        for which, call in enumerate((ours, bare)):
            started = time.perf_counter()
            call()
            if i >= WARM_UP:
                times[which].append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
