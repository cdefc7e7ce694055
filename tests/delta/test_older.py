"""Tables that older releases of Delta wrote (tests/delta/older): read as those releases did, or refused by name."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from codelake.delta.checks import check_table
from codelake.delta.digest import embedded_digest, spark_digest
from codelake.delta.features import check_protocol
from codelake.delta.lake import Lake, create_lake
from codelake.delta.reading import Reader
from codelake.delta.store import Store
from codelake.errors import Damaged, FeatureRefused

pytestmark = pytest.mark.slow

ARCHIVES = sorted((Path(__file__).parent / "older").glob("*.tar.gz"))
TABLES = {
    "delta-1.2.1": {"plain": 19, "many_commits": 9, "mapped": 3},
    "delta-2.3.0": {"fed": 3, "mapped": 3, "listed_features": 2, "many_parts": 11, "shallow_clone": 3},
    "delta-3.2.1": {"vectors": 42, "v2_checkpoint": 2, "clustered": 3, "tracked": 2, "defaults": 1, "widened": 2},
}
"""Of each release, the tables with their rows."""
REFUSED = {"widened": ("typeWidening-preview", ("deltalake", "duckdb", "polars"))}


@pytest.fixture(scope="module")
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lake]:
    found = {}
    for archive in ARCHIVES:
        root = tmp_path_factory.mktemp("older") / "lake"
        name = archive.name.removesuffix(".tar.gz")
        found[name] = create_lake(Store(str(root)), spark)
        with tarfile.open(archive) as packed:
            packed.extractall(root, filter="data")
    return found


@pytest.mark.parametrize(("release", "table"), [(release, name) for release, them in TABLES.items() for name in them])
def test_read_right_or_refused_by_name(lakes: dict[str, Lake], release: str, table: str) -> None:
    lake = lakes[release]
    written = [line for part in (lake.store.path / f"{table}.rows").glob("*.txt") for line in part.open()]
    assert len(written) == TABLES[release][table], "as that release read it"
    if table == "shallow_clone":
        with pytest.raises(Damaged, match="below the table's own folder"):
            Reader(lake.store).register(table)
        assert [one.fault for one in check_table(lake, table)] == ["path leaves the table"]
        return
    log = lake.log(table)
    check_protocol(log, write=True)
    rows = lake.session.read.format("delta").load(lake.uri(table))
    found = rows.select(F.to_json(F.struct("*"))).collect()
    assert sorted(row[0] for row in found) == sorted(line.rstrip("\n") for line in written)
    assert [str(one) for one in check_table(lake, table, thorough=True) if one.level == "fault"] == []
    feature, engines = REFUSED.get(table, ("", ()))
    for engine in engines:
        with pytest.raises(FeatureRefused, match=f"{feature}, which {engine}"):
            check_protocol(log, write=False, engine=engine)
    if not engines:
        check_protocol(log, write=False, engine="deltalake")
        assert embedded_digest(log) == spark_digest(rows)


def test_every_version_is_read(lakes: dict[str, Lake]) -> None:
    """With checkpoints of one part and of several, with change files, with vectors."""
    for release, table in (("delta-1.2.1", "many_commits"), ("delta-2.3.0", "many_parts"), ("delta-3.2.1", "vectors")):
        lake = lakes[release]
        for version in range(lake.log(table).version + 1):
            rows = lake.session.read.format("delta").option("versionAsOf", version).load(lake.uri(table))
            assert embedded_digest(lake.log(table, version=version)) == spark_digest(rows), (table, version)


def test_a_feed_of_before_is_read(lakes: dict[str, Lake]) -> None:
    lake = lakes["delta-2.3.0"]
    feed = lake.session.read.format("delta").option("readChangeFeed", True).option("startingVersion", 1)
    found = [
        (row.id, row.name, row._change_type) for row in feed.load(lake.uri("fed")).orderBy("_commit_version").collect()
    ]
    assert sorted(found) == sorted(
        [
            *((1, "a", "insert"), (2, "b", "insert"), (3, "c", "insert")),
            *((2, "b", "update_preimage"), (2, "x", "update_postimage")),
            *((3, "c", "update_preimage"), (3, "m", "update_postimage"), (4, "n", "insert")),
            (1, "a", "delete"),
        ]
    )
