"""A name that loads the value of a variable or parameter: `#20-21:Name READS #f(x)`."""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "reads",
    ("READS",),
    (
        Edges(
            "references",
            "READS",
            label("x.node"),
            "things[symbols[x.symbol].target].label",
            where="x.context = 'load'",
            place="nodes[x.node]",
            origin="'names'",
            method="'scope'",
        ),
    ),
)
