"""What binds a name (a parameter, a store, a definition, an import) reaches the uses where it may still hold, along the
control flow: `#0-1:Name REACHES #12-13:Name`.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.render.arrays import at
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x, nodes = files.reaches, files.references.node
    definition, use = files.label(at(nodes, x.definition)), files.label(at(nodes, x.use))
    yield Edges(x.file, "REACHES", definition, use, origin="control", method="reaching")


RULE = Rule("reaches", ("REACHES",), _edges)
