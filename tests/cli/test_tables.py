"""`codelake tables` on a real lake. The command itself starts no Spark; making the lake does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.delta.things import THINGS, frame

from codelake.cli import tables as command
from codelake.contracts.operations import COMMITS, OPERATIONS
from codelake.delta.create import create_table
from codelake.delta.lake import create_lake
from codelake.delta.record import create_operations, record
from codelake.delta.run import Run as LakeRun
from codelake.delta.store import Store
from codelake.delta.write import commit

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Operations tables, `things` with five versions, and a table that nobody declared."""
    root = tmp_path_factory.mktemp("tables") / "lake"
    lake = create_lake(Store(str(root)), spark)
    create_operations(lake)
    create_table(lake, THINGS)
    run = LakeRun(lake, "run-1", stage="load")
    commit(run, THINGS, frame(lake, [(1, "a", 1), (2, "b", 2), (3, "b", 3)]), mode="append")
    commit(run, THINGS, frame(lake, [(3, "b", 30), (4, "c", 4)]), mode="merge")
    commit(LakeRun(lake, "run-2", stage="fix"), THINGS, mode="update", where="id = 1", values={"size": "10"})
    commit(LakeRun(lake, "run-2", stage="clean"), THINGS, mode="delete", where="owner = 'b'")
    record(run)
    spark.range(7).selectExpr("id", "string(id) AS text").coalesce(1).write.format("delta").save(lake.uri("foreign"))
    return root


@pytest.fixture
def root(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Tests have a contract of their own.
    monkeypatch.setitem(command._CONTRACTS, "things", THINGS)
    return made


@pytest.fixture
def own(root: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(root, tmp_path / "own"))


def listed(run: Run, root: Path, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code, out, err = run("tables", "--lake", str(root), "--json", *arguments)
    assert err == ""
    return code, {row["name"]: row for row in json.loads(out)}


def one(run: Run, root: Path, *arguments: str) -> dict[str, Any]:
    code, out, err = run("tables", "--lake", str(root), "--json", *arguments)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_all_tables(run: Run, root: Path) -> None:
    code, found = listed(run, root)
    assert code == 0
    assert list(found) == sorted([*(table.name for table in OPERATIONS), "foreign", "things"])
    things = found["things"]
    assert (things["version"], things["n_rows"], things["has_contract"], things["n_drift"]) == (4, 2, True, 0)
    assert things["n_bytes"] == sum(f.stat().st_size for f in live_files(root, things["n_files"]))
    assert datetime.fromisoformat(things["changed_at"]).year >= 2025
    assert (found["commits"]["n_rows"], found["commits"]["version"]) == (2, 1)
    assert (found["quality"]["n_rows"], found["quality"]["n_files"], found["quality"]["n_bytes"]) == (0, 0, 0)
    foreign = found["foreign"]
    assert (foreign["n_rows"], foreign["n_files"], foreign["has_contract"], foreign["n_drift"]) == (
        7,
        1,
        False,
        None,
    )
    assert all(row["error"] is None for row in found.values())


def live_files(root: Path, n: int) -> list[Path]:
    actions: dict[str, bool] = {}
    for entry in sorted((root / "things" / "_delta_log").glob("*.json")):
        for action in map(json.loads, entry.read_text().splitlines()):
            if "remove" in action:
                actions[action["remove"]["path"]] = False
            if "add" in action:
                actions[action["add"]["path"]] = True
    live = [root / "things" / path for path, is_live in actions.items() if is_live]
    assert len(live) == n
    return live


def test_all_tables_as_text(run: Run, root: Path) -> None:
    code, out, err = run("tables", "--lake", str(root))
    assert (code, err) == (0, "")
    header, *lines = out.splitlines()
    assert header.split() == [
        "table",
        "rows",
        "version",
        "size",
        "files",
        "changed",
        "at",
        "drift",
    ]
    things = next(line for line in lines if line.startswith("things "))
    assert things.split()[:3] == ["things", "2", "4"] and things.split()[-1] == "0"
    assert next(line for line in lines if line.startswith("foreign ")).endswith(" no contract")
    # Times are shown in seconds: one that was shown is the end of its second.
    shown = " ".join(things.split()[-3:-1])
    assert one(run, root, "things", "--at", shown)["version"] == 4


def test_one_table(run: Run, root: Path) -> None:
    found = one(run, root, "things")
    assert (found["meaning"], found["key"], found["key_scope"]) == ("Things, for tests.", ["id"], "table")
    assert [(c["column"], c["type"], c["nullable"], c["meaning"]) for c in found["columns"]] == [
        ("id", "bigint", False, "the key"),
        ("owner", "string", False, "what a replace rewrites"),
        ("size", "int", True, "a number"),
    ]
    assert found["checks"] == [
        {"check": "size_positive", "action": "fail", "expression": "size > 0", "origin": "contract"}
    ]
    assert (found["min_reader_version"], found["min_writer_version"], found["sorted_by"]) == (3, 7, "id")
    assert {"deletionVectors", "changeDataFeed", "checkConstraints"} <= set(found["features"])
    assert found["drift"] == []
    history = [
        (c["version"], c["operation"], c["mode"], c["run_id"], c["stage"], c["n_rows"]) for c in found["history"]
    ]
    assert history == [
        (4, "DELETE", "delete", "run-2", "clean", 2),
        (3, "UPDATE", "update", "run-2", "fix", 1),
        (2, "MERGE", "merge", "run-1", "load", 2),
        (1, "WRITE", "append", "run-1", "load", 3),
        (0, "CREATE TABLE", None, None, None, None),
    ]


def test_one_table_as_text(run: Run, root: Path) -> None:
    code, out, err = run("tables", "things", "--lake", str(root), "--limit", "2")
    assert (code, err) == (0, "")
    assert out.startswith("things: Things, for tests.\n")
    assert "key         id (unique in the table)\n" in out
    assert "The table is as its contract says." in out
    history = out.partition("History, newest first\n")[2].splitlines()
    assert [line.split()[0] for line in history] == ["version", "4", "3"]
    assert history[1].split()[-4:] == ["DELETE", "run-2", "clean", "2"]


def test_an_operations_table_shows_semantic_types_and_checks(run: Run, root: Path) -> None:
    found = one(run, root, "commits")
    assert found["meaning"] == COMMITS.meaning
    assert next(c for c in found["columns"] if c["column"] == "run_id")["semantic"] == "run id"
    assert "run_id_is_run_id" in {c["check"] for c in found["checks"]}


def test_a_table_without_a_contract(run: Run, root: Path) -> None:
    found = one(run, root, "foreign")
    assert (found["meaning"], found["has_contract"], found["key"]) == (None, False, [])
    assert [(c["column"], c["type"]) for c in found["columns"]] == [("id", "bigint"), ("text", "string")]
    assert "No contract declares this table" in run("tables", "foreign", "--lake", str(root))[1]


def test_at_a_version_and_at_a_time(run: Run, root: Path) -> None:
    now = one(run, root, "things")
    second = one(run, root, "things", "--at", "2")
    assert (second["version"], second["n_rows"], len(second["history"])) == (2, 4, 3)
    time = next(c["committed_at"] for c in now["history"] if c["version"] == 1)
    first = one(run, root, "things", "--at", time)
    assert (first["version"], first["n_rows"]) == (1, 3)
    code, then = listed(run, root, "--at", time)
    assert code == 0 and then["things"]["version"] == 1 and then["commits"]["version"] == 0
    assert "foreign" not in then, "it was made later"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["things", "--at", "9"], 5, "table things, version 9; expected a version up to 4"),
        (["things", "--at", "2001-01-01"], 5, "nothing committed by then"),
        (["things", "--at", "yesterday"], 2, "expected ISO 8601"),
        (["--at", "yesterday"], 2, "expected ISO 8601"),
        (["--at", "2"], 2, "each table counts its own versions"),
        (["thing"], 1, "Did you mean things?"),
        (["xyz"], 1, "Type `codelake tables`"),
        (["..", "--at", "1"], 1, "no such table"),
    ],
)
def test_what_is_not_there(run: Run, root: Path, arguments: list[str], code: int, says: str) -> None:
    found, out, err = run("tables", "--lake", str(root), *arguments)
    assert (found, out) == (code, "")
    assert says in err


