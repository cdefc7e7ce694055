"""The docstring of a module, class or function: `#f DOCUMENTED_BY #10-20:Constant`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "documented_by",
    ("DOCUMENTED_BY",),
    (Edges("definitions", "DOCUMENTED_BY", label("x.node"), label("x.docstring"), where="x.docstring IS NOT NULL"),),
)
