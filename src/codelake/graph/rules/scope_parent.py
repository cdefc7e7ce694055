"""The scope that a scope lies in: `#f@scope SCOPE_PARENT #<module>@scope`."""

from __future__ import annotations

from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "scope_parent",
    ("SCOPE_PARENT",),
    (
        Edges(
            "scopes",
            "SCOPE_PARENT",
            "scope_labels[i]",
            "scope_labels[x.parent]",
            where="x.parent >= 0",
            origin="'names'",
            method="'scope'",
        ),
    ),
)
