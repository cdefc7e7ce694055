"""Where control goes from a block: `#f@block:3 FLOWS_TRUE #f@block:4`."""

from __future__ import annotations

from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "flows",
    ("FLOWS_NEXT", "FLOWS_TRUE", "FLOWS_FALSE", "FLOWS_EXCEPTION"),
    (
        Edges(
            "flows",
            "concat('FLOWS_', upper(x.kind))",
            "block_labels[x.src]",
            "block_labels[x.dst]",
            origin="'control'",
            method="'control'",
        ),
    ),
)
