"""What a name means.

A binding means the variable, parameter or definitions that its name stands for, `#f@scope:x RESOLVES_TO #f(x)`. A
name that only classes and functions define means these, `#40-41:Name RESOLVES_TO #g`: where there are several, each
is as likely as the others, and the last one ranks first. Imported and builtin names, attributes and type expressions
are left to the linker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import Places, at, is_any, is_null, pick, spread
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    symbols, things = files.symbols, files.things
    held = pick(things.label, symbols.target)
    yield Edges(symbols.file, "RESOLVES_TO", files.binding_labels, held, origin="names", method="scope")
    yield _to_definitions(files, symbols.file, files.binding_labels, symbols.target)
    x = files.references
    is_definition = at(things.begin, files.meant) >= 0
    found = np.flatnonzero(is_definition & is_null(files.meant_labels) & ~is_any(x.context, ["store"]))
    node = x.node[found]
    yield _to_definitions(files, x.file[found], files.label(node), files.meant[found], node)


def _to_definitions(files: Named, file: Places, src: Any, symbol: Places, place: Places | None = None) -> Edges:
    """From each source to all classes and functions that its symbol, if any, stands for."""
    things = files.things
    count = np.where(symbol < 0, 0, at(things.n, symbol))
    source, rank, definition = spread(at(things.begin, symbol), count)
    n = count[source]
    start, end = (
        (None, None)
        if place is None
        else (pick(one, place[source]) for one in (files.nodes.start_byte, files.nodes.end_byte))
    )
    score = pa.array(((rank + 1) / n).astype(np.float32))
    return Edges(
        file[source],
        "RESOLVES_TO",
        pick(src, source),
        files.label(things.definitions[definition]),
        start=start,
        end=end,
        origin="names",
        method="scope",
        confidence=pa.array((1 / n).astype(np.float32)),
        score=pc.if_else(pa.array(n > 1), score, pa.scalar(None, pa.float32())),
        n=pa.array(n),
    )


RULE = Rule("resolves_to", ("RESOLVES_TO",), _edges, is_linked=True)
