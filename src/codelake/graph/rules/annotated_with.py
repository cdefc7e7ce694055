"""The type expression that annotates a parameter, a variable or (its result) a function:
`#f(x) ANNOTATED_WITH #9-12:type`.
"""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

_HOLDER = f"""
    if(annotations[x.annotation].role = 'variable',
        things[symbols[annotated[x.annotation]].target].label,
        {label("annotations[x.annotation].owner")})"""

RULE = Rule(
    "annotated_with",
    ("ANNOTATED_WITH",),
    (
        Edges(
            "types",
            "ANNOTATED_WITH",
            _HOLDER,
            "type_labels[i]",
            where="x.parent < 0",
            place="x",
            has_own_place="true",
            origin="'annotation'",
            method="'annotation'",
        ),
    ),
)
