"""Batches of rows to batches of packed rows: what Spark's workers do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow_vectors import bytes_of_rows, n_things
from codelake.contracts.graph import CALLS, CLASSES, CPG_EDGES, CPG_EDGES_BY_DST, CPG_NODES
from codelake.graph.render import adjacency, around, edges, facts, nodes, props
from codelake.graph.render.joined import joined
from codelake.graph.render.names import Named
from codelake.graph.render.outside import outside
from codelake.graph.render.packing import packed
from codelake.lean import lean

_AT_ONCE = 50_000
"""Nodes of syntax: with all that follows from them, some 30 MB."""
_NODE_BYTES = 256
"""Of evidence and links, for a node. Where names are long it is more, and fewer files are rendered at once."""


def render_joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From whole files, whose evidence and links are rows of their own."""
    return render_files(joined(batches))


def render_files(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From whole files."""
    for batch in batches:
        with lean():
            parts = list(_parts(batch))
        for part in parts:
            with lean():
                row = _rendered(Named(part))
            yield row


def render_around(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From all files of the repositories, with the columns LISTED."""
    if found := list(batches):
        with lean():
            row = _around(pa.concat_batches(found))
        yield row


def _around(files: pa.RecordBatch) -> pa.RecordBatch:
    repositories, top = around.repositories(files)
    folders, packages, inner = around.folders(files)
    missing, both, given, known = around.unread(files)
    rows = [
        edges.rendered(folders, inner, "contains"),
        edges.rendered(missing, given[0], "contains"),
        edges.rendered(missing, given[1], "has_diagnostic"),
    ]
    found = [
        nodes.rendered(repositories, top),
        nodes.rendered(folders, packages),
        *(nodes.rendered(missing, one) for one in both),
    ]
    return packed({CPG_NODES.name: props.with_props(found, [props.rendered(missing, known)]), **_of_edges(rows)})


def render_outside(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From one row, with all external symbols."""
    for batch in batches:
        with lean():
            owners, of_nodes, known = outside(batch.column(0).flatten())
            found = [nodes.rendered(owners, one) for one in of_nodes]
            row = packed({CPG_NODES.name: props.with_props(found, [props.rendered(owners, known)])})
        yield row


def _rendered(files: Named) -> pa.RecordBatch:
    known = [props.rendered(files, one) for one in props.props(files)]
    return packed(
        {
            CPG_NODES.name: props.with_props(list(nodes.nodes(files)), known),
            CALLS.name: [facts.calls(files)],
            CLASSES.name: [facts.classes(files)],
            **_of_edges(list(edges.edges(files))),
        }
    )


def _of_edges(found: list[pa.RecordBatch]) -> dict[str, list[pa.RecordBatch]]:
    return {CPG_EDGES.name: found, CPG_EDGES_BY_DST.name: [adjacency.by_target(pa.Table.from_batches(found))]}


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Files that are rendered at once."""
    total = np.cumsum(np.maximum(n_things(batch.column("nodes")), bytes_of_rows(batch) // _NODE_BYTES))
    begin = 0
    while begin < batch.num_rows:
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _AT_ONCE, side="right")))
        yield batch.slice(begin, end - begin)
        begin = end
