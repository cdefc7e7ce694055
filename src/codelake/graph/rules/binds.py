"""The names that a scope itself binds: `#f@scope BINDS #f@scope:x`. What it takes from elsewhere is not bound by it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codelake.graph.render.arrays import pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.symbols
    own = np.flatnonzero(x.target == np.arange(len(x)))
    scope = pick(files.scope_labels, x.scope[own])
    yield Edges(x.file[own], "BINDS", scope, pick(files.binding_labels, own), origin="names", method="scope")


RULE = Rule("binds", ("BINDS",), _edges)
