"""Questions to pinned tables, answered in this process by deltalake's own engine: for what a build looks up and counts,
Spark would take longer to plan than the answer takes."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from deltalake import QueryBuilder

from codelake.contracts.operations import SCANS
from codelake.contracts.table import Table
from codelake.delta.plain import plain
from codelake.delta.reading import among, text
from codelake.delta.run import Run, pinned_log

__all__ = ["among", "ask", "text"]


def ask(run: Run, tables: Iterable[Table], sql: str) -> pa.Table:
    """`sql` over these tables, each by its name and as the run has pinned it."""
    engine = QueryBuilder()
    for table in tables:
        log = pinned_log(run, table)
        n_files = log.files.num_rows  # paths that leave the table are refused here
        engine.register(table.name, log.delta_table)
        run.note(
            SCANS,
            table_name=table.name,
            version=log.version,
            stage=run.stage,
            filter=None,
            n_files=n_files,
            n_candidates=n_files,
            n_pruned=0,
            n_bytes=log.n_bytes,
            n_rows=None,
            from_version=None,
            options={"engine": "embedded", "sql": sql},
        )
    return plain(pa.table(engine.execute(sql).read_all()))
