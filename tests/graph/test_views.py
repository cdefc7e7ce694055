"""Views give the same rows in Spark and, without it, in DataFusion."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder

from codelake.contracts.graph import GRAPH
from codelake.contracts.views import VIEWS, View
from tests.graph.conftest import Graph

_NAMES = {table.name for table in GRAPH}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_both_engines_agree(graph: Graph, view: View) -> None:
    used = _NAMES & set(re.findall(r"\w+", view.sql))
    builder = QueryBuilder()
    for name in used:
        builder.register(name, DeltaTable(graph.lake.uri(name)))
        graph.lake.session.read.format("delta").load(graph.lake.uri(name)).createOrReplaceTempView(name)
    embedded = builder.execute(view.embedded_sql).read_all()
    rows = graph.lake.session.sql(view.sql)
    assert tuple(rows.columns) == tuple(embedded.schema.names) == view.columns
    columns = [pa.table(embedded).column(name).to_pylist() for name in view.columns]
    expected = rows.toArrow().to_pylist()
    assert sorted(map(repr, zip(*columns, strict=True))) == sorted(repr(tuple(row.values())) for row in expected)
    assert expected or view.name == "disagreements"  # nobody claims anything here; see tests/pipeline/test_claims.py


def test_types_as_people_ask_for_them(graph: Graph) -> None:
    [view] = [one for one in VIEWS if one.name == "types"]
    builder = QueryBuilder()
    for name in ("cpg_nodes", "cpg_edges"):
        builder.register(name, DeltaTable(graph.lake.uri(name)))
    rows = pa.table(builder.execute(view.embedded_sql).read_all()).to_pylist()
    found = {(row["role"], row["name"], row["type"], row["origin"]) for row in rows}
    assert {
        ("variable", "x", "builtins.int", "annotation"),
        ("variable", "y", "builtins.list", "flow"),
        ("attribute", "attr", "builtins.int", "flow"),
        ("attribute", "z", "builtins.int", "flow"),
        ("parameter", "p", "builtins.int", "annotation"),
        ("return", "m", "builtins.int", "flow"),
    } <= found
    places = {(row["name"], row["type"], row["start_line"]) for row in rows if row["role"] == "variable"}
    assert {("x", "builtins.int", 6), ("x", "builtins.int", 20), ("a", "builtins.str", 32)} <= places
    assert all(0 < row["confidence"] <= 1 for row in rows)
