"""The table of features against real tables: every claim in FEATURES is measured here, in both directions."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import Geometry, VariantVal

from codelake.delta.checks import CHECKS
from codelake.delta.checks.stored import Stored
from codelake.delta.features import (
    ENGINES,
    FEATURES,
    check_enable,
    check_protocol,
    opening_refused,
    properties_for,
    protocol_of,
)
from codelake.delta.log import Log
from codelake.delta.store import Store
from codelake.errors import ContractBroken, FeatureRefused, UsageError

pytestmark = pytest.mark.slow

# what an engine raises when it cannot read; anything else is an error of this test
CANNOT = (
    DeltaError,
    pl.exceptions.PolarsError,
    duckdb.Error,
    pa.ArrowException,
    PySparkException,
    Py4JJavaError,
)

ABC = ((1, "a"), (2, "b"), (3, "c"))
INSERT = "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c')"
JSON = '{"a":1,"b":"x"}'


@dataclass(frozen=True)
class Case:
    """A table whose rows cannot be read right without honouring the feature, where that is possible."""

    columns: str = "id INT, name STRING"
    layout: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    """Beyond those that properties_for gives."""
    statements: tuple[str, ...] = (INSERT,)
    rows: tuple[tuple[Any, ...], ...] = ABC
    where: str = "id = 1"
    matching: tuple[tuple[Any, ...], ...] = ((1, "a"),)
    bad: tuple[Any, ...] | None = None
    """A row that the feature forbids, and that no writer may commit."""


_VARIANT = Case(
    columns="id INT, v VARIANT",
    statements=(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ 1, parse_json('{JSON}')",),
    rows=((1, JSON),),
    matching=((1, JSON),),
)
_WIDENED = Case(
    statements=(
        INSERT,
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "INSERT INTO {t} VALUES (5000000000, 'd')",
    ),
    rows=(*ABC, (5_000_000_000, "d")),
)
_UPDATED = Case(statements=(INSERT, "UPDATE {t} SET name = 'x' WHERE id = 2"), rows=(ABC[0], (2, "x"), ABC[2]))
_GEO = "spark.databricks.delta.geo.preview.enabled"
_POINT = bytes.fromhex("0101000000000000000000F03F0000000000000040")

_POINTS = Case(
    columns="id INT, g GEOMETRY(4326)",
    statements=(f"INSERT INTO {{t}} VALUES (1, ST_GeomFromWKB(X'{_POINT.hex()}', 4326))",),
    rows=((1, _POINT),),
    matching=((1, _POINT),),
)

CASES: dict[str, Case] = {
    "appendOnly": Case(),
    "invariants": Case(columns="id INT NOT NULL, name STRING", bad=(None, "z")),
    "checkConstraints": Case(
        statements=(INSERT, "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)"), bad=(-1, "z")
    ),
    "changeDataFeed": _UPDATED,
    "generatedColumns": Case(
        columns="id INT, twice INT GENERATED ALWAYS AS (id * 2)",
        statements=("INSERT INTO {t} (id) VALUES (1), (2)",),
        rows=((1, 2), (2, 4)),
        where="twice = 4",
        matching=((2, 4),),
        bad=(3, 7),
    ),
    "identityColumns": Case(
        columns="id BIGINT GENERATED ALWAYS AS IDENTITY, name STRING",
        statements=("INSERT INTO {t} (name) VALUES ('a')",),
        rows=((1, "a"),),
    ),
    "allowColumnDefaults": Case(
        columns="id INT, name STRING DEFAULT 'z'",
        statements=("INSERT INTO {t} (id) VALUES (1)",),
        rows=((1, "z"),),
        where="name = 'z'",
        matching=((1, "z"),),
    ),
    "checkpointProtection": Case(),
    "clustering": Case(layout="CLUSTER BY (id)", statements=(INSERT, "OPTIMIZE {t}")),
    "domainMetadata": Case(),
    "inCommitTimestamp": Case(),
    "materializePartitionColumns": Case(layout="PARTITIONED BY (name)", where="name = 'a'"),
    "rowTracking": _UPDATED,
    "icebergCompatV1": Case(),
    "icebergCompatV2": Case(),
    "icebergCompatV3": Case(),
    "coordinatedCommits-preview": Case(),
    "columnMapping": Case(
        columns="id INT, old STRING, gone INT, part STRING",
        layout="PARTITIONED BY (part)",
        statements=(
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a', 7, 'p'), (2, 'b', 8, 'p')",
            "ALTER TABLE {t} RENAME COLUMN old TO name",
            "ALTER TABLE {t} RENAME COLUMN part TO side",
            "ALTER TABLE {t} DROP COLUMN gone",
            "INSERT INTO {t} VALUES (3, 'c', 'q')",
        ),
        rows=((1, "a", "p"), (2, "b", "p"), (3, "c", "q")),
        where="name = 'b' AND side = 'p'",
        matching=((2, "b", "p"),),
    ),
    "deletionVectors": Case(statements=(INSERT, "DELETE FROM {t} WHERE id = 2"), rows=(ABC[0], ABC[2])),
    "timestampNtz": Case(
        columns="id INT, moment TIMESTAMP_NTZ",
        statements=("INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ'2024-01-02 03:04:05.678901')",),
        rows=((1, datetime(2024, 1, 2, 3, 4, 5, 678901)),),
        where="moment >= TIMESTAMP '2024-01-02 00:00:00'",
        matching=((1, datetime(2024, 1, 2, 3, 4, 5, 678901)),),
    ),
    "typeWidening": _WIDENED,
    "typeWidening-preview": _WIDENED,
    "v2Checkpoint": Case(
        properties=(("delta.checkpointInterval", "2"),),
        statements=(INSERT, "INSERT INTO {t} VALUES (4, 'd')", "DELETE FROM {t} WHERE id = 3"),
        rows=(ABC[0], ABC[1], (4, "d")),
    ),
    "vacuumProtocolCheck": Case(),
    "variantType": _VARIANT,
    "variantType-preview": _VARIANT,
    "variantShredding": _VARIANT,
    "variantShredding-preview": _VARIANT,
    "geospatial": _POINTS,
    "geospatial-dev": _POINTS,
}
PLANTED = ("catalogManaged", "adaptiveMetadata-preview")
"""Delta makes no such table by path: their protocol is written into the log of a plain one."""

QUICK = ("deletionVectors", "columnMapping", "typeWidening", "catalogManaged")
"""All read it, all but Polars, Spark only, none; the others take a minute or two more."""


# making ----------------------------------------------------------------------------------------


def make(spark: SparkSession, path: Path, features: tuple[str, ...], case: Case) -> None:
    properties = {**properties_for(features), **dict(case.properties)}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in properties.items())
    table = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {table} ({case.columns}) USING delta {case.layout} "
        + (f"TBLPROPERTIES ({listed})" if listed else "")
    )
    for statement in case.statements:
        spark.sql(statement.replace("{t}", table))


def actions(path: Path) -> list[dict[str, Any]]:
    """Of all log entries, newest first."""
    entries = sorted((path / "_delta_log").glob("*.json"), reverse=True)
    return [json.loads(line) for e in entries if len(e.name) == 25 for line in e.read_text().splitlines()]


def plant(
    path: Path, reader: int, writer: int, *, readers: tuple[str, ...] = (), writers: tuple[str, ...] = ()
) -> None:
    """A commit on top that changes the protocol by hand."""
    protocol: dict[str, Any] = {"minReaderVersion": reader, "minWriterVersion": writer}
    if reader == 3:
        protocol["readerFeatures"] = list(readers)
    if writer == 7:
        protocol["writerFeatures"] = [*readers, *writers]
    newest = max(int(e.name[:20]) for e in (path / "_delta_log").glob("*.json"))
    commit = {"commitInfo": {"timestamp": 1_700_000_000_000, "operation": "UPGRADE PROTOCOL"}}
    text = json.dumps(commit) + "\n" + json.dumps({"protocol": protocol}) + "\n"
    (path / "_delta_log" / f"{newest + 1:020}.json").write_text(text)


def only_the_checkpoint(path: Path) -> None:
    """Take away the entries that the newest checkpoint covers, so that readers need it."""
    log = path / "_delta_log"
    newest = max(int(f.name[:20]) for f in log.glob("[0-9]*.checkpoint.*"))
    assert list(log.glob("_sidecars/*.parquet")), "not a v2 checkpoint"
    for entry in [*log.glob("[0-9]*.json"), *log.glob("[0-9]*.crc")]:
        if ".checkpoint." not in entry.name and int(entry.name[:20]) <= newest:
            entry.unlink()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    write_deltalake(path, pa.table({"id": pa.array([1, 2, 3], pa.int32()), "name": ["a", "b", "c"]}))
    return path


# reading ---------------------------------------------------------------------------------------


def value(found: Any) -> Any:
    """One spelling for what engines return in different ones."""
    if isinstance(found, VariantVal):
        return found.toJson()
    if isinstance(found, dict) and set(found) == {"metadata", "value"}:
        return VariantVal(found["value"], found["metadata"]).toJson()
    return bytes(found.getBytes()) if isinstance(found, Geometry) else found


def rows(found: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(value(v) for v in row) for row in found), key=repr)


def sql(path: Path, query: str) -> pa.Table:
    return pa.table(QueryBuilder().register("t", DeltaTable(path)).execute(query))


def read(engine: str, spark: SparkSession, path: Path, where: str | None) -> list[tuple[Any, ...]]:
    query = "SELECT * FROM t" + (f" WHERE {where}" if where else "")
    if engine == "spark":
        return rows(spark.sql(query.replace(" t", f" delta.`{path}`", 1)).collect())
    if engine == "deltalake":
        return rows(tuple(row.values()) for row in sql(path, query).to_pylist())
    if engine == "duckdb":
        t = sql(path, "SELECT * FROM t")
        with duckdb.connect() as connection:
            return rows(connection.register("t", t).execute(query).fetchall())
    frame = pl.scan_delta(path)
    return rows((frame.filter(pl.sql_expr(where)) if where else frame).collect().rows())


def count(engine: str, spark: SparkSession, path: Path) -> int:
    """By itself, because engines answer it from statistics."""
    if engine == "spark":
        return spark.read.format("delta").load(str(path)).count()
    if engine == "polars":
        return int(pl.scan_delta(path).select(pl.len()).collect().item())
    return int(sql(path, "SELECT count(*) AS n FROM t")["n"][0].as_py())


def reads(engine: str, spark: SparkSession, path: Path, case: Case) -> str:
    """Empty if the engine reads all of it right, or what it did instead."""
    try:
        found = {
            "rows": (read(engine, spark, path, None), rows(case.rows)),
            "filtered": (read(engine, spark, path, case.where), rows(case.matching)),
            "count": (count(engine, spark, path), len(case.rows)),
        }
    except CANNOT as error:
        return str(error)[:200]
    return "; ".join(f"{k}: {got} instead of {want}" for k, (got, want) in found.items() if got != want)


def deltalake_writes(spark: SparkSession, path: Path, case: Case) -> str:
    """Appends the rows again to a copy, and asks Spark; then a row that must be refused."""
    copy = path.with_name("written")
    shutil.copytree(path, copy)
    try:
        again = sql(copy, "SELECT * FROM t")
        write_deltalake(copy, again, mode="append")
    except CANNOT as error:
        return str(error)[:200]
    found = read("spark", spark, copy, None)
    if found != rows(case.rows * 2):
        return f"Spark then reads {found}"
    if case.bad:
        columns = {n: [v] for n, v in zip(again.column_names, case.bad, strict=True)}
        nullable = pa.schema([field.with_nullable(True) for field in again.schema])
        with pytest.raises(DeltaError):
            write_deltalake(copy, pa.table(columns, nullable), mode="append")
    return ""


# the matrix ------------------------------------------------------------------------------------


def test_every_feature_has_a_case() -> None:
    assert {*CASES, *PLANTED} == set(FEATURES)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in FEATURES])
def test_matrix(spark: SparkSession, tmp_path: Path, plain: Path, name: str) -> None:
    feature = FEATURES[name]
    if name in PLANTED:
        case, path = Case(), plain
        needed = ("catalogManaged", "vacuumProtocolCheck")  # of each other, in Delta's own tables
        plant(path, 3, 7, readers=tuple(dict.fromkeys((name, *needed))), writers=("inCommitTimestamp",))
    else:
        case, path = CASES[name], tmp_path / "table"
        # Spark makes these only under a setting that codelake's sessions do not have: not for reading either
        spark.conf.set(_GEO, str(case is _POINTS).lower())
        make(spark, path, (name,), case)
        spark.conf.unset(_GEO)

    protocol = next(a["protocol"] for a in actions(path) if "protocol" in a)
    listed = protocol.get("writerFeatures", ())
    found = protocol_of(protocol["minReaderVersion"], protocol["minWriterVersion"], listed)
    assert name in found.features, "properties_for did not switch it on"
    bound = name in protocol.get("readerFeatures", ()) or (
        name == "columnMapping" and protocol["minReaderVersion"] == 2
    )
    assert bound == feature.binds_readers

    if name == "v2Checkpoint":
        only_the_checkpoint(path)
        path = path.rename(tmp_path / "moved")  # Spark keeps what it knows of the other path
    try:
        opened = DeltaTable(path).version() >= 0
    except DeltaError:
        opened = False
    assert opened == feature.opens
    stored = Stored(Store(str(path.parent)), path.name)
    faults = [str(one) for check in CHECKS for one in check(stored) if one.level == "fault"]
    assert faults == [] or not feature.opens, "sound, whatever its features"

    what = {engine: reads(engine, spark, path, case) for engine in ENGINES}
    assert [e for e in ENGINES if not what[e]] == [e for e in ENGINES if e in feature.reads], what
    if "deltalake" in feature.reads:
        written = deltalake_writes(spark, path, case)
        assert (not written) == ("deltalake" in feature.writes), written
    else:
        assert "deltalake" not in feature.writes


# the gate --------------------------------------------------------------------------------------


def open_log(path: Path) -> Log:
    return Log(Store(str(path.parent)), path.name)


def test_unknown_reader_feature_is_refused_by_name(plain: Path) -> None:
    plant(plain, 3, 7, readers=("deletionVectors", "futureThing"))
    found = opening_refused("plain", actions(plain))
    assert found is not None
    assert (found.feature, found.engine) == ("futureThing", "deltalake")
    with pytest.raises(FeatureRefused, match=r"table plain has the feature futureThing.*deltalake") as raised:
        open_log(plain)
    assert (raised.value.feature, raised.value.engine) == ("futureThing", "deltalake")


def test_reader_feature_that_deltalake_cannot_open_is_refused_by_name(plain: Path) -> None:
    plant(plain, 3, 7, readers=("geospatial",))
    with pytest.raises(FeatureRefused) as raised:
        open_log(plain)
    assert (raised.value.feature, raised.value.engine) == ("geospatial", "deltalake")


_PROTOCOL = pa.schema(
    {
        "protocol": pa.struct(
            {
                "minReaderVersion": pa.int32(),
                "minWriterVersion": pa.int32(),
                "readerFeatures": pa.list_(pa.string()),
                "writerFeatures": pa.list_(pa.string()),
            }
        )
    }
)


def test_unknown_reader_feature_in_a_checkpoint_is_refused_by_name(plain: Path) -> None:
    plant(plain, 3, 7, readers=("futureThing",))
    log = plain / "_delta_log"
    protocol = next(a for a in actions(plain) if "protocol" in a)
    pq.write_table(pa.Table.from_pylist([protocol], _PROTOCOL), log / f"{1:020}.checkpoint.parquet")
    for entry in log.glob("*.json"):
        entry.unlink()
    with pytest.raises(FeatureRefused) as raised:
        open_log(plain)
    assert raised.value.feature == "futureThing"


def test_newer_reader_version_is_refused(plain: Path) -> None:
    plant(plain, 4, 8)
    with pytest.raises(FeatureRefused, match="reader version 4"):
        open_log(plain)


def test_older_version_of_a_table_that_was_upgraded_still_opens(plain: Path) -> None:
    plant(plain, 3, 7, readers=("futureThing",))
    assert Log(Store(str(plain.parent)), "plain", version=0).version == 0


def test_a_log_that_opens_is_not_refused(plain: Path) -> None:
    assert opening_refused("plain", actions(plain)) is None
    assert opening_refused("plain", []) is None


@pytest.mark.parametrize("reader", [1, 3])
def test_unknown_writer_feature_can_be_read_and_not_written(plain: Path, reader: int) -> None:
    plant(plain, reader, 7, readers=("deletionVectors",) if reader == 3 else (), writers=("futureRule",))
    log = open_log(plain)
    assert "futureRule" in check_protocol(log, write=False).features
    for engine in ("spark", "deltalake"):
        with pytest.raises(FeatureRefused, match=f"futureRule, which {engine}") as raised:
            check_protocol(log, write=True, engine=engine)
        assert (raised.value.feature, raised.value.engine) == ("futureRule", engine)


def test_known_feature_that_only_some_engines_read(plain: Path) -> None:
    plant(plain, 3, 7, readers=("typeWidening",))
    log = open_log(plain)
    assert check_protocol(log, write=True).features == ("typeWidening",)
    for engine in ("deltalake", "polars", "duckdb"):
        with pytest.raises(FeatureRefused, match=f"typeWidening, which {engine}.*[Rr]ead it with spark"):
            check_protocol(log, write=False, engine=engine)


def test_known_feature_that_only_spark_writes(plain: Path) -> None:
    plant(plain, 1, 7, writers=("rowTracking", "domainMetadata"))
    log = open_log(plain)
    assert check_protocol(log, write=False, engine="deltalake") == check_protocol(log, write=True)
    with pytest.raises(FeatureRefused, match=r"deltalake .*cannot write.*write it with spark"):
        check_protocol(log, write=True, engine="deltalake")


def test_newer_writer_version_is_refused_for_writing(plain: Path) -> None:
    plant(plain, 1, 8)
    with pytest.raises(FeatureRefused, match="writer version 8"):
        check_protocol(open_log(plain), write=True)


def test_engine_that_does_not_write(plain: Path) -> None:
    with pytest.raises(UsageError, match="spark, deltalake"):
        check_protocol(open_log(plain), write=True, engine="polars")


LEGACY = {
    (1, 1): (),
    (1, 2): ("appendOnly", "invariants"),
    (1, 3): ("appendOnly", "checkConstraints", "invariants"),
    (1, 4): ("appendOnly", "changeDataFeed", "checkConstraints", "generatedColumns", "invariants"),
    (2, 5): (
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "columnMapping",
        "generatedColumns",
        "invariants",
    ),
    (1, 6): (
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "generatedColumns",
        "identityColumns",
        "invariants",
    ),
}


@pytest.mark.parametrize("versions", LEGACY)
def test_legacy_protocols(plain: Path, versions: tuple[int, int]) -> None:
    plant(plain, *versions)
    found = check_protocol(open_log(plain), write=True)
    assert (found.min_reader_version, found.min_writer_version) == versions
    assert found.features == LEGACY[versions]


def test_legacy_column_mapping_locks_polars_out(plain: Path) -> None:
    plant(plain, 2, 5)
    with pytest.raises(FeatureRefused, match="columnMapping, which polars"):
        check_protocol(open_log(plain), write=False, engine="polars")


# enabling --------------------------------------------------------------------------------------


def test_enabling_what_all_read() -> None:
    check_enable(("deletionVectors", "changeDataFeed", "rowTracking", "clustering"))


def test_enabling_what_locks_a_reader_out() -> None:
    with pytest.raises(FeatureRefused, match="columnMapping locks out polars") as raised:
        check_enable(("deletionVectors", "columnMapping"))
    assert (raised.value.feature, raised.value.engine) == ("columnMapping", "polars")
    check_enable(("deletionVectors", "columnMapping"), allow=("columnMapping",))
    check_enable(("columnMapping",), readers=("spark", "deltalake", "duckdb"))
    with pytest.raises(FeatureRefused, match="typeWidening"):
        check_enable(("columnMapping", "typeWidening"), allow=("columnMapping",))


@pytest.mark.parametrize(("name", "engine"), [("catalogManaged", "spark"), ("geospatial", "spark")])
def test_what_codelake_cannot_open_is_not_allowed_either(name: str, engine: str) -> None:
    with pytest.raises(FeatureRefused) as raised:
        check_enable((name,), allow=(name,))
    assert (raised.value.feature, raised.value.engine) == (name, engine)


@pytest.mark.parametrize(("given", "nearest"), [("deletionvectors", "deletionVectors"), ("cdf", None)])
def test_unknown_names(given: str, nearest: str | None) -> None:
    for call in (
        lambda: check_enable((given,)),
        lambda: check_enable((), allow=(given,)),
        lambda: properties_for((given,)),
    ):
        with pytest.raises(ContractBroken, match=nearest or "Nothing was changed"):
            call()


def test_unknown_reader() -> None:
    with pytest.raises(UsageError, match="trino"):
        check_enable((), readers=("trino",))


def test_properties() -> None:
    assert properties_for(("deletionVectors", "domainMetadata", "clustering")) == {
        "delta.enableDeletionVectors": "true",
        "delta.feature.domainMetadata": "supported",
    }
