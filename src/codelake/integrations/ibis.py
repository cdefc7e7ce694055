"""Ibis on a lake: tables at pins, and expressions written back through the one function that commits.

    from codelake.contracts import Column, Table
    from codelake.contracts.graph import CPG_EDGES
    from codelake.delta.create import create_table
    from codelake.delta.lake import open_lake
    from codelake.delta.run import Run
    from codelake.delta.store import Store
    from codelake.integrations.ibis import read, write
    from codelake.session import session
    from codelake.settings import load

    columns = Column("dst", "string", "what is called"), Column("n", "bigint", "by how many calls")
    CALLED = Table("called", "How often things are called.", columns, key=("dst",))

    lake = open_lake(Store(".codelake"), session(load()))
    run = Run(lake, "called-1", stage="count")
    calls = read(run, CPG_EDGES, where="kind = 'CALLS'")
    create_table(lake, CALLED)
    write(run, CALLED, calls.group_by("dst").agg(n=calls.count()), mode="overwrite")

Rows are read at the versions that the run has pinned, by deltalake's own engine; expressions run on Ibis's default,
DuckDB, in this process. `columns` and `where` leave out what is not needed before it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis

from codelake.contracts.table import Table
from codelake.delta.embedded import ask
from codelake.delta.run import Run
from codelake.delta.write import Committed, Mode, commit


def read(run: Run, table: Table, *, columns: Sequence[str] = (), where: str = "true") -> ibis.Table:
    selected = ", ".join(columns) or "*"
    rows = ask(run, (table,), f"SELECT {selected} FROM {table.name} WHERE {where}")
    return ibis.memtable(rows)


def write(run: Run, table: Table, rows: ibis.Table, *, mode: Mode, **options: Any) -> Committed:
    """The rows of an expression, committed with gates and all; needs a lake with a Spark session."""
    return commit(
        run, table, run.lake.session.createDataFrame(rows.to_pyarrow().combine_chunks()), mode=mode, **options
    )
