"""The names that a scope itself binds: `#f@scope BINDS #f@scope:x`. What it takes from elsewhere is not bound by it."""

from __future__ import annotations

from codelake.graph.passes import binding_label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "binds",
    ("BINDS",),
    (
        Edges(
            "symbols",
            "BINDS",
            "scope_labels[x.scope]",
            binding_label("x"),
            where="x.target = i",
            origin="'names'",
            method="'scope'",
        ),
    ),
)
