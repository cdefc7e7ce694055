"""What a name means.

A binding means the variable, parameter or definitions that its name stands for, `#f@scope:x RESOLVES_TO #f(x)`. A
name that only classes and functions define means these, `#40-41:Name RESOLVES_TO #g`: where there are several, each
is as likely as the others, and the last one ranks first. Imported and builtin names, attributes and type expressions
are left to the linker.
"""

from __future__ import annotations

from codelake.graph.passes import binding_label, label
from codelake.graph.rules.rule import Edges, Rule

_MEANT = "things[symbols[x.symbol].target]"


def _to_definitions(each: str, src: str, definitions: str, *, where: str, place: str | None = None) -> Edges:
    return Edges(
        each,
        "RESOLVES_TO",
        src,
        label("y"),
        where=where,
        within=definitions,
        place=place,
        origin="'names'",
        method="'scope'",
        confidence=f"1 / size({definitions})",
        score=f"if(size({definitions}) > 1, (k + 1) / size({definitions}), NULL)",
        n=f"size({definitions})",
    )


RULE = Rule(
    "resolves_to",
    ("RESOLVES_TO",),
    (
        Edges(
            "symbols", "RESOLVES_TO", binding_label("x"), "things[x.target].label", origin="'names'", method="'scope'"
        ),
        _to_definitions(
            "symbols", binding_label("x"), "things[x.target].definitions", where="things[x.target] IS NOT NULL"
        ),
        _to_definitions(
            "references",
            label("x.node"),
            f"{_MEANT}.definitions",
            where=f"x.context <> 'store' AND {_MEANT}.definitions IS NOT NULL AND {_MEANT}.label IS NULL",
            place="nodes[x.node]",
        ),
    ),
    is_linked=True,
)
