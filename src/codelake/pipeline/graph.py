"""The stage `graph`: what was linked since the last time, rendered as nodes, edges and properties.

Adjacency follows from the edges, and is committed last. How far the feed of `links` was read for it says how far the
whole graph is: a build that dies before that renders the same repositories again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from codelake.contracts import Table
from codelake.contracts.graph import (
    CALLS,
    CLASSES,
    CPG_EDGES,
    CPG_EDGES_BY_DST,
    CPG_EDGES_BY_SRC,
    CPG_NODES,
    CPG_PROPS,
    CPG_PROPS_MAP,
    EXTERNAL_SYMBOLS,
    LINKS,
)
from codelake.contracts.sources import DISTRIBUTIONS, FILES
from codelake.delta.changes import changes, cursor, window
from codelake.delta.create import sql_text
from codelake.delta.planned import Plan, commit_planned
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.graph.adjacency import adjacency
from codelake.graph.edges import cpg_edges
from codelake.graph.facts import calls, classes, external_symbols
from codelake.graph.files import whole_files
from codelake.graph.nodes import cpg_nodes, outside_nodes
from codelake.graph.props import cpg_props, cpg_props_map, outside_props, outside_props_map
from codelake.pipeline.linking import present_evidence
from codelake.pipeline.lookup import is_empty
from codelake.pipeline.work import Build

_PART_BYTES = 8 << 20
"""Source bytes whose evidence and links one task holds."""
_OUTSIDE = ""
"""The repo of what is outside of the lake."""

Render = Callable[[DataFrame, DataFrame], DataFrame]
"""From whole files, and all files of their repositories, to rows of a table."""

_OUTSIDE_TOO: tuple[tuple[Table, Render, Callable[[DataFrame], DataFrame]], ...] = (
    (CPG_NODES, cpg_nodes, outside_nodes),
    (CPG_PROPS, cpg_props, outside_props),
    (CPG_PROPS_MAP, cpg_props_map, outside_props_map),
)
_OF_FILES: tuple[tuple[Table, Render], ...] = (
    (CALLS, lambda whole, files: calls(whole)),
    (CLASSES, lambda whole, files: classes(whole)),
    (CPG_EDGES, cpg_edges),
)


def render_graph(build: Build) -> None:
    repos = _linked_since(build.run)
    if not repos:
        return
    run = build.run
    within = f"repo IN ({', '.join(map(sql_text, repos))})"
    files, found = scan(run, FILES, where=within), scan(run, LINKS, where=within)
    _commit(build, EXTERNAL_SYMBOLS, repos, external_symbols(found, scan(run, DISTRIBUTIONS, where=within)))
    n_bytes = files.agg({"n_bytes": "sum"}).collect()[0][0] or 0
    n_parts = max(2, -(-n_bytes // _PART_BYTES))
    whole = whole_files(files, present_evidence(run), found, n_parts=n_parts)
    whole.persist(StorageLevel.MEMORY_AND_DISK_DESER)
    try:
        for table, render, render_outside in _OUTSIDE_TOO:
            rows = render(whole, files).unionByName(render_outside(scan(run, EXTERNAL_SYMBOLS)))
            _commit(build, table, [*repos, _OUTSIDE], rows.coalesce(n_parts))
        for table, render in _OF_FILES:
            _commit(build, table, repos, render(whole, files).coalesce(n_parts))
    finally:
        whole.unpersist()
    edges = scan(run, CPG_EDGES, where=within)
    _commit(build, CPG_EDGES_BY_SRC, repos, adjacency(edges, side="src"))
    _commit(build, CPG_EDGES_BY_DST, repos, adjacency(edges, side="dst"))


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
