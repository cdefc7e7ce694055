"""Readers of a lake that changes meanwhile, and readers of other engines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import codelake
from codelake.contracts import OPERATIONS, TABLES, Table
from codelake.contracts.graph import CPG_EDGES, CPG_EDGES_BY_DST, CPG_NODES
from codelake.delta.lake import open_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from tests.query.conftest import Shop

STORED = tuple(table for table in TABLES if table not in OPERATIONS)


@pytest.mark.slow
def test_half_a_run_is_not_seen(shop: Shop, tmp_path: Path) -> None:
    shutil.copytree(shop.uri, tmp_path / "lake")
    store = Store(str(tmp_path / "lake"))
    reader = codelake.open(tmp_path / "lake")
    before = reader.callers("checkout")
    run = Run(open_lake(store, shop.lake.session), "half", stage="test")
    for table in (CPG_NODES, CPG_EDGES_BY_DST):
        commit(run, table, mode="delete", where="repo = 'till'")
        assert reader.callers("checkout") == before
        assert codelake.open(tmp_path / "lake").callers("checkout") == before


def digested(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "tables"), [("1", (CPG_NODES, CPG_EDGES)), ("2", STORED)])
def test_engines_agree_on_every_table(shop: Shop, at: str, tables: tuple[Table, ...]) -> None:
    lake = codelake.open(shop.uri, at=at)
    for table in tables:
        rows = lake.table(table.name).to_arrow()
        version = lake.run.versions[table.name]
        spark = shop.lake.session.read.format("delta").option("versionAsOf", version).load(shop.lake.uri(table.name))
        assert digested(spark.toArrow().to_pylist()) == digested(rows.to_pylist()), table.name
        assert duckdb.from_arrow(rows).count("*").fetchall() == [(rows.num_rows,)]
        assert lake.table(table.name).to_polars().height == rows.num_rows


def test_rows_come_in_batches(shop: Shop) -> None:
    batches = [pa.record_batch(batch) for batch in shop.open.table("cpg_nodes").batches()]
    assert sum(batch.num_rows for batch in batches) == shop.open.table("cpg_nodes").to_arrow().num_rows
