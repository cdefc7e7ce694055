"""`codelake maintain`, `codelake table ...`, `codelake restore` and `codelake import-parquet` from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.delta import history
from tests.delta.history import NEWEST, UNSORTED
from tests.delta.things import THINGS, new_run, stored
from tests.lakes import made_once

from codelake.cli import maintain as command
from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import RUNS
from codelake.delta.lake import open_lake
from codelake.delta.store import Store
from codelake.delta.write import commit

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


def files(root: Path) -> dict[str, bytes]:
    """All there is but locks and hidden files, with its contents."""
    seen = (file for file in root.rglob("*") if file.is_file() and "_locks" not in file.parts)
    return {str(file.relative_to(root)): file.read_bytes() for file in seen if not file.name.startswith(".")}


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
    code, out, _ = run("table", "restore", "things", "--to", "-1", "--dry-run", "--lake", str(root), "--json")
    assert code == 0 and json.loads(out)[0]["options"] == {"to": "3"}, "as published"
    code, out, _ = run("restore", "--to", "1", "--lake", str(root))
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
        (["vacuum", "things", "--retain-hours", "-1"], 2, "a number from 0 to 876,000; found -1.0"),
        (["vacuum", "things", "--retain-hours", "nan", "--force"], 2, "a number from 0 to 876,000; found nan"),
        (["cleanup-log", "things", "--retain-hours", "inf"], 2, "a number from 0 to 876,000; found inf"),
        (["set", "things", "delta.appendOnly"], 2, "KEY=VALUE"),
        (["set", "things", "delta.appendOnly=true"], 3, "expected false, as the contract says"),
        (["set", "things", "delta.columnMapping.mode=id"], 3, "columnMapping locks out polars"),
        (["set", "things", "delta.minReaderVersion=3"], 3, "a property that Delta or Parquet knows"),
        (["set", "things", "delta.setTransactionRetentionDuration=long"], 3, "such as `interval 30 days`; found long"),
        (["set", "things", "parquet.page.size=64k"], 3, "a whole number from 1 on; found 64k"),
        (["enable", "things", "deletionvectors"], 3, "Did you mean deletionVectors?"),
        (["enable", "things", "appendOnly"], 3, "expected false, as the contract says"),
        (["enable", "things", "columnMapping"], 3, "--allow"),
        (["drop-feature", "things", "rowTracking"], 1, "one of its features"),
        (["drop-feature", "things", "checkConstraints", "--dry-run"], 3, "neither names nor needs"),
        (["drop-feature", "runs", "appendOnly", "--dry-run"], 3, "neither names nor needs"),
        (["drop-feature", "rowTracking", "--all"], 1, "one of their features"),
        (["drop-feature", "rowTracking"], 2, "the NAME of one, or --all, and a FEATURE"),
        (["drop-feature", "things", "rowTracking", "--all"], 2, "the NAME of one, or --all, and a FEATURE"),
        (["drop-feature", "deletionVectors", "--all"], 3, "Take it out of the contract first"),
        (["set", "delta.logRetentionDuration=interval 1 days", "--all"], 3, "as the contract says"),
        (["restore", "things", "--to", "77"], 5, "a version up to 6"),
        (["restore", "things", "--to", "2001-01-01"], 5, "nothing committed by then"),
        (["restore", "things", "--to", "nobody"], 1, "no published run for `nobody`"),
        (["restore", "thing", "--to", "1"], 1, "one of maintenance, runs, things, unsorted"),
        (["export", "thing", "nowhere"], 1, "one of maintenance, runs, things, unsorted"),
        (["check", "things", "--dry-run"], 2, "--repair beside it"),
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


def test_export_at_a_run_a_revision_or_a_time(run: Run, root: Path, tmp_path: Path, spark: SparkSession) -> None:
    lake = open_lake(Store(str(root)), spark)
    [row] = stored(lake, "runs")
    made = [{"repo": "shop", "source": "git", "revision": "beef" * 10, "is_dirty": False}]
    second = dict(zip(RUNS.column_names, row, strict=True)) | {"run_id": "second", "repositories": made}
    later = {"recorded_at": row[1] + timedelta(seconds=1), "versions": {"things": 5}}
    commit(new_run(lake), RUNS, lake.session.createDataFrame(arrow_table(RUNS, [second | later])), mode="append")
    fourth = lake.log("things").commit(4)
    assert fourth is not None

    def exported(at: str) -> int:
        code, out, err = run("table", "export", "things", str(tmp_path / at), "--at", at, "--lake", str(root), "--json")
        assert code == 0, err
        return int(json.loads(out)["version"])

    whens = ("second", "-1", "beefbeef", "things=5", "5", "published", "-2", fourth.timestamp.isoformat())
    assert [exported(at) for at in whens] == [5, 5, 5, 5, 5, 3, 3, 4]
    for at, table, says in (
        ("nobody", "things", "no published run for `nobody`"),
        ("second", "unsorted", "one that it published: things"),
        ("-9", "things", "1 to 2, or -1 for the last"),
        ("1234567", "things", "a git revision that was built"),
    ):
        code, out, err = run("table", "export", table, str(tmp_path / "none"), "--at", at, "--lake", str(root))
        assert (code, out) == (1, "") and says in err, err


@pytest.mark.parametrize(
    "arguments",
    [
        ["checkpoint", "things"],
        ["set", "things", "delta.setTransactionRetentionDuration=interval 90 days"],
        ["enable", "things", "inCommitTimestamp"],
        ["drop-feature", "loose", "deletionVectors"],
        ["optimize", "things"],
        ["vacuum", "things", "--retain-hours", "0", "--force"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_dry_run_says_what_is_done_then_and_changes_nothing(
    run: Run, root: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "things", root / "loose")
    monkeypatch.setitem(command.CONTRACTS, "loose", replace(THINGS, name="loose", features=()))
    there = files(root)
    code, out, err = run("table", *arguments, "--dry-run", "--lake", str(root), "--json")
    assert code == 0 and files(root) == there, err
    [dry] = json.loads(out)
    assert dry["is_dry_run"] and dry["version"] == dry["from_version"] and any(dry["metrics"].values())
    code, out, err = run("table", *arguments, "--lake", str(root), "--json")
    [done] = json.loads(out)
    same = ("table", "operation", "reason", "from_version", "options", "touched")
    assert code == 0 and {key: done[key] for key in same} == {key: dry[key] for key in same}, err
    assert dry["operation"] == "optimize" or done["metrics"] == dry["metrics"]
    assert files(root) != there


def test_import(run: Run, root: Path, tmp_path: Path) -> None:
    source = tmp_path / "year=2026" / "a.parquet"
    source.parent.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), source)
    (source.parent / "b.parquet").write_bytes(b"no")
    call = ("import-parquet", str(tmp_path / "year=2026"), "loaded", "--lake", str(root))
    code, out, err = run(*call, "--dry-run")
    assert code == 5 and "loaded: 2 rows of 1 files to load, 0 known before" in out
    assert "cannot be read: b.parquet" in err
    code, _, err = run(*call)
    assert code == 5 and "b.parquet" in err and "--skip-corrupt" in err and not (root / "loaded").exists()
    code, out, _ = run(*call, "--skip-corrupt", "--json")
    assert code == 0 and json.loads(out)["n_rows"] == 2 and version(root, "loaded") == 1
    pq.write_table(pa.table({"id": [3, 4, 5]}), source.parent / "b.parquet")
    there = files(root)
    code, out, _ = run(*call, "--dry-run", "--json")
    dry = json.loads(out)
    assert code == 0 and (dry["n_files"], dry["n_known"], dry["n_rows"]) == (1, 1, 3) and files(root) == there
    code, out, _ = run(*call, "--json")
    done = json.loads(out)
    assert code == 0 and {key: dry[key] for key in ("n_files", "n_known", "n_rows")}.items() <= done.items()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["cpg_nodes"], 2, "no contract of codelake has"),
        (["_locks"], 2, "a letter, then letters"),
        (["bad-name"], 2, "a letter, then letters"),
        (["fine", "--partition-by", "colour"], 2, "one of the columns id; found colour"),
        (["fine", "--lake", "/nowhere"], 1, "a codelake lake"),
    ],
)
def test_what_is_not_imported(run: Run, root: Path, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "a.parquet")
    at = () if "--lake" in arguments else ("--lake", str(root))
    for more in ((), ("--dry-run",)):
        found, out, err = run("import-parquet", str(tmp_path / "a.parquet"), *arguments, *at, *more)
        assert (found, out) == (code, "") and says in err


def test_ddl(run: Run, root: Path) -> None:
    code, out, _ = run("ddl", "--schema", "main.graph", "--lake", str(root))
    assert code == 0 and out.startswith("CREATE SCHEMA IF NOT EXISTS `main`.`graph`;")
    assert "`main`.`graph`.`runs` USING delta LOCATION" in out


@pytest.mark.parametrize("schema", ["", "a.", "a.b.c", "a`; DROP TABLE b; --"])
def test_what_is_no_schema(run: Run, root: Path, schema: str) -> None:
    code, out, err = run("ddl", "--schema", schema, "--lake", str(root))
    assert (code, out) == (2, "") and "SCHEMA or CATALOGUE.SCHEMA" in err
