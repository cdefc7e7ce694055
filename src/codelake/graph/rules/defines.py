"""What a module, class, function or lambda defines in its own code: `#C DEFINES #C.m`.

A lambda in a comprehension is defined by what the comprehension is in.
"""

from __future__ import annotations

from codelake.graph.passes import label
from codelake.graph.rules.rule import Edges, Rule

RULE = Rule(
    "defines",
    ("DEFINES",),
    (Edges("definitions", "DEFINES", label("definers[x.scope]"), label("x.node"), where="x.scope IS NOT NULL"),),
)
