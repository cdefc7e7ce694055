"""`find`: definitions by name."""

from __future__ import annotations

from collections.abc import Sequence

from codelake.contracts.kinds import NODE_KINDS
from codelake.errors import UsageError
from codelake.query.answer import Answer, first
from codelake.query.engine import Asking
from codelake.query.symbols import defined, is_pattern, matching, named, nearest, unknown

KINDS = ("module", "class", "function", "lambda", "variable", "external_symbol")
"""What is looked for if no kind is named: parameters would drown the rest."""
_ALL = tuple(kind.name for kind in NODE_KINDS)
_COLUMNS = ("name", "kind", "place", "repo")


def find(
    engine: Asking, name: str, *, kinds: Sequence[str] = (), repo: str = "", fuzzy: bool = False, limit: int = 100
) -> Answer:
    """Definitions with that qualified name or whose names end so; with * and ? in it, those that fit; `fuzzy`: those
    that differ least."""
    for kind in kinds:
        if kind not in _ALL:
            raise UsageError(f"kind {kind}", expected=f"one of {', '.join(_ALL)}", found="no such kind of node")
    wanted = tuple(kinds) or KINDS
    if fuzzy:
        found = nearest(engine, name, kinds=wanted, limit=limit)
    elif is_pattern(name):
        found = matching(engine, name, kinds=wanted)
    else:
        found = named(engine, name, kinds=wanted)
    rows = [defined(node) for node in found if not repo or node["repo"] == repo]
    if not found and not fuzzy and not is_pattern(name):
        raise unknown(engine, name, kinds=wanted)
    shown, note = first(rows, limit)
    return Answer(f"definitions of {name}", _COLUMNS, shown, note=note)
