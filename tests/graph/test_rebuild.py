"""The graph of a repository that is built again: unchanged, edited, and beside one that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelake.contracts.graph import CPG_EDGES, CPG_NODES, GRAPH
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.scan import scan
from tests.graph.conftest import built, write

BEFORE = b"def f(a):\n    return a\n"
AFTER = b"# above\nimport os\n\n" + BEFORE


def ids(lake: Lake, path: str) -> set[str]:
    rows = scan(Run(lake, "reader"), CPG_NODES, where=f"path = '{path}'").select("node_id").collect()
    return {row.node_id for row in rows}


def edges_of(lake: Lake, path: str) -> set[tuple[str, str]]:
    rows = scan(Run(lake, "reader"), CPG_EDGES, where=f"path = '{path}'").select("edge_id", "dst").collect()
    return {(row.edge_id, row.dst) for row in rows}


@pytest.mark.slow
def test_a_module_that_is_renamed_changes_its_users_and_nothing_else(lake: Lake, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    write(shop, {"a.py": BEFORE, "b.py": b"import a\na.f(1)\n", "d.py": b"import os\ndef g():\n    os.getcwd()\n"})
    built(lake, str(shop))
    old, others = ids(lake, "a.py"), (ids(lake, "d.py"), edges_of(lake, "d.py"))
    users = {edge.replace("shop:a.py", "shop:c.py") for edge, _ in edges_of(lake, "b.py")}
    (shop / "a.py").rename(shop / "c.py")
    write(shop, {"b.py": b"import c\nc.f(1)\n"})
    built(lake, str(shop))
    assert ids(lake, "a.py") == set() and edges_of(lake, "a.py") == set()
    assert ids(lake, "c.py") == {one.replace("shop:a.py", "shop:c.py") for one in old}
    assert {edge.replace("@scope:c", "@scope:a") for edge, _ in edges_of(lake, "b.py")} == users
    assert (ids(lake, "d.py"), edges_of(lake, "d.py")) == others


@pytest.mark.slow
def test_built_again_and_edited(lake: Lake, tmp_path: Path) -> None:
    write(tmp_path / "shop", {"a.py": BEFORE, "b.py": b"import a\na.f(1)\n"})
    built(lake, str(tmp_path / "shop"))
    old = ids(lake, "a.py")
    again = built(lake, str(tmp_path / "shop"))
    assert {table.name for table in GRAPH} & again["versions"].keys() == set()
    leading_there = edges_of(lake, "b.py")
    write(tmp_path / "shop", {"a.py": AFTER})
    built(lake, str(tmp_path / "shop"))
    new = ids(lake, "a.py")
    assert edges_of(lake, "b.py") == leading_there
    assert any(dst == "shop:a.py#f" for _, dst in leading_there)
    assert {"shop:a.py#f", "shop:a.py#f(a)", "shop:a.py#f@scope:a"} <= old & new
    assert [i for i in new - old if i.startswith("shop:a.py#f")] == []


@pytest.mark.slow
@pytest.mark.parametrize("order", [("shop", "till"), ("till", "shop")])
def test_edges_between_repositories_whichever_comes_first(lake: Lake, tmp_path: Path, order: tuple[str, str]) -> None:
    write(tmp_path / "shop", {"shop/__init__.py": b"", "shop/goods.py": BEFORE})
    write(tmp_path / "till", {"sell.py": b"from shop.goods import f\nf(1)\n"})
    for repo in order:
        built(lake, str(tmp_path / repo))
    edges = scan(Run(lake, "reader"), CPG_EDGES, where="kind = 'CALLS'").select("src", "dst").collect()
    assert [(row.src.split("#")[0], row.dst) for row in edges] == [("till:sell.py", "shop:shop/goods.py#f")]
