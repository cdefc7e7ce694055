"""A rule: one kind of edge (or a few that belong together), as passes over the nested columns of a file.

`codelake.graph.passes` says what the SQL of a pass may name. Edges that the linker finds are rendered by `linked`,
all kinds in one pass.
"""

from __future__ import annotations

from typing import NamedTuple

from codelake.graph.passes import label, short
from codelake.ids import argument_label_sql


class Edges(NamedTuple):
    """A pass that makes edges. All but words is SQL."""

    each: str
    """The nested column: `x` is its element, `i` the element's place."""
    kind: str
    """A word, or SQL with a column in it."""
    src: str
    dst: str
    """Where one of them is NULL, there is no edge."""
    where: str = "true"
    within: str | None = None
    """An array that follows from the element, and is gone through: `y` is its element, `k` the place of that."""
    place: str | None = None
    """Something with start_byte and end_byte."""
    has_own_place: str = "false"
    """Whether the place is not the source's, so that it belongs to the edge's id."""
    origin: str = "'syntax'"
    method: str = "'definition'"
    confidence: str = "1"
    score: str = "NULL"
    n: str = "1"
    """How many candidates there are."""


class Rule(NamedTuple):
    name: str
    kinds: tuple[str, ...]
    passes: tuple[Edges, ...] = ()
    """What follows from the evidence of the file."""
    is_linked: bool = False
    """Whether the linker finds such edges too."""


def linked(kinds: tuple[str, ...]) -> Edges:
    """The linker's edges of these kinds. What is passed is an argument; the linker knows it by its value."""
    named = ", ".join(f"'{kind}'" for kind in kinds)
    src = f"""
        CASE
            WHEN x.src IS NOT NULL THEN {short("x.src")}
            WHEN x.kind = 'PASSES_TO' THEN {argument_label_sql(label("x.node"))}
            ELSE {label("x.node")}
        END"""
    return Edges(
        each="link_edges",
        kind="x.kind",
        src=src,
        dst=short("x.dst"),
        where=f"x.kind IN ({named})",
        place="get(nodes, x.node)",
        has_own_place="(x.src IS NOT NULL AND x.node >= 0)",
        origin="x.origin",
        method="x.method",
        confidence="x.confidence",
        score="x.score",
        n="x.n",
    )
