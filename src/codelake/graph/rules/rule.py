"""A rule: one kind of edge (or a few that belong together), as a function of many files.

`codelake.graph.render.files` says how files look to a rule, `codelake.graph.render.names` what it may ask for. Edges
that the linker finds are rendered by `codelake.graph.render.edges`, all kinds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from codelake.graph.render.arrays import Places
from codelake.graph.render.names import Named


class Edges(NamedTuple):
    """Edges of one sort. Where a plain value stands in place of an array, it is that of all of them."""

    file: Places
    """The file of each."""
    kind: Any
    src: Any
    dst: Any
    """Labels, or ids of what is not in the file. Where one of them is NULL, there is no edge."""
    start: Any = None
    end: Any = None
    has_own_place: Any = False
    """Whether the place is not the source's, so that it belongs to the edge's id."""
    origin: Any = "syntax"
    method: Any = "definition"
    confidence: Any = 1.0
    score: Any = None
    n: Any = 1
    """How many candidates there are."""


class Rule(NamedTuple):
    name: str
    kinds: tuple[str, ...]
    edges: Callable[[Named], Iterable[Edges]] | None = None
    """What follows from the evidence of the file."""
    is_linked: bool = False
    """Whether the linker finds such edges too."""
