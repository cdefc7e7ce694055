"""The stage `graph`: what was linked since the last time, rendered as nodes, edges and properties.

All tables are rendered at once and committed one by one. How far the feed of `links` was read for the last of them says
how far the whole graph is: a build that dies before that renders the same repositories again.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.graph import CALLS, CLASSES, CPG_EDGES, CPG_EDGES_BY_DST, CPG_NODES, EXTERNAL_SYMBOLS, LINKS
from codelake.contracts.sources import DISTRIBUTIONS, FILES
from codelake.delta.changes import changes, cursor, window
from codelake.delta.create import sql_text
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.graph.externals import external_symbols
from codelake.graph.rendered import rendered, rows_of
from codelake.pipeline.linking import present_evidence
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.work import Build

_PART_BYTES = 8 << 20
"""Source bytes whose evidence and links one task holds."""
_IN_ORDER = (CPG_NODES, CALLS, CLASSES, CPG_EDGES, CPG_EDGES_BY_DST)
"""The last says how far the graph is."""
_OUTSIDE = ""
"""The repo of what is outside of the lake."""


def render_graph(build: Build) -> None:
    repos = _linked_since(build.run)
    if not repos:
        return
    build.rendered = repos
    run = build.run
    within = f"repo IN ({', '.join(map(sql_text, repos))})"
    files, found = scan(run, FILES, where=within), scan(run, LINKS, where=within)
    _commit(build, EXTERNAL_SYMBOLS, repos, external_symbols(found, scan(run, DISTRIBUTIONS, where=within)))
    n_parts = max(2, -(-_source_bytes(build) // _PART_BYTES))
    packed = rendered(files, present_evidence(run), found, scan(run, EXTERNAL_SYMBOLS), n_parts=n_parts)
    packed.persist(StorageLevel.DISK_ONLY)
    try:
        for table in _IN_ORDER:
            replaced = [*repos, _OUTSIDE] if table is CPG_NODES else repos
            _commit(build, table, replaced, rows_of(packed, table))
    finally:
        packed.unpersist()


def _source_bytes(build: Build) -> int:
    """Of the repositories that are built now. Others that are rendered again, because they need these, are not counted:
    a question to Spark would cost more than tasks of another size do."""
    return sum(file.n_bytes for listed in build.reading.listed for file in listed.files if file.digest is not None)


def _linked_since(run: Run) -> list[str]:
    """Repositories whose links have changed since the graph was last committed."""
    if is_empty(run, LINKS):
        return []
    after = cursor(run, reader=run.stage, source=LINKS, into=CPG_EDGES_BY_DST)
    if after is None:
        return _names(scan(run, LINKS))
    return [] if window(run, LINKS, after=after).is_empty else _names(changes(run, LINKS, after=after))


def _names(rows: DataFrame) -> list[str]:
    return sorted(row.repo for row in rows.select("repo").distinct().collect())


def _commit(build: Build, table: Table, repos: Collection[str], rows: DataFrame) -> None:
    """`rows` in the place of all that the table has of the repositories."""

    def plan(run: Run) -> Plan:
        if is_empty(run, table):
            return rows, {"mode": "append"}
        return rows, {"mode": "replace", "replacing": [(repo,) for repo in repos]}

    version = build.run.pins[LINKS.name].version
    build.committed(commit_planned(build.run, table, plan, from_pin=True, cursors={LINKS.name: version}))
