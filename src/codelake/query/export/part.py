"""What is exported: nodes and edges, counted as they pass."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from codelake.delta.reading import engine_failures
from codelake.errors import UsageError
from codelake.query.engine import Engine
from codelake.query.lookups import Edge, nodes, quoted, sure
from codelake.query.questions.calls import callee_steps, caller_steps
from codelake.query.questions.diff import EDGES
from codelake.query.questions.neighbors import around as edges_around
from codelake.query.rows import Row, rows_of
from codelake.query.symbols import KINDS, symbol
from codelake.query.walks import walk

NODE_COLUMNS = (
    *("node_id", "kind", "name", "qualified_name", "repo", "path"),
    *("start_line", "end_line", "start_byte", "end_byte"),
)
EDGE_COLUMNS = ("kind", "src", "dst", "repo", "path", "start_byte", "end_byte", "confidence", "method")
TREES = {"callers": caller_steps, "callees": callee_steps}
"""What may be drawn of a symbol instead of all that lies around it."""
_NODES = f"SELECT {', '.join(NODE_COLUMNS)} FROM cpg_nodes"
_EDGES = f"SELECT {', '.join(EDGE_COLUMNS)} FROM cpg_edges"


class Part:
    """Nodes are to be read before edges, and each once."""

    def __init__(self, nodes: Iterable[Row], edges: Iterable[Row]) -> None:
        self._nodes = nodes
        self._edges = edges
        self.n_nodes = 0
        self.n_edges = 0

    def nodes(self) -> Iterator[Row]:
        for row in self._nodes:
            self.n_nodes += 1
            yield row

    def edges(self) -> Iterator[Row]:
        for row in self._edges:
            self.n_edges += 1
            yield row


def whole(engine: Engine, *, symbols: bool) -> Part:
    which = f" WHERE kind IN ({quoted((*KINDS, 'type'))})" if symbols else ""
    between = f" WHERE kind IN ({quoted(EDGES)}) AND start_byte IS NULL" if symbols else ""
    return Part(_streamed(engine, _NODES + which, "cpg_nodes"), _streamed(engine, _EDGES + between, "cpg_edges"))


def near(engine: Engine, asked: str, depth: int, tree: str = "") -> Part:
    """What lies within `depth` steps of a symbol: in either direction, or only who calls it or what it calls."""
    if not tree:
        return _neighbourhood(engine, asked, depth)
    if tree not in TREES:
        raise UsageError(f"tree {tree}", expected=f"one of {', '.join(TREES)}", found="no such tree")
    return _call_tree(engine, asked, depth, tree)


def _neighbourhood(engine: Engine, asked: str, depth: int) -> Part:
    """Nodes with the edges by which they were reached."""
    level = {node["node_id"] for node in symbol(engine, asked)}
    seen, found = set(level), set[Edge]()
    for _ in range(depth):
        out, into = edges_around(engine, level, (), 0.5)
        found.update(out, into)
        level = {end for edge in (*out, *into) for end in (edge.src, edge.dst)} - seen
        seen |= level
    known = nodes(engine, seen)
    kept = sorted(edge for edge in found if edge.src in known and edge.dst in known)
    rows = [{name: node[name] for name in NODE_COLUMNS} for _, node in sorted(known.items())]
    return Part(rows, [{name: getattr(edge, name) for name in EDGE_COLUMNS} for edge in kept])


def _call_tree(engine: Engine, asked: str, depth: int, tree: str) -> Part:
    """What the question of that name answers with, in the order of its tree: each node once, by the surest way."""
    start = [node["node_id"] for node in symbol(engine, asked)]
    found, _ = walk(start, lambda level: TREES[tree](engine, level, 0.5), depth=depth, limit=sys.maxsize)
    steps = [each.step for each in found]
    ids = [*start, *(step.node_id for step in steps)]
    known = nodes(engine, ids)
    rows = [{name: known[node_id][name] for name in NODE_COLUMNS} for node_id in ids if node_id in known]
    ends = [(step, *((step.node_id, step.of) if tree == "callers" else (step.of, step.node_id))) for step in steps]
    edges = [
        {
            **dict.fromkeys(EDGE_COLUMNS),
            "kind": "CALLER_OF",
            "src": src,
            "dst": dst,
            "repo": known[src]["repo"],
            "path": known[src]["path"],
            "confidence": step.confidence,
            "method": step.method,
        }
        for step, src, dst in ends
        if src in known and dst in known
    ]
    return Part(rows, edges)


def _streamed(engine: Engine, sql: str, name: str) -> Iterator[Row]:
    with engine_failures():
        for batch in engine.stream(sql, name):
            for row in rows_of(batch):
                if "confidence" in row:
                    row["confidence"] = sure(row["confidence"])
                yield row
