"""`impact`: what may break if a symbol changes, and the way that leads there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelake.ids import module_id
from codelake.query.answer import Answer, label
from codelake.query.engine import Asking
from codelake.query.lookups import edges_into, edges_out, nodes
from codelake.query.questions.calls import caller_steps
from codelake.query.symbols import looked_up, symbol
from codelake.query.walks import Step, reached_row, walk

_HOW = {"OVERRIDES": "overrides", "INHERITS": "inherits", "IMPORTS": "imports", "RE_EXPORTS": "re-exports"}
_COLUMNS = ("name", "how", "place", "confidence", "repo")


def impact(engine: Asking, asked: str, *, depth: int = 3, min_confidence: float = 0.5, limit: int = 1000) -> Answer:
    """Callers, overriders, importers and subclasses, and theirs. A class changes with its methods, so that their
    callers count too."""

    def take(level: Sequence[str]) -> Iterator[Step]:
        yield from caller_steps(engine, level, min_confidence)
        for edge in edges_into(engine, level, tuple(_HOW)):
            # An import alias stands for the module that it is in.
            src = module_id(edge.src) if edge.kind == "IMPORTS" else edge.src
            if edge.confidence >= min_confidence and src != edge.dst:
                yield Step(edge.dst, src, _HOW[edge.kind], edge.confidence, edge.method)
        for edge in edges_out(engine, level, ("HAS_METHOD",)):
            yield Step(edge.src, edge.dst, "has method", edge.confidence, edge.method)

    start = symbol(engine, asked)
    found, is_cut = walk([node["node_id"] for node in start], take, depth=depth, limit=limit)
    names = nodes(engine, (node_id for each in found for node_id in each.route))
    rows = []
    for each in found:
        row = reached_row(each, looked_up(each.step.node_id, names))
        row["route"] = [looked_up(node_id, names)["name"] for node_id in each.route]
        rows.append(row)
    note = f"only the first {limit:,}; see --limit" if is_cut else ""
    return Answer(f"what depends on {label(start[0])}", _COLUMNS, rows, is_tree=True, note=note)
