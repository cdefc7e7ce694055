"""The check against planted faults: each is found and named, and none lets a read come back short in silence."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from codelake.contracts import TABLES, Table
from codelake.delta.checks import check_lake, check_table
from codelake.delta.digest import digest_of
from codelake.delta.lake import Lake, open_lake
from codelake.delta.reading import Reader, engine_failures
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.errors import CodelakeError
from tests.delta.planted import EVENTS, PLANTED, Planted, make, rewritten
from tests.delta.things import THINGS
from tests.lakes import made_once

pytestmark = pytest.mark.slow

CONTRACTS = {table.name: table for table in (*TABLES, THINGS)}
VERSIONS = {"things": 5, "events": 4}
"""What the run has published, and readers open."""


@pytest.fixture(scope="module")
def sound(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "sound", make, spark)


@pytest.fixture(scope="module")
def whole(sound: Path, spark: SparkSession) -> dict[str, str]:
    """What readers see before anything is planted."""
    return {name: str(one) for name, one in read(open_lake(Store(str(sound)), spark)).items()}


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Callable[[], Lake]:
    def copy() -> Lake:
        return open_lake(Store(str(shutil.copytree(sound, tmp_path / "lake"))))

    return copy


def read(lake: Lake, where: str = "true") -> dict[str, object]:
    """What readers see of each table in each engine: digests, or an error. The ways in are those that codelake has."""
    found: dict[str, object] = {}
    for table in (THINGS, EVENTS):
        for name, rows in (("deltalake", embedded), ("spark", scanned)):
            asked = where if table is THINGS else "true"
            try:
                found[f"{table.name} {name}"] = str(digest_of(rows(lake, table, asked)))
            except CodelakeError as error:
                found[f"{table.name} {name}"] = error
            except PySparkException as error:  # what a task says while rows are read
                found[f"{table.name} {name}"] = error
    return found


def embedded(lake: Lake, table: Table, where: str) -> Iterable[pa.RecordBatch]:
    reader = Reader(lake.store)
    reader.register(table.name, version=VERSIONS[table.name])
    columns = ", ".join(f'"{name}"' for name in table.column_names)
    with engine_failures():
        rows = reader.execute(f"SELECT {columns} FROM {table.name} WHERE {where}")
        return list(map(pa.record_batch, rows))


def scanned(lake: Lake, table: Table, where: str) -> Iterable[pa.RecordBatch]:
    rows = scan(Run(lake, "reader"), table, at=VERSIONS[table.name])
    return list(rows.where(where).toArrow().to_batches())


def test_a_sound_lake(sound: Path, whole: dict[str, str]) -> None:
    lake = open_lake(Store(str(sound)))
    assert [str(one) for one in check_lake(lake, CONTRACTS, thorough=True)] == []
    assert [digest.partition("-")[0] for digest in whole.values()] == ["13", "13", "4", "4"]
    assert whole["things deltalake"] == whole["things spark"] and whole["events deltalake"] == whole["events spark"]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.what)
def test_a_planted_fault_is_found_and_named(
    copied: Callable[[], Lake], spark: SparkSession, whole: dict[str, str], planted: Planted
) -> None:
    lake = open_lake(copied().store, spark)
    planted.plant(lake.store.path)
    found = check_lake(lake, CONTRACTS, thorough=True)
    named = {one.fault: one for one in found}
    assert planted.fault in named, [str(one) for one in found]
    assert (named[planted.fault].level == "note") is planted.is_note
    seen = read(lake)
    print(
        planted.what,
        {k: (v if isinstance(v, str) else type(v).__name__ + str(v)[:90]) for k, v in seen.items() if v != whole[k]},
    )
    other = {name: one for name, one in seen.items() if isinstance(one, str) and one != whole[name]}
    assert other == {}


def test_the_engines_differ(copied: Callable[[], Lake], spark: SparkSession) -> None:
    """A column in a file by a name in capitals: Spark takes it for the same, deltalake has NULL in its place."""
    lake = open_lake(copied().store, spark)
    assert check_table(lake, "things", THINGS, thorough=True, engines=True) == []
    rewritten(lambda t: t.rename_columns([c.upper() if c == "size" else c for c in t.column_names]))(lake.store.path)
    assert check_table(lake, "things", THINGS, thorough=True) == [], "nothing else tells"
    [one] = check_table(lake, "things", THINGS, thorough=True, engines=True)
    assert (one.level, one.fault, one.place) == ("fault", "engines differ", "version 5")
    assert one.expected.startswith("13-") and one.found.startswith("13-") and one.found not in one.expected


def test_there_are_many() -> None:
    assert len(PLANTED) >= 40 and len({p.what for p in PLANTED}) == len(PLANTED)
