"""How the graph of one published run differs from that of another, asked of deltalake's engine.

Only places whose links differ are looked at: elsewhere the graph is the same, unless codelake itself is another. Nodes
and edges are compared by their ids. What has its place as id, such as a call, is another one when text above it grows;
unresolved calls are therefore compared by who calls what. `codelake diff` compares whole tables, and says more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, LINKS
from codelake.contracts.sources import FILES
from codelake.contracts.table import Table
from codelake.delta.embedded import among, ask
from codelake.delta.lake import Lake
from codelake.delta.run import Run, pin
from codelake.delta.runs import PublishedRun
from codelake.extract.sources.paths import folders_of
from codelake.pipeline.lookup import at, is_empty
from codelake.pipeline.work import OUTSIDE, Place

_READ = (FILES, LINKS, CPG_NODES, CPG_EDGES, CALLS)
_MANY = 500
"""Places from which on their repositories are read, instead of looking for each of them."""

Row = dict[str, Any]
Counts = dict[str, dict[str, int]]
"""`added` and `removed`: how many of each kind."""


class Difference(NamedTuple):
    files: list[Row]
    """`change` (added, changed or removed), repo, path, status and reason."""
    nodes: Counts
    edges: Counts
    definitions: list[Row]
    """Functions, classes and modules that came or went: `change`, kind, qualified_name, path."""
    unresolved: list[Row]
    """Calls that nothing is known of and that were not there before: repo, path, start_line, callee_text, reason."""


def difference(lake: Lake, before: PublishedRun | None, after: PublishedRun) -> Difference:
    """Without `before`, all that `after` has."""
    old, new = _reader(lake, before, after), _reader(lake, after, after)
    where = "true" if is_empty(old, LINKS) else _within(_places(old, new))
    return Difference(
        files=_files(old, new),
        nodes=_counts(old, new, CPG_NODES, "node_id", where),
        edges=_counts(old, new, CPG_EDGES, "edge_id", where),
        definitions=_definitions(old, new, where),
        unresolved=_unresolved(old, new, where),
    )


def _reader(lake: Lake, published: PublishedRun | None, after: PublishedRun) -> Run:
    """A run that reads the tables as they were published; before anything was, as they were created: empty."""
    run = Run(lake, published.run_id if published else f"before {after.run_id}", stage="difference")
    for table in _READ:
        pin(run, table, at=published.versions[table.name] if published else 0)
    return run


def _rows(run: Run, table: Table, sql: str) -> list[Row]:
    return [] if is_empty(run, table) else ask(run, (table,), sql).to_pylist()


def _places(old: Run, new: Run) -> set[Place]:
    sql = "SELECT repo, path, digest, module, found_digest FROM links"
    differing = {tuple(row.values()) for row in _rows(old, LINKS, sql)} ^ {
        tuple(row.values()) for row in _rows(new, LINKS, sql)
    }
    files = {(repo, path) for repo, path, *_ in differing}
    folders = {(repo, f"{folder}/") for repo, path in files for folder in folders_of(path)}
    return {*files, *folders, *((repo, "") for repo, _ in files), OUTSIDE}


def _within(places: Iterable[Place]) -> str:
    found = sorted(places)
    return at(found) if len(found) < _MANY else among("repo", sorted({place[0] for place in found}))


def _files(old: Run, new: Run) -> list[Row]:
    sql = "SELECT repo, path, digest, module, status, reason FROM files"
    was, now = ({(row["repo"], row["path"]): row for row in _rows(run, FILES, sql)} for run in (old, new))
    found = []
    for place in sorted({*was, *now}):
        if was.get(place) != now.get(place):
            row = now.get(place) or was[place]
            change = "removed" if place not in now else "changed" if place in was else "added"
            found.append({"change": change, **{name: row[name] for name in ("repo", "path", "status", "reason")}})
    return found


def _counts(old: Run, new: Run, table: Table, key: str, where: str) -> Counts:
    if is_empty(old, table):
        counted = f"SELECT kind, count(*) AS n FROM {table.name} WHERE {where} GROUP BY kind ORDER BY kind"
        return {"added": {row["kind"]: row["n"] for row in _rows(new, table, counted)}, "removed": {}}
    sql = f"SELECT {key} AS id, kind FROM {table.name} WHERE {where}"
    was, now = ({row["id"]: row["kind"] for row in _rows(run, table, sql)} for run in (old, new))
    return {"added": _of_kinds(now, was), "removed": _of_kinds(was, now)}


def _of_kinds(some: dict[str, str], others: dict[str, str]) -> dict[str, int]:
    return dict(sorted(Counter(kind for id_, kind in some.items() if id_ not in others).items()))


def _definitions(old: Run, new: Run, where: str) -> list[Row]:
    sql = f"""SELECT kind, qualified_name, path FROM cpg_nodes
        WHERE kind IN ('module', 'class', 'function') AND ({where})"""
    was, now = ({tuple(row.values()): row for row in _rows(run, CPG_NODES, sql)} for run in (old, new))
    changes = [("added", now[key]) for key in now if key not in was]
    changes += [("removed", was[key]) for key in was if key not in now]
    rows = [{"change": change, **row} for change, row in changes]
    return sorted(rows, key=lambda row: (row["path"], str(row["qualified_name"]), row["change"]))


def _unresolved(old: Run, new: Run, where: str) -> list[Row]:
    sql = f"""SELECT repo, path, start_line, caller, callee_text, reason FROM calls
        WHERE reason IS NOT NULL AND ({where}) ORDER BY repo, path, start_line"""
    known = Counter(_call(row) for row in _rows(old, CALLS, sql))
    found = []
    for row in _rows(new, CALLS, sql):
        if known[_call(row)]:
            known[_call(row)] -= 1
        else:
            found.append({name: row[name] for name in row if name != "caller"})
    return found


def _call(row: Row) -> tuple[str, ...]:
    return row["caller"], row["callee_text"], row["reason"]
