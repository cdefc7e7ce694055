"""The parameters of a function or lambda: `#f DECLARES_PARAMETER #f(x)`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "declares_parameter",
    ("DECLARES_PARAMETER",),
    (Edges("parameters", "DECLARES_PARAMETER", label("definitions[x.definition].node"), label("x.node")),),
)
