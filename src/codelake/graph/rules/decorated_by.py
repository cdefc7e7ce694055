"""What a class or function is passed through: `#f DECORATED_BY #0-8:Name`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "decorated_by",
    ("DECORATED_BY",),
    (Edges("decorators", "DECORATED_BY", label("definitions[x.definition].node"), label("x.node")),),
)
