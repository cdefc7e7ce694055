"""Adjacency: the edges that lead to a node as one sorted list, for the kinds that people ask for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_EDGES_BY_DST
from codelake.contracts.kinds import EDGE_KINDS
from codelake.graph.render.arrays import flags
from codelake.graph.render.nodes import batch

_SCHEMA = arrow_schema(CPG_EDGES_BY_DST)
_ENTRIES = _SCHEMA.field("edges").type
_KINDS = pa.array([kind.name for kind in EDGE_KINDS if "d" in kind.adjacent])
_NODE = ("dst", "repo", "path")
_ENTRY = ("kind", "src", "start_byte", "end_byte", "confidence", "method")


def by_target(edges: pa.Table) -> pa.RecordBatch:
    """Rows by (node, file), so that an edit of a file changes only its own. What bindings resolve to is left out: it
    is in cpg_edges, and nobody asks for it by name."""
    is_asked = pc.is_in(edges.column("kind"), value_set=_KINDS)
    is_asked = pc.and_(is_asked, pc.invert(pc.match_substring(edges.column("src"), "@scope:")))
    asked = edges.filter(is_asked)
    order = pc.sort_indices(asked, [(name, "ascending", "at_start") for name in (*_NODE, *_ENTRY)])
    rows = asked.take(order).combine_chunks()
    columns = {name: rows.column(name).combine_chunks() for name in (*_NODE, *_ENTRY)}
    is_first = np.ones(rows.num_rows, dtype=np.bool_)
    if rows.num_rows:
        is_first[1:] = False
        for name in _NODE:
            is_first[1:] |= flags(pc.not_equal(columns[name][1:], columns[name][:-1]))
    begin = np.flatnonzero(is_first)
    entries = pa.StructArray.from_arrays([columns[name] for name in _ENTRY], fields=list(_ENTRIES.value_type))
    offsets = pa.array(np.append(begin, rows.num_rows).astype(np.int32))
    found = {
        **{to: columns[name].take(pa.array(begin)) for to, name in zip(("node_id", *_NODE[1:]), _NODE, strict=True)},
        "edges": pa.ListArray.from_arrays(offsets, entries, _ENTRIES),
    }
    return batch(_SCHEMA, len(begin), found)
