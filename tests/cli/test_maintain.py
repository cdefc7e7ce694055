"""`codelake maintain`, `codelake table ...`, `codelake restore` and `codelake import-parquet` from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.delta import history
from tests.delta.history import NEWEST, UNSORTED
from tests.delta.things import THINGS
from tests.lakes import made_once

from codelake.cli import maintain as command
from codelake.delta.lake import open_lake
from codelake.delta.store import Store

Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "history", history.make, spark)


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for table in (THINGS, UNSORTED):
        monkeypatch.setitem(command.CONTRACTS, table.name, table)
    return Path(shutil.copytree(made, tmp_path / "own"))


def version(root: Path, name: str = "things") -> int:
    return open_lake(Store(str(root))).log(name).version


def test_nothing_is_due(run: Run, root: Path) -> None:
    assert run("maintain", "--lake", str(root)) == (0, "Nothing is due.\n", "")


def test_optimize_then_restore(run: Run, root: Path) -> None:
    code, out, _ = run("table", "optimize", "--all", "--dry-run", "--lake", str(root), "--json")
    assert code == 0 and len(json.loads(out)) == 4 and version(root) == NEWEST
    code, out, _ = run("table", "optimize", "things", "--lake", str(root))
    assert code == 0 and "added files 1" in out and version(root) == NEWEST + 1
    code, out, _ = run("table", "restore", "things", "--to", "2", "--dry-run", "--lake", str(root), "--json")
    assert code == 0 and json.loads(out)[0]["metrics"]["n_rows_back"] == 6
    code, out, _ = run("restore", "--to", "published", "--lake", str(root))
    assert code == 0 and "restore" in out and version(root) == NEWEST + 2


def test_a_feature_of_all_tables(run: Run, root: Path) -> None:
    def having() -> list[str]:
        lake = open_lake(Store(str(root)))
        return [name for name in lake.table_names() if "inCommitTimestamp" in lake.log(name).protocol[2]]

    at = ("--all", "--lake", str(root), "--json")
    code, out, _ = run("table", "enable", "inCommitTimestamp", *at)
    assert code == 0 and [one["metrics"] for one in json.loads(out)] == [{"n_features": 1}] * 4 and len(having()) == 4
    assert run("table", "drop-feature", "things", "inCommitTimestamp", "--lake", str(root))[0] == 0
    assert len(having()) == 3
    code, out, _ = run("table", "drop-feature", "inCommitTimestamp", "--dry-run", *at)
    assert code == 0 and [one["table"] for one in json.loads(out)] == having() and len(having()) == 3
    code, out, _ = run("table", "drop-feature", "inCommitTimestamp", *at)
    assert code == 0 and len(json.loads(out)) == 3 and having() == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["vacuum"], 2, "the NAME of one, or --all"),
        (["vacuum", "thing"], 1, "no such table"),
        (["vacuum", "things", "--retain-hours", "1"], 3, "Say it twice, with --force"),
        (["vacuum", "things", "--force"], 2, "--retain-hours beside it"),
        (["set", "things", "delta.appendOnly"], 2, "KEY=VALUE"),
        (["enable", "things", "deletionvectors"], 3, "Did you mean deletionVectors?"),
        (["drop-feature", "things", "rowTracking"], 1, "one of its features"),
        (["drop-feature", "rowTracking", "--all"], 1, "one of their features"),
        (["drop-feature", "rowTracking"], 2, "the NAME of one, or --all, and a FEATURE"),
        (["drop-feature", "things", "rowTracking", "--all"], 2, "the NAME of one, or --all, and a FEATURE"),
        (["drop-feature", "deletionVectors", "--all"], 3, "Take it out of the contract first"),
        (["set", "delta.logRetentionDuration=interval 1 days", "--all"], 3, "as the contract says"),
        (["restore", "things", "--to", "77"], 5, "a version up to"),
        (["verify", "nowhere"], 1, "_export.json"),
    ],
)
def test_what_is_refused(run: Run, root: Path, arguments: list[str], code: int, says: str) -> None:
    found, out, err = run("table", *arguments, "--lake", str(root))
    assert (found, out) == (code, "") and says in err
    assert version(root) == NEWEST


def test_export_and_verify(run: Run, root: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "copy")
    code, out, _ = run("table", "export", "things", target, "--at", "3", "--lake", str(root))
    assert code == 0 and "version 3: 9 rows in 1 files" in out
    assert run("table", "verify", target)[1] == "things, version 3: 9 rows, as exported\n"


def test_import(run: Run, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "year=2026" / "a.parquet"
    source.parent.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), source)
    (source.parent / "b.parquet").write_bytes(b"no")
    call = ("import-parquet", str(tmp_path / "year=2026"), "loaded", "--lake", str(root))
    code, out, err = run(*call, "--dry-run")
    assert code == 5 and "loaded: 2 rows in 2 files" in out and "cannot be read: b.parquet" in err
    code, _, err = run(*call)
    assert code == 5 and "b.parquet" in err and "--skip-corrupt" in err
    code, out, _ = run(*call, "--skip-corrupt", "--json")
    assert code == 0 and json.loads(out)["n_rows"] == 2 and version(root, "loaded") == 1
    assert run("import-parquet", str(tmp_path), "cpg_nodes", "--lake", str(root))[0] == 2


def test_ddl(run: Run, root: Path) -> None:
    code, out, _ = run("ddl", "--schema", "main.graph", "--lake", str(root))
    assert code == 0 and out.startswith("CREATE SCHEMA IF NOT EXISTS `main`.`graph`;")
    assert "`main`.`graph`.`runs` USING delta LOCATION" in out
