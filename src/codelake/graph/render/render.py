"""Batches of rows to batches of packed rows: what Spark's workers do."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from codelake.contracts.graph import CALLS, CLASSES, CPG_EDGES, CPG_EDGES_BY_DST, CPG_NODES
from codelake.graph.render import adjacency, around, edges, facts, nodes, props
from codelake.graph.render.names import Named
from codelake.graph.render.outside import outside
from codelake.graph.render.packing import packed

_AT_ONCE = 50_000
"""Nodes of syntax: with all that follows from them, some 30 MB."""


def render_files(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From whole files."""
    for batch in batches:
        with _lean():
            parts = list(_parts(batch))
        for part in parts:
            with _lean():
                row = _rendered(Named(part))
            yield row


def render_around(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From all files of the repositories, as `codelake.graph.files.listed` has them."""
    if found := list(batches):
        with _lean():
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
        with _lean():
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
    total = np.cumsum(np.diff(batch.column("nodes").offsets.to_numpy()))
    begin = 0
    while begin < batch.num_rows:
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _AT_ONCE, side="right")))
        yield batch.slice(begin, end - begin)
        begin = end


@contextmanager
def _lean() -> Iterator[None]:
    """Lists of many texts live shortly: the collector would go through them again and again. And Arrow would import
    pandas, for a second, to ask whether what it is given is a Series."""
    was_on = gc.isenabled()
    gc.disable()
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(_WithoutPandas)
        if was_on:
            gc.enable()


class _WithoutPandas:
    """A finder of modules."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)
