"""What a class or function is passed through: `#f DECORATED_BY #0-8:Name`."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import at
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.decorators
    decorated = files.label(at(files.definitions.node, x.definition))
    yield Edges(x.file, "DECORATED_BY", decorated, files.label(x.node))


RULE = Rule("decorated_by", ("DECORATED_BY",), _edges)
