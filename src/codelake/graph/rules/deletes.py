"""A name that deletes a variable or parameter: `#20-21:Name DELETES #:x`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "deletes",
    ("DELETES",),
    (
        Edges(
            "references",
            "DELETES",
            label("x.node"),
            "things[symbols[x.symbol].target].label",
            where="x.context = 'delete'",
            place="nodes[x.node]",
            origin="'names'",
            method="'scope'",
        ),
    ),
)
