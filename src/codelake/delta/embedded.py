"""Questions to pinned tables, answered in this process by deltalake's own engine: for what a build looks up and counts,
Spark would take longer to plan than the answer takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from codelake.contracts.operations import SCANS
from codelake.contracts.table import Table
from codelake.delta.plain import plain
from codelake.delta.reading import among, any_of, engine_failures, text
from codelake.delta.run import Run, pinned_log

__all__ = ["among", "any_of", "ask", "batches", "rows", "text"]


def batches(tables: Mapping[str, DeltaTable], sql: str) -> Iterator[pa.RecordBatch]:
    """The rows of `sql` over these tables, as they come. Each is known by its name here."""
    engine = _engine(tables)
    with engine_failures():
        yield from map(pa.record_batch, engine.execute(sql))


def rows(tables: Mapping[str, DeltaTable], sql: str) -> pa.Table:
    """All of them at once."""
    engine = _engine(tables)
    with engine_failures():
        return plain(pa.table(engine.execute(sql).read_all()))


def _engine(tables: Mapping[str, DeltaTable]) -> QueryBuilder:
    engine = QueryBuilder()
    for name, table in tables.items():
        engine.register(name, table)
    return engine


def ask(run: Run, tables: Iterable[Table], sql: str) -> pa.Table:
    """`sql` over these tables, each by its name and as the run has pinned it."""
    known = {}
    for table in tables:
        log = pinned_log(run, table)
        n_files = log.files.num_rows  # paths that leave the table are refused here
        known[table.name] = log.delta_table
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
    return rows(known, sql)
