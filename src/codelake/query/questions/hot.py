"""`hot`: what most others depend on."""

from __future__ import annotations

from codelake.delta.reading import text
from codelake.errors import UsageError
from codelake.query.answer import Answer
from codelake.query.engine import Asking
from codelake.query.lookups import nodes
from codelake.query.symbols import looked_up

COUNTED = {
    "callers": ("CALLER_OF", "most called, by callers"),
    "calls": ("CALLS", "most called, by calls"),
    "importers": ("IMPORTS", "most imported"),
    "subclasses": ("INHERITS", "with the most subclasses"),
}
HOT = (
    "SELECT dst, count(DISTINCT src) AS n FROM cpg_edges WHERE kind = {kind} AND confidence >= {least}{where} "
    "GROUP BY dst ORDER BY n DESC, dst LIMIT {limit}"
)
_OF_THE_LAKE = " AND dst NOT LIKE '::%'"


def hot(
    engine: Asking,
    *,
    by: str = "callers",
    outside: bool = False,
    repo: str = "",
    min_confidence: float = 0.5,
    limit: int = 20,
) -> Answer:
    """`outside`: what no repository of the lake defines is listed, too. `repo`: only what it does is counted."""
    if by not in COUNTED:
        raise UsageError(f"hot by {by}", expected=f"one of {', '.join(COUNTED)}", found=by)
    kind, title = COUNTED[by]
    where = ("" if outside else _OF_THE_LAKE) + (f" AND repo = {text(repo)}" if repo else "")
    sql = HOT.format(kind=text(kind), least=float(min_confidence), where=where, limit=int(limit))
    counted = {row["dst"]: row["n"] for row in engine.ask(sql, "cpg_edges")}
    known = nodes(engine, counted)
    rows = [{"n": n, **looked_up(node_id, known)} for node_id, n in counted.items()]
    return Answer(title, ("n", "name", "kind", "place", "repo"), rows)
