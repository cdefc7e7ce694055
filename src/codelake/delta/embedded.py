"""Questions to pinned tables, answered in this process by deltalake's own engine: for what a build counts of tables
that it has just committed, Spark would take longer to plan than the answer takes."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from deltalake import QueryBuilder

from codelake.contracts.table import Table
from codelake.delta.run import Run, pin


def ask(run: Run, tables: Iterable[Table], sql: str) -> pa.Table:
    """`sql` over these tables, each by its name and as the run has pinned it."""
    engine = QueryBuilder()
    for table in tables:
        log = run.lake.log(table.name, version=pin(run, table).version)
        log.files.num_rows  # noqa: B018  paths that leave the table are refused here
        engine.register(table.name, log.delta_table)
    return pa.table(engine.execute(sql).read_all())
