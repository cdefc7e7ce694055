"""The check against planted faults: each is found and named, and none lets a read come back short in silence."""

from __future__ import annotations

import contextlib
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from codelake.contracts import TABLES, Column, Reference, Table
from codelake.delta.checks import check_lake, check_table
from codelake.delta.digest import digest_of
from codelake.delta.embedded import ask
from codelake.delta.engine import ENGINE_ERRORS
from codelake.delta.lake import Lake, open_lake
from codelake.delta.reading import Reader, engine_failures
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.errors import CodelakeError
from tests.delta.planted import (
    EVENTS,
    PLANTED,
    Planted,
    data_file,
    edited,
    flip,
    make,
    rewritten,
    with_stats,
)
from tests.delta.things import THINGS
from tests.lakes import made_once

pytestmark = pytest.mark.slow

CONTRACTS = {table.name: table for table in (*TABLES, THINGS)}
OTHER_VALUES = {
    "a column of another type",
    "NULL where none may be",
    "a key is there twice",
    "no partition value",
}
"""The log agrees with what is there: as many rows are read as there were, with the values that there are now."""
VERSIONS = {"things": 5, "events": 4}
"""What the run has published, and readers open."""


@pytest.fixture(scope="module")
def sound(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "sound", make, spark)


@pytest.fixture(scope="module")
def whole(sound: Path, spark: SparkSession) -> dict[str, str]:
    """What readers see before anything is planted."""
    return {name: str(one) for name, one in read(open_lake(Store(str(sound)), spark), (THINGS, EVENTS)).items()}


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Callable[[], Lake]:
    def copy() -> Lake:
        return open_lake(Store(str(shutil.copytree(sound, tmp_path / "lake"))))

    return copy


def read(lake: Lake, tables: Iterable[Table], where: str = "true") -> dict[str, object]:
    """What readers see of each table in each engine: digests, or an error. The ways in are those that codelake has."""
    found: dict[str, object] = {}
    for table in tables:
        for name, rows in (("deltalake", embedded), ("spark", scanned)):
            try:
                found[f"{table.name} {name}"] = str(digest_of(rows(lake, table, where)))
            except (CodelakeError, *ENGINE_ERRORS) as error:  # Spark's own come while rows are read
                found[f"{table.name} {name}"] = error
    return found


def read_newest(lake: Lake, tables: Iterable[Table]) -> dict[str, str]:
    """What whoever pins nothing reads, where it can be read."""
    found = {}
    for table in tables:
        columns = ", ".join(f'"{name}"' for name in table.column_names)
        with contextlib.suppress(CodelakeError):
            run, reader = Run(lake, "newest"), Reader(lake.store)
            rows = ask(run, (table,), f"SELECT {columns} FROM {table.name}")
            assert reader.register(table.name) == run.pins[table.name].version
            found[f"{table.name} deltalake"] = str(digest_of(rows.to_batches()))
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
    touched = [table for table in (THINGS, EVENTS) if table.name in {one.table for one in found}]
    seen = {name: one for name, one in read(lake, touched).items() if isinstance(one, str) and one != whole[name]}
    seen |= {name: one for name, one in read_newest(lake, touched).items() if one != whole[name]}
    if planted.what in OTHER_VALUES:
        assert seen, "no exception any more"
        assert {name: one.partition("-")[0] for name, one in seen.items()} == {
            n: whole[n].partition("-")[0] for n in seen
        }
    else:
        assert seen == {}, "all rows, or an error"


def test_a_filter_trusts_statistics_and_only_the_check_does_not(
    copied: Callable[[], Lake], spark: SparkSession
) -> None:
    lake = open_lake(copied().store, spark)
    assert [str(one)[:2] for one in read(lake, [THINGS], "id = 50").values()] == ["1-", "1-"]
    edited(5, with_stats(lambda stats: stats["minValues"].update(id=51)))(lake.store.path)
    assert [str(one)[:2] for one in read(lake, [THINGS], "id = 50").values()] == ["0-", "0-"], (
        "docs/operations.md says it"
    )
    [one] = check_table(lake, "things", THINGS)
    assert (one.level, one.fault) == ("fault", "statistics lie")


def test_the_engines_differ(copied: Callable[[], Lake], spark: SparkSession) -> None:
    """A column in a file by a name in capitals: Spark takes it for the same, deltalake has NULL in its place."""
    lake = open_lake(copied().store, spark)
    assert check_table(lake, "things", THINGS, thorough=True, engines=True) == []
    rewritten(lambda t: t.rename_columns([c.upper() if c == "size" else c for c in t.column_names]))(lake.store.path)
    assert check_table(lake, "things", THINGS, thorough=True) == [], "nothing else tells"
    [one] = check_table(lake, "things", THINGS, thorough=True, engines=True)
    assert (one.level, one.fault, one.place) == ("fault", "engines differ", "version 5")
    assert one.expected.startswith("13-") and one.found.startswith("13-") and one.found not in one.expected


def test_references_between_tables(copied: Callable[[], Lake]) -> None:
    known = replace(THINGS, references=(Reference(("size",), "events", ("id",)),))
    lake = copied()
    [one] = check_table(lake, "things", known, thorough=True)
    assert (one.level, one.fault, one.place) == ("fault", "reference to nothing", "3 values")
    assert [f"'size': {n}" in one.found for n in (0, 3, 4, 5, 6)] == [False, False, True, True, True]
    shutil.rmtree(lake.store.path / "events")
    [one] = check_table(lake, "things", known, thorough=True)
    assert (one.fault, one.found) == ("reference to nothing", "no such table")


def test_a_table_that_differs_from_its_contract(copied: Callable[[], Lake]) -> None:
    other = replace(THINGS, columns=(*THINGS.columns, Column("more", "string", "new", nullable=True)))
    [one] = check_table(copied(), "things", other)
    assert (one.level, one.fault, one.place) == ("note", "drift", "missing column more")


def test_bytes_that_hadoop_has_summed_up(copied: Callable[[], Lake]) -> None:
    lake = copied()
    file = data_file(lake.store.path)
    raw = file.read_bytes()
    sums = b"".join(struct.pack(">I", zlib.crc32(raw[at : at + 512])) for at in range(0, len(raw), 512))
    file.with_name(f".{file.name}.crc").write_bytes(b"crc\0" + struct.pack(">i", 512) + sums)
    assert check_table(lake, "things", THINGS, thorough=True) == []
    name = raw.index(b"parquet-mr")  # who wrote it, which no reader asks
    flip(file, name)
    [one] = check_table(lake, "things", THINGS, thorough=True)
    assert (one.fault, one.found) == ("changed bytes", f"others at {name - name % 512}")
    assert check_table(lake, "things", THINGS) == [], "only who asks for every byte is told"


def test_there_are_many() -> None:
    assert len(PLANTED) >= 40 and len({p.what for p in PLANTED}) == len(PLANTED)
