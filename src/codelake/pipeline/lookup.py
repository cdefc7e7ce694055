"""Which contents a table knows: asked once for many of them, not one by one."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import functions as F

from codelake.contracts import Table
from codelake.delta.run import Run, pin
from codelake.delta.scan import scan


def rows_of(run: Run, table: Table, digests: Collection[str], *columns: str, where: str | None = None) -> pa.Table:
    """`columns` of the rows that have one of the digests, at the run's pin."""
    if not digests or is_empty(run, table):
        return pa.table({column: pa.array([]) for column in columns})
    asked = run.lake.session.createDataFrame(pa.table({"digest": pa.array(digests, pa.string())}))
    rows = scan(run, table, where=where).select("digest", *(c for c in columns if c != "digest"))
    return rows.join(F.broadcast(asked), on="digest", how="left_semi").select(*columns).toArrow()


def is_empty(run: Run, table: Table) -> bool:
    """Known from the log: a first build need not ask Spark for what cannot be there."""
    version = pin(run, table).version
    return bool(run.lake.log(table.name, version=version).files.num_rows == 0)
