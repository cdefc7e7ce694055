"""The scope that a scope lies in: `#f@scope SCOPE_PARENT #<module>@scope`."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x, labels = files.scopes, files.scope_labels
    yield Edges(x.file, "SCOPE_PARENT", labels, pick(labels, x.parent), origin="names", method="scope")


RULE = Rule("scope_parent", ("SCOPE_PARENT",), _edges)
