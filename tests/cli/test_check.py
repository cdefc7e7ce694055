"""`codelake check` on a real lake with planted faults."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.delta.planted import entry, make
from tests.delta.things import THINGS, stored
from tests.lakes import made_once

from codelake.cli import check as command
from codelake.delta.lake import open_lake
from codelake.delta.store import Store

Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "sound", make, spark)


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(command.CONTRACTS, "things", THINGS)
    return Path(shutil.copytree(made, tmp_path / "own"))


def test_a_sound_lake(run: Run, root: Path) -> None:
    assert run("check", "--lake", str(root)) == (0, "No fault was found.\n", "")
    assert run("table", "check", "things", "--thorough", "--engines", "--json", "--lake", str(root))[:2] == (0, "[]\n")


def test_no_such_table(run: Run, root: Path) -> None:
    code, _, err = run("table", "check", "thing", "--lake", str(root))
    assert code == 1 and "no such table" in err


def test_faults_are_rows_and_the_exit_code(run: Run, root: Path) -> None:
    next((root / "events").glob("day=0/*.parquet")).unlink()
    code, out, _ = run("check", "--lake", str(root), "--json")
    found = json.loads(out)
    assert code == 5
    assert {(one["table"], one["fault"]) for one in found} == {
        ("events", "missing file"),
        ("events", "published version lost"),
    }
    assert run("table", "check", "things", "--lake", str(root))[0] == 0


def test_a_torn_commit_is_set_aside_after_a_dry_run(run: Run, root: Path, spark: SparkSession) -> None:
    torn = entry(root, 6)
    torn.write_bytes(b"")
    code, out, err = run("table", "check", "things", "--repair", "--dry-run", "--lake", str(root))
    assert code == 5 and "empty entry" in out and "would set aside _delta_log/" in err and torn.exists()
    assert run("table", "check", "things", "--repair", "--lake", str(root), "--quiet")[0] == 0
    [moved] = (root / "_set_aside").rglob(torn.name)
    assert moved.read_bytes() == b"" and not torn.exists()
    lake = open_lake(Store(str(root)), spark)
    assert len(stored(lake)) == 13
    [row] = spark.read.format("delta").load(lake.uri("maintenance")).collect()
    assert (row.table_name, row.operation, row.reason, row.version) == ("things", "repair", "empty entry", 5)
