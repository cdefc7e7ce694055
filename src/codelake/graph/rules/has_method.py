"""The functions that a class defines in its body: `#C HAS_METHOD #C.m`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "has_method",
    ("HAS_METHOD",),
    (
        Edges(
            "definitions",
            "HAS_METHOD",
            label("scopes[x.scope].node"),
            label("x.node"),
            where="x.kind IN ('function', 'async_function') AND scopes[x.scope].kind = 'class'",
        ),
    ),
)
