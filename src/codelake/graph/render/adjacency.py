"""Adjacency: the edges of a node as one sorted list, for the kinds that people ask for (`EdgeKind.adjacent`)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_EDGES_BY_DST, CPG_EDGES_BY_SRC
from codelake.contracts.kinds import EDGE_KINDS
from codelake.graph.render.arrays import flags
from codelake.graph.render.nodes import batch

_SCHEMAS = {"src": arrow_schema(CPG_EDGES_BY_SRC), "dst": arrow_schema(CPG_EDGES_BY_DST)}
_KINDS = {side: [kind.name for kind in EDGE_KINDS if side[0] in kind.adjacent] for side in ("src", "dst")}
_SHOWN = ("start_byte", "end_byte", "confidence", "method")


def adjacency(edges: pa.Table, side: Literal["src", "dst"]) -> pa.RecordBatch:
    """Rows by (node, file), so that an edit of a file changes only its own. What bindings resolve to is left out: it
    is in cpg_edges, and nobody asks for it by name."""
    other = "dst" if side == "src" else "src"
    is_asked = pc.is_in(edges.column("kind"), value_set=pa.array(_KINDS[side]))
    is_asked = pc.and_(is_asked, pc.invert(pc.match_substring(edges.column("src"), "@scope:")))
    asked = edges.filter(is_asked)
    by = (side, "repo", "path", "kind", other, *_SHOWN)
    order = pc.sort_indices(asked, [(name, "ascending", "at_start") for name in by])
    rows = asked.take(order).combine_chunks()
    columns = {name: rows.column(name).combine_chunks() for name in by}
    is_first = np.ones(rows.num_rows, dtype=np.bool_)
    if rows.num_rows:
        is_first[1:] = False
        for name in (side, "repo", "path"):
            is_first[1:] |= flags(pc.not_equal(columns[name][1:], columns[name][:-1]))
    begin = np.flatnonzero(is_first)
    schema = _SCHEMAS[side]
    entry = schema.field("edges").type.value_type
    entries = pa.StructArray.from_arrays(
        [columns["kind"], columns[other], *(columns[name] for name in _SHOWN)], fields=list(entry)
    )
    offsets = pa.array(np.append(begin, rows.num_rows).astype(np.int32))
    found = {
        "node_id": columns[side].take(pa.array(begin)),
        "repo": columns["repo"].take(pa.array(begin)),
        "path": columns["path"].take(pa.array(begin)),
        "edges": pa.ListArray.from_arrays(offsets, entries, schema.field("edges").type),
    }
    return batch(schema, len(begin), found)
