"""`path`: how one symbol reaches another."""

from __future__ import annotations

from collections.abc import Collection

from codelake.errors import UsageError
from codelake.query.answer import Answer, label
from codelake.query.engine import Asking
from codelake.query.lookups import Edge, edges_into, edges_out, nodes
from codelake.query.symbols import looked_up, symbol

STEPS = {
    "calls": ("CALLER_OF",),
    "imports": ("IMPORTS",),
    "inherits": ("INHERITS",),
    "any": ("CALLER_OF", "IMPORTS", "INHERITS", "OVERRIDES", "DEFINES", "HAS_METHOD"),
}
_COLUMNS = ("step", "name", "kind", "place", "confidence", "repo")


def path(
    engine: Asking, asked: str, target: str, *, by: str = "calls", depth: int = 12, min_confidence: float = 0.5
) -> Answer:
    """One of the shortest ways, looked for from both ends: from whichever has fewer nodes to go on from."""
    if by not in STEPS:
        raise UsageError(f"path by {by}", expected=f"one of {', '.join(STEPS)}", found=by)
    start, goal = symbol(engine, asked), symbol(engine, target)
    way = _shortest(
        engine,
        {node["node_id"] for node in start},
        {node["node_id"] for node in goal},
        STEPS[by],
        depth,
        min_confidence,
    )
    title = f"how {label(start[0])} reaches {label(goal[0])}"
    if way is None:
        return Answer(title, _COLUMNS, (), note=f"no way of {depth} steps or fewer by {by}")
    ids = [way[0].src, *(edge.dst for edge in way)] if way else [start[0]["node_id"]]
    known = nodes(engine, ids)
    rows = [
        {
            "step": "" if edge is None else edge.kind,
            **looked_up(node_id, known),
            "confidence": None if edge is None else edge.confidence,
            "method": None if edge is None else edge.method,
        }
        for node_id, edge in zip(ids, (None, *way), strict=True)
    ]
    return Answer(title, _COLUMNS, rows)


def _shortest(
    engine: Asking, start: set[str], goal: set[str], kinds: Collection[str], depth: int, least: float
) -> list[Edge] | None:
    if start & goal:
        return []
    after: dict[str, Edge] = {}
    """The edge by which a node was first reached from the start."""
    before: dict[str, Edge] = {}
    """The edge by which a node first reaches the goal."""
    ahead, behind = set(start), set(goal)
    for _ in range(depth):
        if not ahead or not behind:
            return None
        if len(ahead) <= len(behind):
            found = [edge for edge in edges_out(engine, ahead, kinds) if edge.confidence >= least]
            ahead = set()
            for edge in found:
                if edge.dst not in after and edge.dst not in start:
                    after[edge.dst] = edge
                    ahead.add(edge.dst)
        else:
            found = [edge for edge in edges_into(engine, behind, kinds) if edge.confidence >= least]
            behind = set()
            for edge in found:
                if edge.src not in before and edge.src not in goal:
                    before[edge.src] = edge
                    behind.add(edge.src)
        met = (start | after.keys()) & (goal | before.keys())
        if met:
            return _joined(min(met), start, goal, after, before)
    return None


def _joined(
    middle: str, start: set[str], goal: set[str], after: dict[str, Edge], before: dict[str, Edge]
) -> list[Edge]:
    way: list[Edge] = []
    node = middle
    while node not in start:
        way.insert(0, after[node])
        node = after[node].src
    node = middle
    while node not in goal:
        way.append(before[node])
        node = before[node].dst
    return way
