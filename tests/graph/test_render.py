"""The renderer by itself: arrays of labels, packed rows, and what the worker is left as."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pyarrow as pa
import pytest

from codelake import ids
from codelake.contracts.graph import CPG_NODES, RENDERED
from codelake.graph.render import labels
from codelake.graph.render.arrays import pick, spread
from codelake.graph.render.files import Owners
from codelake.graph.render.packing import packed, unpacked
from codelake.graph.render.props import Props, rendered
from codelake.graph.render.render import render_around, render_outside

SCOPES = ["", "C.m", "f~1"]
NAMES = ["x", "é", "__y"]
KINDS = ["entry", "exit", "raise"]
NUMBERS = [0, 7, 1 << 20]


def texts(*columns: list[str]) -> list[pa.Array]:
    return [pa.array(column) for column in columns]


def test_labels_of_arrays_are_those_of_ids() -> None:
    scope, name, kind = texts(SCOPES, NAMES, KINDS)
    number = pa.array(NUMBERS, pa.int32())
    plain = list(zip(SCOPES, NAMES, KINDS, NUMBERS, strict=True))
    scopes = labels.scope_labels(scope)
    assert labels.place_labels(number, number, kind).to_pylist() == [ids.place_label(n, n, k) for _, _, k, n in plain]
    assert scopes.to_pylist() == [ids.scope_label(s) for s in SCOPES]
    assert labels.binding_labels(scopes, name).to_pylist() == [ids.binding_label(s, n) for s, n, _, _ in plain]
    assert labels.variable_labels(scope, name).to_pylist() == [ids.variable_label(s, n) for s, n, _, _ in plain]
    assert labels.block_labels(scope, kind, number).to_pylist() == [ids.block_label(s, k, n) for s, _, k, n in plain]
    assert labels.argument_labels(name).to_pylist() == [ids.argument_label(n) for n in NAMES]
    assert labels.type_ids(name).to_pylist() == [ids.type_id(n) for n in NAMES]


@pytest.mark.parametrize("place", [None, (3, 4)])
@pytest.mark.parametrize("dst", ["#g", "r:b.py#g", "::os"])
def test_ids_of_edges_are_those_of_ids(dst: str, place: tuple[int, int] | None) -> None:
    file, short_src, short_dst = texts(["r:a.py"], ["#f"], [dst])
    src, full_dst = labels.full_ids(file, short_src), labels.full_ids(file, short_dst)
    own = labels.places(pa.array([place[0]]), pa.array([place[1]])) if place else ""
    expected = ids.edge_id(src[0].as_py(), "CALLS", full_dst[0].as_py(), place)
    assert labels.edge_ids(src, "CALLS", short_dst, own).to_pylist() == [expected]


def test_places_below_zero_are_none() -> None:
    assert pick(pa.array(["a", "b"]), np.array([1, -1, 0])).to_pylist() == ["b", None, "a"]
    run, within, place = spread(np.array([5, -1, 0]), np.array([2, 0, 1]))
    assert (run.tolist(), within.tolist(), place.tolist()) == ([0, 0, 2], [0, 1, 0], [5, 6, 0])


def test_properties_that_are_not_there_are_left_out() -> None:
    owners = Owners(*texts(["r"], ["a.py"], ["r:a.py"]))
    found = Props(
        np.array([0, 0]),
        pa.array(["#f(a)", "#f(b)"]),
        {"kind": pa.array(["positional", None])},
        {"position": pa.array([None, 1], pa.int32())},
        {"has_default": np.array([False, True])},
    )
    ids, maps = rendered(owners, found)
    assert ids.to_pylist() == ["r:a.py#f(a)", "r:a.py#f(b)"]
    assert maps.to_pylist() == [[("kind", "positional")], [("position", "1"), ("has_default", "true")]]


def test_rows_are_packed_and_unpacked() -> None:
    row = packed({})
    assert row.num_rows == 1 and row.schema.names == [table.name for table in RENDERED]
    assert list(unpacked([row.select([CPG_NODES.name])])) == []


def of(row: pa.RecordBatch, name: str) -> list[dict[str, object]]:
    return [one for batch in unpacked([row.select([name])]) for one in batch.to_pylist()]


def test_the_outside_is_owned_though_nothing_is_used_of_it() -> None:
    names = ("symbol_id", "name", "kind", "distribution", "version")
    symbol = pa.struct([*((name, pa.string()) for name in names), ("has_type", pa.bool_())])
    (row,) = render_outside([pa.RecordBatch.from_arrays([pa.array([[]], pa.list_(symbol))], names=["symbols"])])
    assert [node["node_id"] for node in of(row, CPG_NODES.name)] == [ids.OUTSIDE]
    assert [node["props"] for node in of(row, CPG_NODES.name)] == [None]


def test_a_worker_is_left_as_it_was() -> None:
    before = list(sys.meta_path)
    assert list(render_around([])) == []
    texts_of = {name: ["x"] for name in ("repo", "path", "file_id", "module", "encoding", "status", "reason")}
    files = pa.RecordBatch.from_pydict({**texts_of, "digest": pa.nulls(1, pa.string()), "n_bytes": [1]})
    assert len(list(render_around([files]))) == 1
    assert gc.isenabled() and sys.meta_path == before
