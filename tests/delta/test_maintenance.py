"""Maintenance on tables with a real history: what is done, what is refused, what stays readable."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from codelake.contracts import Layout
from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import MAINTENANCE, RUNS
from codelake.contracts.table import Upkeep
from codelake.delta.changes import changes
from codelake.delta.checks import check_table
from codelake.delta.checks.stored import Stored
from codelake.delta.create import create_table
from codelake.delta.digest import embedded_digest
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake, create_lake, open_lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.due import due
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.properties import change_properties, drop, enable
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import FeatureRefused, NotFound, PinUnavailable, Refused, UsageError
from codelake.pipeline.upkeep import finish, maintain, run_row
from tests.delta.things import THINGS, frame, new_run, stored

pytestmark = pytest.mark.slow

UNSORTED = replace(THINGS, name="unsorted", layout=Layout())
NOTHING = timedelta(0)
PUBLISHED, NEWEST = 3, 6
CURSORS = {"test": {"unsorted": 2}}


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """things: four appends, of which a run published three, a replace and a delete; unsorted: two appends."""
    root = tmp_path_factory.mktemp("maintenance") / "lake"
    lake = create_lake(Store(str(root)), spark)
    for table in (RUNS, MAINTENANCE):
        create_table(lake, table)
    for table, n in ((THINGS, 4), (UNSORTED, 2)):
        create_table(lake, table)
        for i in range(n):
            rows = [(i * 10 + k, f"o{i}", k + 1) for k in (3, 1, 2)]
            commit(new_run(lake, f"r{i}"), table, frame(lake, rows, table).coalesce(1), mode="append")
    publish(lake, "published", {"things": 3, "unsorted": 2})
    commit(
        new_run(lake, "r7"),
        THINGS,
        frame(lake, [(31, "o3", 9)]),
        mode="replace",
        replacing=[("o3",)],
        cursors={"unsorted": 2},
    )
    commit(new_run(lake, "r8"), THINGS, mode="delete", where="id = 2")
    return root


def publish(lake: Lake, run_id: str, versions: dict[str, int]) -> None:
    run = Run(lake, run_id, stage="publish")
    row = run_row(run, versions, pins={}, started_at=datetime.now(UTC))
    commit(run, RUNS, lake.session.createDataFrame(arrow_table(RUNS, [row])), mode="append")


@pytest.fixture
def lake(made: Path, tmp_path: Path, spark: SparkSession) -> Lake:
    return open_lake(Store(str(shutil.copytree(made, tmp_path / "lake"))), spark)


def upkeep(lake: Lake) -> Run:
    return Run(lake, "upkeep", stage="maintain", pipeline="maintain")


def data_files(lake: Lake, name: str = "things") -> set[str]:
    return {p.name for p in (lake.store.path / name).iterdir() if p.is_file() and not p.name.startswith(".")}


def faults(lake: Lake) -> list[str]:
    return [str(one) for one in check_table(lake, "things", THINGS, thorough=True) if one.level == "fault"]


def age(lake: Lake, name: str, days: int) -> None:
    """As if all that is there had been done so many days ago."""
    moment = time.time() - days * 86400
    folder = lake.store.path / name
    for entry in sorted((folder / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in entry.read_text().splitlines()]
        for action in actions:
            for kind, field in (("commitInfo", "timestamp"), ("remove", "deletionTimestamp")):
                if kind in action and field in action[kind]:
                    action[kind][field] -= days * 86_400_000
        entry.write_text("".join(json.dumps(a) + "\n" for a in actions))
        entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
    for file in folder.rglob("*"):
        os.utime(file, (moment, moment))


def test_a_sorted_table_is_rewritten_in_order(lake: Lake) -> None:
    before, n_files = stored(lake), lake.log("things").files.num_rows
    run = upkeep(lake)
    assert optimize(run, THINGS, dry_run=True).metrics == {
        "n_files": n_files,
        "n_small_files": n_files,
        "n_deletion_vectors": 1,
    }
    assert lake.log("things").version == NEWEST and not run.rows, "a dry run does nothing"
    done = optimize(run, THINGS)
    assert (done.from_version, done.version, done.metrics["n_added_files"]) == (NEWEST, NEWEST + 1, 1)
    assert stored(lake) == before and faults(lake) == []
    [path] = lake.log("things").files.column("path").to_pylist()
    ids = pq.read_table(lake.store.path / "things" / path).column("id").to_pylist()
    assert ids == sorted(ids) and len(ids) == len(before)
    assert changes(new_run(lake), THINGS, after=NEWEST).count() == 0, "no row changed"
    newest = newest_own_commit(lake.log("things"))
    assert newest and newest.version == NEWEST + 1 and newest.own["cursors"] == CURSORS
    finish(run, [done])
    [row] = stored(lake, MAINTENANCE)
    assert row[2:7] == ("things", "optimize", "asked", NEWEST, NEWEST + 1)


def test_other_tables_are_left_to_delta(lake: Lake) -> None:
    before = stored(lake, UNSORTED)
    done = optimize(upkeep(lake), UNSORTED)
    assert (done.options["way"], done.version, lake.log("unsorted").files.num_rows) == ("optimize", 3, 1)
    assert stored(lake, UNSORTED) == before
    again = optimize(upkeep(lake), UNSORTED)
    assert (again.version, again.metrics) == (3, {}), "nothing to do, no commit"


def test_a_table_kept_sorted_cannot_be_append_only() -> None:
    with pytest.raises(UsageError, match="append_only or sort_by"):
        replace(THINGS, append_only=True)


def test_an_optimized_version_is_published_if_the_one_before_was(lake: Lake) -> None:
    run = upkeep(lake)
    done = [optimize(run, THINGS), optimize(run, UNSORTED)]
    finish(run, done)
    last = max(stored(lake, RUNS), key=lambda row: row[1])
    assert last[0] == "upkeep" and dict(last[5]) == {"things": 3, "unsorted": 3}, "things has unpublished commits"


def test_vacuum_takes_what_spark_would_take(lake: Lake, spark: SparkSession) -> None:
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    age(lake, "things", 40)
    optimize(upkeep(lake), THINGS)
    (lake.store.path / "runs").rename(lake.store.path / "_runs")  # Delta knows nothing of them
    listed = spark.sql(f"VACUUM {lake.sql_name('things')} RETAIN 0 HOURS DRY RUN").collect()
    theirs = {Path(row.path).name for row in listed}
    ours = vacuum(upkeep(lake), "things", retain=NOTHING, force=True, dry_run=True)
    assert set(ours.touched) == theirs and theirs


def test_vacuum_keeps_what_is_published_and_what_is_young(lake: Lake) -> None:
    published = embedded_digest(lake.log("things", version=PUBLISHED))
    optimize(upkeep(lake), THINGS)
    newest = embedded_digest(lake.log("things"))
    assert vacuum(upkeep(lake), "things").metrics["n_files"] == 0, "all of it is within the retention"
    (lake.store.path / "things" / "left-behind.parquet").write_bytes(b"x")
    with pytest.raises(Refused, match=r"at least 720.0 hours.*found 0.0 hours.*--force"):
        vacuum(upkeep(lake), "things", retain=NOTHING)
    files = data_files(lake)
    done = vacuum(upkeep(lake), "things", retain=NOTHING, force=True)
    assert files - data_files(lake) == set(done.touched) and "left-behind.parquet" in done.touched
    assert embedded_digest(lake.log("things", version=PUBLISHED)) == published
    assert embedded_digest(lake.log("things")) == newest
    with pytest.raises(PinUnavailable):
        lake.log("things", version=NEWEST).require_files()
    assert vacuum(upkeep(lake), "things", retain=NOTHING, force=True).metrics["n_files"] == 0


def test_vacuum_keeps_the_feed_that_somebody_has_yet_to_read(lake: Lake) -> None:
    """things has read unsorted up to version 2."""
    rows = frame(lake, [(99, "late", 1)], UNSORTED)
    commit(new_run(lake, "late"), UNSORTED, rows, mode="append")
    commit(new_run(lake, "gone"), UNSORTED, mode="delete", where="true")
    optimize(upkeep(lake), UNSORTED)
    vacuum(upkeep(lake), "unsorted", retain=NOTHING, force=True)
    feed = changes(new_run(lake), UNSORTED, after=2).where("id = 99").orderBy("_commit_version")
    assert [row._change_type for row in feed.collect()] == ["insert", "delete"]


def test_the_last_published_run_outlives_the_retention(lake: Lake) -> None:
    """A build that was killed before it published, forty days ago: readers still open version 3."""
    optimize(upkeep(lake), THINGS)
    age(lake, "things", 40)
    published = embedded_digest(lake.log("things", version=PUBLISHED))
    checkpoint(upkeep(lake), "things")
    assert vacuum(upkeep(lake), "things").metrics["n_files"] > 0
    cleanup_log(upkeep(lake), "things")
    assert embedded_digest(lake.log("things", version=PUBLISHED)) == published


def test_checkpoint_and_log_cleanup(lake: Lake) -> None:
    before = stored(lake)
    assert checkpoint(upkeep(lake), "things").metrics == {"n_entries": NEWEST + 1}
    assert lake.log("things").n_entries_since_checkpoint == 0
    assert cleanup_log(upkeep(lake), "things").metrics == {"n_files": 0}
    age(lake, "things", 40)
    assert cleanup_log(upkeep(lake), "things").metrics == {"n_files": 0}, "version 3 is published and needs them"
    commit(new_run(lake, "next"), THINGS, frame(lake, [(70, "n", 1)]), mode="append")
    (lake.store.path / "runs").rename(lake.store.path / "_runs")
    create_table(lake, RUNS)
    publish(lake, "only", {"things": NEWEST + 1, "unsorted": 2})
    dry = cleanup_log(upkeep(lake), "things", dry_run=True)
    assert cleanup_log(upkeep(lake), "things").touched == dry.touched and len(dry.touched) == 2 * NEWEST
    log = lake.log("things")
    assert (log.versions.start, log.version) == (NEWEST, NEWEST + 1)
    assert stored(lake) == sorted([*before, (70, "n", 1)], key=repr)
    assert faults(lake) == []
    commit(new_run(lake, "after"), THINGS, frame(lake, [(80, "n", 1)]), mode="append")
    newest = newest_own_commit(lake.log("things"))
    assert newest and newest.own["cursors"] == CURSORS, "carried on"


def test_properties(lake: Lake) -> None:
    run = upkeep(lake)
    done = change_properties(run, THINGS, {"delta.setTransactionRetentionDuration": "interval 90 days"})
    assert (done.metrics, lake.log("things").version) == ({"n_properties": 1}, NEWEST + 1)
    assert change_properties(run, THINGS, done.options).version == NEWEST + 1, "set already"
    with pytest.raises(Refused, match=r"expected interval 30 days, as the contract says"):
        change_properties(run, THINGS, {"delta.logRetentionDuration": "interval 1 days"})
    with pytest.raises(Refused, match="a property that Delta or Parquet knows"):
        change_properties(run, THINGS, {"delta.targetFileSize": "1"})


def test_features(lake: Lake) -> None:
    run = upkeep(lake)
    with pytest.raises(FeatureRefused, match="locks out polars"):
        enable(run, UNSORTED, "columnMapping")
    enable(run, UNSORTED, "inCommitTimestamp")
    assert "inCommitTimestamp" in lake.log("unsorted").protocol[2]
    with pytest.raises(NotFound, match="rowTracking"):
        drop(run, UNSORTED, "rowTracking")
    with pytest.raises(Refused, match="Take it out of the contract first"):
        drop(run, UNSORTED, "deletionVectors")
    drop(run, UNSORTED, "inCommitTimestamp")
    assert "inCommitTimestamp" not in lake.log("unsorted").protocol[2]
    assert [row["operation"] for row in run.rows[MAINTENANCE.name]] == ["enable", "drop-feature"]


def test_what_is_due_and_why(lake: Lake) -> None:
    assert due(lake, THINGS) == []
    eager = replace(THINGS, upkeep=Upkeep(small_files=4, deleted_rows=1, log_entries=3, vacuum_files=1))
    age(lake, "things", 40)
    found = {one.operation: one.reason for one in due(lake, eager)}
    assert found == {
        "optimize": "4 files below 16 MiB; 1 of 10 rows are deleted by vectors",
        "checkpoint": "7 entries since the last one",
        "vacuum": "2 files that nothing needs",
    }
    before = stored(lake)
    done = maintain(lake, [eager])
    assert [one.operation for one in done] == list(found)
    assert stored(lake) == before and lake.log("things").files.num_rows == 1
    assert {row[3]: row[4] for row in stored(lake, MAINTENANCE)} == found
    assert maintain(lake, [THINGS]) == []


def test_a_vacuum_that_was_killed_goes_on(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    optimize(upkeep(lake), THINGS)
    expected = vacuum(upkeep(lake), "things", retain=NOTHING, force=True, dry_run=True).touched
    delete, deleted = Stored.delete, []

    def dies(self: Stored, path: str) -> None:
        if len(deleted) == 2:
            raise KeyboardInterrupt
        deleted.append(path)
        delete(self, path)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Stored, "delete", dies)
        vacuum(upkeep(lake), "things", retain=NOTHING, force=True)
    rest = vacuum(upkeep(lake), "things", retain=NOTHING, force=True)
    assert sorted([*deleted, *rest.touched]) == expected and len(deleted) == 2
    assert faults(lake) == []
