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


@pytest.mark.slow
def test_built_again_and_edited(lake: Lake, tmp_path: Path) -> None:
    write(tmp_path / "shop", {"a.py": BEFORE, "b.py": b"import a\na.f(1)\n"})
    built(lake, str(tmp_path / "shop"))
    old = ids(lake, "a.py")
    again = built(lake, str(tmp_path / "shop"))
    assert {table.name for table in GRAPH} & again["versions"].keys() == set()
    write(tmp_path / "shop", {"a.py": AFTER})
    built(lake, str(tmp_path / "shop"))
    new = ids(lake, "a.py")
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
