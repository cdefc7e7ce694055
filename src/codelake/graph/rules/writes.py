"""What stores a value in a variable or parameter: `#0-1:Name WRITES #:x`.

Definitions and imports bind names, but write no variable; a parameter does not write itself.
"""

from __future__ import annotations

from codelake.graph.derived import STORES
from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "writes",
    ("WRITES",),
    (
        Edges(
            "references",
            "WRITES",
            label("x.node"),
            "things[symbols[x.symbol].target].label",
            where=f"x.context = 'store' AND nodes[x.node].kind IN {STORES}",
            place="nodes[x.node]",
            origin="'names'",
            method="'scope'",
        ),
    ),
)
