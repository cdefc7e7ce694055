"""`diff`: what changed in the graph from one run to another, by file, by symbol and by edge between symbols.

What is known by its place only, a call or a literal, has another id whenever something above it changed. It is left
out: the definition that it is in counts as changed if its text did.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelake.query.answer import Answer, first, label, place
from codelake.query.engine import Asking
from codelake.query.lookups import quoted, sure
from codelake.query.published import BEFORE
from codelake.query.rows import Row
from codelake.query.source import contents

KINDS = ("module", "class", "function", "lambda", "variable", "parameter", "external_symbol")
EDGES = (
    *("DEFINES", "HAS_METHOD", "HAS_ATTRIBUTE", "INHERITS", "OVERRIDES", "RE_EXPORTS", "REFERENCES_EXTERNAL"),
    *("CALLER_OF", "IMPORTS", "HAS_TYPE", "RETURNS_TYPE"),
)
_TEXTS = ("module", "class", "function", "lambda")
_NODE = "t.node_id, t.kind, t.qualified_name, t.repo, t.path, t.start_line"
FILES = (
    "SELECT coalesce(a.repo, b.repo) AS repo, coalesce(a.path, b.path) AS path, b.digest AS was, a.digest AS digest "
    "FROM files a FULL OUTER JOIN before_files b ON a.repo = b.repo AND a.path = b.path "
    "WHERE a.repo IS NULL OR b.repo IS NULL OR coalesce(a.digest, '') <> coalesce(b.digest, '')"
)
# Both sides are filtered: most of either table is of other kinds, and of one side all ids are held in memory.
NODES = (
    f"SELECT {_NODE} FROM {{these}} t LEFT ANTI JOIN (SELECT node_id FROM {{those}} WHERE kind IN ({{kinds}})) o "
    "ON o.node_id = t.node_id WHERE t.kind IN ({kinds})"
)
_STABLE = "kind IN ({kinds}) AND start_byte IS NULL"
_EDGE = "t.edge_id, t.kind, t.src, t.dst, t.repo, t.path, t.confidence"
EDGES_ONLY = (
    f"SELECT {_EDGE} FROM (SELECT * FROM {{these}} WHERE {_STABLE}) t "
    f"LEFT ANTI JOIN (SELECT edge_id FROM {{those}} WHERE {_STABLE}) o ON o.edge_id = t.edge_id"
)
EDGES_CHANGED = (
    f"SELECT {_EDGE}, o.confidence AS was FROM (SELECT * FROM cpg_edges WHERE {_STABLE}) t "
    f"JOIN (SELECT edge_id, confidence FROM before_cpg_edges WHERE {_STABLE}) o ON o.edge_id = t.edge_id "
    "WHERE t.confidence <> o.confidence"
)
SPANS = (
    "SELECT node_id, kind, qualified_name, repo, path, start_line, start_byte, end_byte FROM {these} "
    "WHERE path IN ({paths}) AND kind IN ({kinds})"
)
_COLUMNS = ("change", "what", "name", "place", "repo")


def diff(engine: Asking, *, title: str = "what changed", limit: int = 1000) -> Answer:
    """The engine has the later run's tables, and the earlier ones' as `before_...`."""
    files = engine.ask(FILES, "files", f"{BEFORE}files")
    rows = [*_files(files), *_nodes(engine), *_changed_texts(engine, files), *_edges(engine)]
    rows.sort(key=lambda row: (_ORDER.index(row["what"]), row["repo"], row["path"], row["name"], row["change"]))
    shown, note = first(rows, limit)
    return Answer(title, _COLUMNS, shown, note=note)


_ORDER = ("file", *KINDS, *EDGES)


def _row(change: str, what: str, name: str, row: Row, **more: object) -> Row:
    line = row.get("start_line")
    where = {"repo": row["repo"], "path": row["path"], "line": line, "place": place(row["path"], line)}
    return {"change": change, "what": what, "name": name, **where, **more}


def _files(files: list[Row]) -> Iterator[Row]:
    for row in files:
        change = "added" if row["was"] is None else "removed" if row["digest"] is None else "changed"
        yield _row(change, "file", row["path"], row, id=f"{row['repo']}:{row['path']}")


def _nodes(engine: Asking) -> Iterator[Row]:
    for change, these, those in (
        ("added", "cpg_nodes", f"{BEFORE}cpg_nodes"),
        ("removed", f"{BEFORE}cpg_nodes", "cpg_nodes"),
    ):
        for row in engine.ask(NODES.format(these=these, those=those, kinds=quoted(KINDS)), these, those):
            yield _row(change, row["kind"], label(row), row, id=row["node_id"])


def _changed_texts(engine: Asking, files: list[Row]) -> Iterator[Row]:
    """Definitions of changed files that are in both runs, with another text."""
    changed = [row for row in files if row["was"] and row["digest"]]
    if not changed:
        return
    was = _spans(engine, BEFORE, changed, "was")
    now = _spans(engine, "", changed, "digest")
    for node_id, (row, source) in now.items():
        if node_id in was and was[node_id][1] != source:
            yield _row("changed", row["kind"], label(row), row, id=node_id)


def _spans(engine: Asking, run: str, changed: list[Row], digest: str) -> dict[str, tuple[Row, bytes]]:
    digests = {(row["repo"], row["path"]): row[digest] for row in changed}
    raw = contents(engine, digests.values(), blobs=f"{run}blobs")
    nodes = f"{run}cpg_nodes"
    paths = quoted(path for _, path in digests)
    found = {}
    for row in engine.ask(SPANS.format(these=nodes, paths=paths, kinds=quoted(_TEXTS)), nodes):
        if (where := (row["repo"], row["path"])) in digests:
            found[row["node_id"]] = row, raw[digests[where]][row["start_byte"] : row["end_byte"]]
    return found


def _edges(engine: Asking) -> Iterator[Row]:
    kinds = quoted(EDGES)
    names = ("cpg_edges", f"{BEFORE}cpg_edges")
    for change, (these, those) in (("added", names), ("removed", names[::-1])):
        for row in engine.ask(EDGES_ONLY.format(these=these, those=those, kinds=kinds), these, those):
            yield _edge(change, row)
    for row in engine.ask(EDGES_CHANGED.format(kinds=kinds), *names):
        yield _edge("changed", row, was=sure(row["was"]))


def _edge(change: str, row: Row, **more: object) -> Row:
    how = {"src": row["src"], "dst": row["dst"], "confidence": sure(row["confidence"])}
    return _row(change, row["kind"], f"{row['src']} {row['kind']} {row['dst']}", row, id=row["edge_id"], **how, **more)
