"""Tables whose files are read as a whole, because rows of some were deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

import codelake
from codelake.contracts.graph import CPG_EDGES_BY_DST
from codelake.delta.lake import open_lake
from codelake.delta.store import Store
from tests.query.conftest import Shop
from tests.query.shop import publish_without


def test_where_rows_lie_is_asked_first(shop: Shop, tmp_path: Path) -> None:
    root = shutil.copytree(shop.uri, tmp_path / "lake")
    lake = open_lake(Store(str(root)), shop.lake.session)
    publish_without(lake, "fewer", (CPG_EDGES_BY_DST, "repo = 'till'"))
    opened = codelake.open(root)
    assert opened.run.run_id == "fewer" and opened.engine.reads_whole("cpg_edges_by_dst")
    assert not opened.engine.reads_whole("blobs")
    answer = opened.callers("checkout")
    assert [row["name"] for row in answer] == ["shop.cli.main"], "till's edges are gone"
    [where, edges] = [text for text in answer.sql if "cpg_edges_by_dst" in text]
    assert where.startswith("SELECT DISTINCT repo, path FROM")
    assert "repo IN ('shop') AND path IN ('shop/cart.py', 'shop/cli.py') AND node_id IN" in edges
    assert not opened.callers("ring"), "of nothing that anybody calls"
