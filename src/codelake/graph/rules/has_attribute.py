"""The variables of a class, `#C HAS_ATTRIBUTE #C:x`: those of its body, and those that the linker sees stored on its
instances, with the place of the store.
"""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "has_attribute",
    ("HAS_ATTRIBUTE",),
    (
        Edges(
            "symbols",
            "HAS_ATTRIBUTE",
            label("scopes[x.scope].node"),
            "things[i].label",
            where="x.target = i AND scopes[x.scope].kind = 'class' AND things[i].is_variable",
            origin="'names'",
            method="'scope'",
        ),
    ),
    is_linked=True,
)
