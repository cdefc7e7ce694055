"""What a module, class, function or lambda defines in its own code: `#C DEFINES #C.m`.

A lambda in a comprehension is defined by what the comprehension is in.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import at
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.definitions  # a module is in no scope
    yield Edges(x.file, "DEFINES", files.label(at(files.definers, x.scope)), files.label(x.node))


RULE = Rule("defines", ("DEFINES",), _edges)
