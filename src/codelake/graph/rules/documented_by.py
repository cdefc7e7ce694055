"""The docstring of a module, class or function: `#f DOCUMENTED_BY #10-20:Constant`."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.definitions
    yield Edges(x.file, "DOCUMENTED_BY", files.label(x.node), files.label(x.docstring))


RULE = Rule("documented_by", ("DOCUMENTED_BY",), _edges)
