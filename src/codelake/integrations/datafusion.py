"""Tables and change feeds of a lake in a DataFusion `SessionContext` of one's own.

    from datafusion import SessionContext

    from codelake.delta.lake import open_lake
    from codelake.delta.store import Store
    from codelake.integrations.datafusion import register, register_changes

    lake = open_lake(Store(".codelake"))
    context = SessionContext()
    register(context, lake, "cpg_nodes")
    register_changes(context, lake, "cpg_edges", after=1, name="edge_changes")
    context.sql("SELECT kind, count(*) FROM cpg_nodes GROUP BY kind").show()
    context.sql("SELECT _change_type, count(*) FROM edge_changes GROUP BY _change_type").show()

Tables come in through Delta's own provider, which reads only the columns that are asked for; filters are applied by
DataFusion, behind it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.dataset as ds
from datafusion import SessionContext

from codelake.delta.changes import misread, require_feed
from codelake.delta.lake import Lake
from codelake.delta.run import At, resolved
from codelake.errors import FeedUnavailable


def register(context: SessionContext, lake: Lake, table: str, *, at: At = None, name: str | None = None) -> int:
    """The table as of `at`, under `name`. Returns the version."""
    log = resolved(lake, table, at)
    log.require_files()
    context.register_table(name or table, log.delta_table)
    return log.version


def register_changes(
    context: SessionContext,
    lake: Lake,
    table: str,
    *,
    after: int,
    until: int | None = None,
    name: str | None = None,
) -> None:
    """What happened to the table after a version, with `_change_type`, `_commit_version` and `_commit_timestamp`."""
    log = lake.log(table)
    last = log.version if until is None else until
    require_feed(log, after + 1, last)
    if (version := misread(log, after + 1, last)) is not None:
        raise FeedUnavailable(
            f"change feed of {table}, version {version}",
            expected="files that came or went without deletion vectors",
            found="one with",
            do="Read it with Spark, or leave that version out of the window.",
        )
    feed = log.delta_table.load_cdf(starting_version=after + 1, ending_version=last)
    context.register_dataset(name or f"{table}_changes", ds.dataset(pa.table(feed.read_all())))
