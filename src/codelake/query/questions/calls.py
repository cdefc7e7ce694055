"""`callers` and `callees`: who calls a symbol, and what it calls, to a depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelake.contracts.kinds import EDGE_KINDS
from codelake.query.answer import Answer, label, place
from codelake.query.engine import Asking
from codelake.query.lookups import call_sites, calls_made, edges_into, edges_out, nodes
from codelake.query.symbols import looked_up, symbol
from codelake.query.walks import Step, reached_row, walk

_COLUMNS = ("name", "place", "confidence", "method", "repo")
_CALLER_OF = next(kind for kind in EDGE_KINDS if kind.name == "CALLER_OF")


def callers(
    engine: Asking, asked: str, *, depth: int = 1, min_confidence: float = 0.5, repo: str = "", limit: int = 1000
) -> Answer:
    """Definitions whose code calls the symbol, each with the lines of its calls."""

    def take(level: Sequence[str]) -> Iterator[Step]:
        yield from caller_steps(engine, level, min_confidence)

    start = symbol(engine, asked)
    found, is_cut = walk([node["node_id"] for node in start], take, depth=depth, limit=limit)
    known = nodes(engine, (each.step.node_id for each in found), _CALLER_OF.src)
    rows = []
    for each in found:
        row = reached_row(each, looked_up(each.step.node_id, known))
        # An editor opens the call, not the definition that it is in.
        row["line"] = row["sites"][0] if row["sites"] else row["line"]
        row["place"] = place(row["path"], row["line"])
        rows.append(row)
    rows = [row for row in rows if not repo or row["repo"] == repo]
    return Answer(f"callers of {label(start[0])}", _COLUMNS, rows, is_tree=True, note=_cut(is_cut, limit))


def callees(
    engine: Asking, asked: str, *, depth: int = 1, min_confidence: float = 0.5, repo: str = "", limit: int = 1000
) -> Answer:
    """What the symbol's code calls, each with the lines where it does."""

    def take(level: Sequence[str]) -> Iterator[Step]:
        yield from callee_steps(engine, level, min_confidence)

    start = symbol(engine, asked)
    found, is_cut = walk([node["node_id"] for node in start], take, depth=depth, limit=limit)
    known = nodes(engine, (each.step.node_id for each in found), _CALLER_OF.dst)
    rows = [reached_row(each, looked_up(each.step.node_id, known)) for each in found]
    rows = [row for row in rows if not repo or row["repo"] == repo]
    return Answer(f"callees of {label(start[0])}", _COLUMNS, rows, is_tree=True, note=_cut(is_cut, limit))


def caller_steps(engine: Asking, level: Sequence[str], min_confidence: float) -> Iterator[Step]:
    found = edges_into(engine, level, ("CALLER_OF", "CALLS"))
    at = call_sites(engine, (edge.src for edge in found if edge.kind == "CALLS"))
    lines: dict[tuple[str, str], list[int]] = {}
    for edge in found:
        if edge.kind == "CALLS" and edge.src in at and edge.confidence >= min_confidence:
            lines.setdefault((at[edge.src]["caller"], edge.dst), []).append(at[edge.src]["start_line"])
    for edge in found:
        if edge.kind == "CALLER_OF" and edge.confidence >= min_confidence:
            sites = tuple(sorted(lines.get((edge.src, edge.dst), ())))
            yield Step(edge.dst, edge.src, "calls", edge.confidence, edge.method, sites)


def callee_steps(engine: Asking, level: Sequence[str], min_confidence: float) -> Iterator[Step]:
    lines = calls_made(engine, level)
    for edge in edges_out(engine, level, ("CALLER_OF",)):
        if edge.confidence >= min_confidence:
            sites = tuple(lines.get((edge.src, edge.dst), ()))
            yield Step(edge.src, edge.dst, "called by", edge.confidence, edge.method, sites)


def _cut(is_cut: bool, limit: int) -> str:
    return f"only the first {limit:,}; see --limit" if is_cut else ""
