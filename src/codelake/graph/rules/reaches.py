"""What binds a name (a parameter, a store, a definition, an import) reaches the uses where it may still hold, along the
control flow: `#0-1:Name REACHES #12-13:Name`.
"""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "reaches",
    ("REACHES",),
    (
        Edges(
            "reaches",
            "REACHES",
            label("references[x.definition].node"),
            label("references[x.use].node"),
            origin="'control'",
            method="'reaching'",
        ),
    ),
)
