"""The parameters of a function or lambda: `#f DECLARES_PARAMETER #f(x)`."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import at
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.parameters
    function = files.label(at(files.definitions.node, x.definition))
    yield Edges(x.file, "DECLARES_PARAMETER", function, files.label(x.node))


RULE = Rule("declares_parameter", ("DECLARES_PARAMETER",), _edges)
