"""The type expression that annotates a parameter, a variable or (its result) a function:
`#f(x) ANNOTATED_WITH #9-12:type`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.graph.render.arrays import at, is_any, pick
from codelake.graph.render.names import Named
from codelake.graph.rules.rule import Edges, Rule


def _edges(files: Named) -> Iterator[Edges]:
    x, annotations = files.types, files.annotations
    whole = np.flatnonzero(x.parent < 0)
    annotation = x.annotation[whole]
    is_variable = is_any(annotations.role, ["variable"])[annotation]
    variable = at(files.symbols.target, at(files.annotated, annotation))
    holder = pc.if_else(
        pa.array(is_variable), pick(files.things.label, variable), files.label(annotations.owner[annotation])
    )
    yield Edges(
        x.file[whole],
        "ANNOTATED_WITH",
        holder,
        pick(files.type_labels, whole),
        start=pick(x.start_byte, whole),
        end=pick(x.end_byte, whole),
        has_own_place=True,
        origin="annotation",
        method="annotation",
    )


RULE = Rule("annotated_with", ("ANNOTATED_WITH",), _edges)
