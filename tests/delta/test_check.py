"""The check against planted faults: each is found and named, and none lets a read come back short in silence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import QueryBuilder
from pyspark.sql import SparkSession

from codelake.contracts import TABLES
from codelake.delta.checks import check_lake, check_table
from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from tests.delta.planted import PLANTED, Planted, make, rewritten
from tests.delta.things import THINGS
from tests.lakes import made_once

pytestmark = pytest.mark.slow

CONTRACTS = {table.name: table for table in (*TABLES, THINGS)}
VERSIONS = {"things": 5, "events": 4}
"""What the run has published, and readers open."""
N_ROWS = [13, 4]


@pytest.fixture(scope="module")
def sound(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "sound", make, spark)


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Callable[[], Lake]:
    def copy() -> Lake:
        return open_lake(Store(str(shutil.copytree(sound, tmp_path / "lake"))))

    return copy


def read(lake: Lake) -> dict[str, list[Any]]:
    """All rows that readers see, without Spark."""
    found = {}
    for name, version in VERSIONS.items():
        log = lake.log(name, version=version)
        log.require_files()
        engine = QueryBuilder()
        engine.register("t", log.delta_table)
        found[name] = sorted(map(repr, pa.table(engine.execute("SELECT * FROM t").read_all()).to_pylist()))
    return found


def test_a_sound_lake(sound: Path) -> None:
    lake = open_lake(Store(str(sound)))
    assert [str(one) for one in check_lake(lake, CONTRACTS, thorough=True)] == []
    assert [len(rows) for rows in read(lake).values()] == N_ROWS


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.what)
def test_a_planted_fault_is_found_and_named(copied: Callable[[], Lake], planted: Planted) -> None:
    lake = copied()
    planted.plant(lake.store.path)
    found = check_lake(lake, CONTRACTS, thorough=True)
    named = {one.fault: one for one in found}
    assert planted.fault in named, [str(one) for one in found]
    assert (named[planted.fault].level == "note") is planted.is_note
    try:
        n_rows = [len(rows) for rows in read(lake).values()]
    except Exception:  # noqa: BLE001 - said, not short; deltalake's engine raises nothing more special
        return
    assert n_rows == N_ROWS


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
