"""The variables of a class, `#C HAS_ATTRIBUTE #C:x`: those of its body, and those that the linker sees stored on its
instances, with the place of the store.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codelake.graph.render.arrays import at, is_any, pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.symbols
    in_class = is_any(files.scopes.kind, ["class"])[x.scope]
    found = np.flatnonzero((x.target == np.arange(len(x))) & in_class & files.things.is_variable)
    owner = files.label(at(files.scopes.node, x.scope[found]))
    variable = pick(files.things.label, found)
    yield Edges(x.file[found], "HAS_ATTRIBUTE", owner, variable, origin="names", method="scope")


RULE = Rule("has_attribute", ("HAS_ATTRIBUTE",), _edges, is_linked=True)