def test_a_table_that_is_declared_and_not_made(run: Run, own: Path) -> None:
    shutil.rmtree(own / "scans")
    code, _, err = run("tables", "scans", "--lake", str(own))
    assert code == 1 and "declared by a contract, but not made yet" in err


def test_no_lake(run: Run) -> None:
    code, out, err = run("tables")
    assert (code, out) == (1, "")
    assert "lake .codelake" in err and "--lake" in err


def test_a_damaged_table_is_listed_with_its_error_and_the_others_are_shown(run: Run, own: Path) -> None:
    (own / "things" / "_delta_log" / f"{2:020}.json").write_bytes(b"")
    code, found = listed(run, own)
    assert code == 5
    assert "log entry 2; expected a commit; found an empty file" in found["things"]["error"]
    assert found["commits"]["n_rows"] == 2 and found["commits"]["error"] is None
    code, out, _ = run("tables", "--lake", str(own), "--quiet")
    things = next(line for line in out.splitlines() if line.startswith("things "))
    assert code == 5 and "found an empty file" in things and "\nscans " in out
    code, out, err = run("tables", "things", "--lake", str(own))
    assert (code, out) == (5, "") and "found an empty file" in err


def test_drift_is_counted_and_shown_row_by_row(run: Run, own: Path, spark: SparkSession) -> None:
    table = f"delta.`{own / 'things'}`"
    spark.sql(f"ALTER TABLE {table} ADD COLUMN colour string")
    spark.sql(f"ALTER TABLE {table} DROP CONSTRAINT size_positive")
    assert listed(run, own)[1]["things"]["n_drift"] == 2
    found = one(run, own, "things")["drift"]
    assert [(d["kind"], d["name"], d["expected"], d["found"]) for d in found] == [
        ("extra column", "colour", "no such column", "string"),
        ("check", "size_positive", THINGS.checks[0].sql, "not set"),
    ]
    out = run("tables", "things", "--lake", str(own))[1]
    section = out.partition("Drift from the contract\n")[2].splitlines()
    assert section[0].split() == ["what", "name", "expected", "found"]
    assert section[1].startswith("extra column  colour") and section[1].endswith("string")
    assert len(one(run, own, "things", "--at", "4")["drift"]) == 0


def test_no_spark_is_loaded(root: Path) -> None:
    program = (
        "import sys; from codelake.cli.main import run; "
        f"codes = [run(['tables', *name, '--lake', {str(root)!r}, '--json']) for name in ([], ['things'])]; "
        "print(codes, 'pyspark' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "[0, 0] False\n"


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "1.0 MB"), (2_340_000_000, "2.3 GB")],
)
def test_sizes(n: int, text: str) -> None:
    assert command._size(n) == text
