"""Where control goes from a block: `#f@block:3 FLOWS_TRUE #f@block:4`."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from codelake.graph.render.arrays import join, pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x, labels = files.flows, files.block_labels
    kind = join("FLOWS_", pc.utf8_upper(x.kind))
    yield Edges(x.file, kind, pick(labels, x.src), pick(labels, x.dst), origin="control", method="control")


RULE = Rule("flows", ("FLOWS_NEXT", "FLOWS_TRUE", "FLOWS_FALSE", "FLOWS_EXCEPTION"), _edges)
