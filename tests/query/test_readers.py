"""Readers of a lake that changes meanwhile, and readers of other engines."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import codelake
from codelake.contracts import OPERATIONS, TABLES
from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_EDGES_BY_DST, CPG_NODES
from codelake.delta.lake import Lake, open_lake
from codelake.delta.plain import plain
from codelake.delta.reading import Reader
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.query.published import published
from tests.query.by_protocol import rows_by_duckdb
from tests.query.conftest import Shop
from tests.query.shop import publish_without

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


@pytest.fixture(scope="module")
def thrice(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """The lake with a third run, which goes back to the first revision, and one whose rows are deleted by vectors."""
    root = shutil.copytree(shop.uri, tmp_path_factory.mktemp("thrice") / "lake")
    lake = open_lake(Store(str(root)), shop.lake.session)
    sources = open_sources([str(shop.root / "shop")], rev=shop.revisions[0])
    build(lake, Reading(sources, Progress()), limits=Limits())
    edges = (CPG_EDGES, "kind = 'CALLS'"), (CPG_EDGES_BY_DST, "repo = 'till'")
    publish_without(lake, "fewer", (CPG_NODES, "kind = 'literal'"), *edges, (CALLS, "start_line % 2 = 0"))
    return lake


def plain_value(value: Any) -> Any:
    """Engines differ in how they hand over maps and time zones, not in what is in them."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {key: plain_value(one) for key, one in value.items()}
    if isinstance(value, list):
        pairs = [tuple(one.values()) if isinstance(one, dict) and [*one] == ["key", "value"] else one for one in value]
        return sorted(pairs) if any(isinstance(one, tuple) for one in pairs) else [plain_value(one) for one in value]
    return value


def counted(rows: pa.Table) -> tuple[int, str]:
    """How many, and a digest of them."""
    texts = sorted(repr(sorted((k, plain_value(v)) for k, v in row.items())) for row in rows.to_pylist())
    return rows.num_rows, sha256("\n".join(texts).encode()).hexdigest()


@pytest.fixture(scope="module")
def compared() -> set[tuple[str, int]]:
    """Tables with the versions that all engines agreed on: two runs may have one in common."""
    return set()


@pytest.mark.slow
@pytest.mark.parametrize("at", ["1", pytest.param("2", marks=pytest.mark.soak), "3", "-1"])
def test_four_engines_agree_on_every_table(thrice: Lake, compared: set[tuple[str, int]], at: str) -> None:
    reader = Reader(thrice.store)
    versions = published(reader, at).versions
    assert {table.name for table in STORED} <= versions.keys()
    with_vectors = set()
    for name, version in versions.items():
        if thrice.log(name, version=version).deletion_vectors.num_rows:
            with_vectors.add(name)
        if (name, version) in compared:
            continue
        compared.add((name, version))
        reader.register(name, version=version, known_as=f"the_{name}")
        embedded = plain(pa.table(reader.execute(f"SELECT * FROM the_{name}").read_all()))
        spark = thrice.session.read.format("delta").option("versionAsOf", version).load(thrice.uri(name))
        found = {
            "embedded": counted(embedded),
            "spark": counted(spark.toArrow()),
            "duckdb": counted(rows_by_duckdb(Path(thrice.uri(name)), version)),
            "polars": counted(pl.read_delta(thrice.uri(name), version=version).to_arrow()),
        }
        assert len(set(found.values())) == 1, (name, version, found)
    assert at != "-1" or with_vectors >= {"cpg_nodes", "cpg_edges", "cpg_edges_by_dst", "calls"}


def test_rows_come_in_batches(shop: Shop) -> None:
    batches = [pa.record_batch(batch) for batch in shop.open.table("cpg_nodes").batches()]
    assert sum(batch.num_rows for batch in batches) == shop.open.table("cpg_nodes").to_arrow().num_rows
