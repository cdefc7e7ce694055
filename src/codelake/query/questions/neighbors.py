"""`neighbors`: every edge of a symbol, to and from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codelake.contracts.kinds import EDGE_KINDS
from codelake.errors import UsageError
from codelake.query.answer import Answer, first, label
from codelake.query.engine import Asking
from codelake.query.lookups import Edge, edges_into, edges_out, nodes
from codelake.query.symbols import looked_up, symbol

OUTGOING = tuple(kind.name for kind in EDGE_KINDS if "s" in kind.adjacent)
INCOMING = tuple(kind.name for kind in EDGE_KINDS if "d" in kind.adjacent)
_KINDS = sorted({*OUTGOING, *INCOMING})
_COLUMNS = ("direction", "edge", "name", "kind", "place", "confidence")


def neighbors(
    engine: Asking, asked: str, *, kinds: Sequence[str] = (), min_confidence: float = 0.5, limit: int = 1000
) -> Answer:
    """Edges that people ask for node by node; not control flow and the like, which `sql` has."""
    for kind in kinds:
        if kind not in _KINDS:
            raise UsageError(f"edge {kind}", expected=f"one of {', '.join(_KINDS)}", found="no such kind")
    start = symbol(engine, asked)
    ids = [node["node_id"] for node in start]
    out, into = around(engine, ids, kinds, min_confidence)
    known = nodes(engine, (*(edge.dst for edge in out), *(edge.src for edge in into)))
    rows = [
        {
            "direction": direction,
            "edge": edge.kind,
            **looked_up(other, known),
            "confidence": edge.confidence,
            "method": edge.method,
            "of": of,
        }
        for direction, edge, of, other in (
            *(("out", edge, edge.src, edge.dst) for edge in out),
            *(("in", edge, edge.dst, edge.src) for edge in into),
        )
    ]
    shown, note = first(rows, limit)
    return Answer(f"neighbors of {label(start[0])}", _COLUMNS, shown, note=note)


def around(
    engine: Asking, ids: Iterable[str], kinds: Sequence[str], min_confidence: float
) -> tuple[list[Edge], list[Edge]]:
    """Edges from these nodes, and edges to them."""
    wanted = list(ids)
    from_here = [kind for kind in OUTGOING if not kinds or kind in kinds]
    out = edges_out(engine, wanted, from_here) if from_here else []
    into = edges_into(engine, wanted, [kind for kind in INCOMING if not kinds or kind in kinds])
    return (
        [edge for edge in out if edge.confidence >= min_confidence],
        [edge for edge in into if edge.confidence >= min_confidence],
    )
