"""The things outside of the lake that a module uses: `#<module> REFERENCES_EXTERNAL ::os.path.join`."""

from __future__ import annotations

from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "references_external",
    ("REFERENCES_EXTERNAL",),
    (
        Edges(
            "externals",
            "REFERENCES_EXTERNAL",
            "'#<module>'",
            "x",
            where="startswith(x, '::') AND NOT endswith(x, '@type')",
            origin="'flow'",
            method="'use'",
        ),
    ),
)
