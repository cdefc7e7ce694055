"""What must hold of every graph, of a large one: asked in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, EXTERNAL_SYMBOLS
from codelake.contracts.sources import FILES
from codelake.delta.embedded import ask
from codelake.delta.lake import create_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from tests.extract.packages import fetched
from tests.properties.test_incremental import built

pytestmark = pytest.mark.soak

PROMISES = {
    "ids are unique": "SELECT node_id FROM cpg_nodes GROUP BY node_id HAVING count(*) > 1",
    "ids of edges are unique": "SELECT edge_id FROM cpg_edges GROUP BY edge_id HAVING count(*) > 1",
    "edges begin at nodes": "SELECT src FROM cpg_edges e LEFT ANTI JOIN cpg_nodes n ON n.node_id = e.src",
    "edges end at nodes": "SELECT dst FROM cpg_edges e LEFT ANTI JOIN cpg_nodes n ON n.node_id = e.dst",
    "nodes lie within their file": """SELECT node_id FROM cpg_nodes n
        JOIN files f ON f.repo = n.repo AND f.path = n.path
        WHERE n.start_byte < 0 OR n.end_byte > f.n_bytes OR n.start_byte > n.end_byte""",
    "nodes lie within their owners": """SELECT n.node_id FROM cpg_nodes n JOIN cpg_nodes o ON o.node_id = n.parent_id
        WHERE n.start_byte < o.start_byte OR n.end_byte > o.end_byte""",
    "a call has a target or a reason": "SELECT call_id FROM calls WHERE (target IS NULL) = (reason IS NULL)",
}

Asking = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def asked(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Asking:
    folder = tmp_path_factory.mktemp("real")
    lake = create_lake(Store(str(folder / "lake")), spark)
    built(lake, fetched("django==5.2", folder))
    return lambda sql: ask(Run(lake, "reader"), (CPG_NODES, CPG_EDGES, CALLS, EXTERNAL_SYMBOLS, FILES), sql).to_pylist()


@pytest.mark.parametrize("name", PROMISES)
def test_promises_are_kept(name: str, asked: Asking) -> None:
    assert asked(f"{PROMISES[name]} LIMIT 5") == []


def test_owners_end_in_a_repository(asked: Asking) -> None:
    nodes = {row["node_id"]: row for row in asked("SELECT node_id, parent_id, kind FROM cpg_nodes")}
    for node_id in nodes:
        seen, owner = set(), node_id
        while nodes[owner]["parent_id"] is not None:
            assert owner not in seen
            seen.add(owner)
            owner = nodes[owner]["parent_id"]
        assert nodes[owner]["kind"] == "repository"


def test_most_calls_have_a_target_and_few_have_many(asked: Asking) -> None:
    """A name on an unknown result, such as `re.compile(x).match` without stubs, is no target that counts."""
    derived = "SELECT DISTINCT symbol_id FROM external_symbols WHERE is_derived"
    [calls] = asked(f"""SELECT avg(CASE WHEN c.target IS NULL OR d.symbol_id IS NOT NULL THEN 0.0 ELSE 1.0 END) AS share
        FROM calls c LEFT JOIN ({derived}) AS d ON d.symbol_id = c.target""")
    sure = "SELECT count(*) AS n FROM cpg_edges WHERE kind = 'CALLS' AND confidence >= 0.5 GROUP BY src"
    [targets] = asked(f"SELECT avg(n) AS mean FROM ({sure}) AS sites")
    assert calls["share"] > 0.88 and targets["mean"] < 1.5
