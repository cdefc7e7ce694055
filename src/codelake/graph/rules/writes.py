"""What stores a value in a variable or parameter: `#0-1:Name WRITES #:x`.

Definitions and imports bind names, but write no variable; a parameter does not write itself. Which variables attributes
write is left to the linker.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codelake.graph.render.arrays import is_any, pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.references
    found = np.flatnonzero(is_any(x.context, ["store"]))
    found = found[files.is_store[x.node[found]]]
    node = x.node[found]
    yield Edges(
        x.file[found],
        "WRITES",
        files.label(node),
        pick(files.meant_labels, found),
        start=pick(files.nodes.start_byte, node),
        end=pick(files.nodes.end_byte, node),
        origin="names",
        method="scope",
    )


RULE = Rule("writes", ("WRITES",), _edges, is_linked=True)
