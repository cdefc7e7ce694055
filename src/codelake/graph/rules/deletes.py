"""A name that deletes a variable or parameter: `#20-21:Name DELETES #:x`. Attributes are left to the linker."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codelake.graph.render.arrays import is_any, pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x = files.references
    found = np.flatnonzero(is_any(x.context, ["delete"]))
    node = x.node[found]
    yield Edges(
        x.file[found],
        "DELETES",
        files.label(node),
        pick(files.meant_labels, found),
        start=pick(files.nodes.start_byte, node),
        end=pick(files.nodes.end_byte, node),
        origin="names",
        method="scope",
    )


RULE = Rule("deletes", ("DELETES",), _edges, is_linked=True)
