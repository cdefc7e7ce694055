"""The functions that a class defines in its body: `#C HAS_METHOD #C.m`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codelake.graph.render.arrays import at, is_any
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.definitions
    found = np.flatnonzero(is_any(x.kind, ["function", "async_function"]) & (x.scope >= 0))
    found = found[is_any(files.scopes.kind, ["class"])[x.scope[found]]]
    owner = files.label(at(files.scopes.node, x.scope[found]))
    yield Edges(x.file[found], "HAS_METHOD", owner, files.label(x.node[found]))


RULE = Rule("has_method", ("HAS_METHOD",), _edges)
