"""Maintenance on tables with a real history: what is done, what is refused, what stays readable."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from codelake.contracts import Layout
from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import MAINTENANCE, RUNS, SNAPSHOTS
from codelake.contracts.table import Upkeep
from codelake.delta.changes import changes
from codelake.delta.checks import check_table
from codelake.delta.create import create_table
from codelake.delta.digest import embedded_digest
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.due import due
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.properties import change_properties, drop, enable
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.publish import PUBLICATION
from codelake.delta.reading import Reader
from codelake.delta.record import record
from codelake.delta.report import scan_report
from codelake.delta.run import Run, pin
from codelake.delta.runs import published_runs
from codelake.delta.write import commit
from codelake.errors import Conflict, FeatureRefused, NotFound, PinUnavailable, Refused, UsageError
from codelake.pipeline.restoring import restore_one
from codelake.pipeline.upkeep import finish, maintain, run_row
from tests.delta.history import CURSORS, NEWEST, PUBLISHED, UNSORTED, age, publish
from tests.delta.things import THINGS, frame, new_run, stored

pytestmark = pytest.mark.slow

NOTHING = timedelta(0)


def upkeep(lake: Lake) -> Run:
    return Run(lake, "upkeep", stage="maintain", pipeline="maintain")


def data_files(lake: Lake, name: str = "things") -> set[str]:
    return {p.name for p in (lake.store.path / name).iterdir() if p.is_file() and not p.name.startswith(".")}


def faults(lake: Lake) -> list[str]:
    return [str(one) for one in check_table(lake, "things", THINGS, thorough=True) if one.level == "fault"]


def test_a_sorted_table_is_rewritten_in_order(historic: Lake) -> None:
    before, n_files = stored(historic), historic.log("things").files.num_rows
    run = upkeep(historic)
    assert optimize(run, THINGS, dry_run=True).metrics == {
        "n_files": n_files,
        "n_small_files": n_files,
        "n_deletion_vectors": 1,
    }
    assert historic.log("things").version == NEWEST and not run.rows, "a dry run does nothing"
    done = optimize(run, THINGS)
    assert (done.from_version, done.version, done.metrics["n_added_files"]) == (NEWEST, NEWEST + 1, 1)
    assert stored(historic) == before and faults(historic) == []
    [path] = historic.log("things").files.column("path").to_pylist()
    ids = pq.read_table(historic.store.path / "things" / path).column("id").to_pylist()
    assert ids == sorted(ids) and len(ids) == len(before)
    assert changes(new_run(historic), THINGS, after=NEWEST).count() == 0, "no row changed"
    newest = newest_own_commit(historic.log("things"))
    assert newest and newest.version == NEWEST + 1 and newest.own["cursors"] == CURSORS
    finish(run, [done])
    [row] = stored(historic, MAINTENANCE)
    assert row[2:7] == ("things", "optimize", "asked", NEWEST, NEWEST + 1)


def test_other_tables_are_left_to_delta(historic: Lake) -> None:
    before = stored(historic, UNSORTED)
    done = optimize(upkeep(historic), UNSORTED)
    assert (done.options["way"], done.version, historic.log("unsorted").files.num_rows) == ("optimize", 3, 1)
    assert stored(historic, UNSORTED) == before
    again = optimize(upkeep(historic), UNSORTED)
    assert (again.version, again.metrics) == (3, {}), "nothing to do, no commit"


def test_a_table_kept_sorted_cannot_be_append_only() -> None:
    with pytest.raises(UsageError, match="append_only or sort_by"):
        replace(THINGS, append_only=True)


def test_an_optimized_version_is_published_if_the_one_before_was(historic: Lake) -> None:
    run = upkeep(historic)
    done = [optimize(run, THINGS), optimize(run, UNSORTED)]
    finish(run, done)
    last = max(stored(historic, RUNS), key=lambda row: row[1])
    assert last[0] == "upkeep" and dict(last[5]) == {"things": 3, "unsorted": 3}, "things has unpublished commits"


def test_files_with_as_many_rows_as_the_contract_allows_are_left_alone_and_none_gets_more(lake: Lake) -> None:
    table = replace(UNSORTED, name="bounded", layout=replace(UNSORTED.layout, file_rows=2_000))
    for needed in (MAINTENANCE, table):
        create_table(lake, needed)
    for first, n in ((0, 4_000), (4_000, 50), (4_050, 50), (4_100, 50)):
        rows = [(k, f"o{k}", 1 + k % 97) for k in range(first, first + n)]
        commit(new_run(lake, f"r{first}"), table, frame(lake, rows, table).coalesce(1), mode="append")
    before = lake.log("bounded").files.to_pylist()
    assert sorted(one["num_records"] for one in before) == [50, 50, 50, 2_000, 2_000]
    optimize(upkeep(lake), table)
    after = lake.log("bounded").files.to_pylist()
    assert sorted(one["num_records"] for one in after) == [150, 2_000, 2_000]
    assert {one["path"] for one in after if one["num_records"] == 2_000} <= {one["path"] for one in before}


@pytest.mark.parametrize("how", ["zorder_by", "cluster_by"])
def test_a_table_is_laid_out_by_z_order_or_clustering(lake: Lake, how: str) -> None:
    """A filter on either column opens few files afterwards."""
    table = replace(UNSORTED, name="curved", layout=Layout(**{how: ("id", "size")}, file_rows=500))  # type: ignore[arg-type]
    create_table(lake, table)
    chance = random.Random(1)
    rows = [(k, "o", chance.randrange(1, 4_000)) for k in range(4_000)]
    commit(new_run(lake), table, frame(lake, rows, table).coalesce(1), mode="append")
    before = stored(lake, table)

    def opened(filter: str) -> int:
        return scan_report(lake.log("curved"), filter).n_candidates

    assert (lake.log("curved").files.num_rows, opened("size = 500")) == (8, 8)
    done = optimize(upkeep(lake), table, full=True)
    assert (done.options["way"], stored(lake, table) == before) == ("optimize", True)
    assert lake.log("curved").files.num_rows == 8 and max(opened("size = 500"), opened("id = 500")) <= 4


def test_files_with_a_deletion_vector_are_written_anew_each_by_itself(lake: Lake) -> None:
    table = replace(UNSORTED, name="ranges", layout=replace(UNSORTED.layout, file_rows=2_000))
    for needed in (MAINTENANCE, table):
        create_table(lake, needed)
    rows = [(k, f"o{k}", 1 + k % 97) for k in range(6_000)]
    commit(new_run(lake, "r1"), table, frame(lake, rows, table).coalesce(1), mode="append")
    commit(new_run(lake, "r2"), table, mode="delete", where="id IN (1, 2001)")
    assert lake.log("ranges").deletion_vectors.num_rows == 2
    done = optimize(upkeep(lake), table)
    after = lake.log("ranges")
    assert after.deletion_vectors.num_rows == 0
    assert sorted(one["num_records"] for one in after.files.to_pylist()) == [1_999, 1_999, 2_000]
    assert (done.metrics["n_added_files"], done.metrics["n_removed_files"]) == (2, 2)


def test_vacuum_takes_what_spark_would_take(historic: Lake, spark: SparkSession) -> None:
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    age(historic, "things", 40)
    optimize(upkeep(historic), THINGS)
    (historic.store.path / "runs").rename(historic.store.path / "_runs")  # Delta knows nothing of them
    listed = spark.sql(f"VACUUM {historic.sql_name('things')} RETAIN 0 HOURS DRY RUN").collect()
    theirs = {Path(row.path).name for row in listed}
    ours = vacuum(upkeep(historic), "things", retain=NOTHING, force=True, dry_run=True)
    assert set(ours.touched) == theirs and theirs


def test_vacuum_keeps_what_is_published_and_what_is_young(historic: Lake) -> None:
    published = embedded_digest(historic.log("things", version=PUBLISHED))
    optimize(upkeep(historic), THINGS)
    newest = embedded_digest(historic.log("things"))
    assert vacuum(upkeep(historic), "things").metrics["n_files"] == 0, "all of it is within the retention"
    (historic.store.path / "things" / "left-behind.parquet").write_bytes(b"x")
    with pytest.raises(Refused, match=r"at least 720.0 hours.*found 0.0 hours.*--force"):
        vacuum(upkeep(historic), "things", retain=NOTHING)
    files = data_files(historic)
    done = vacuum(upkeep(historic), "things", retain=NOTHING, force=True)
    assert files - data_files(historic) == set(done.touched) and "left-behind.parquet" in done.touched
    assert embedded_digest(historic.log("things", version=PUBLISHED)) == published
    assert embedded_digest(historic.log("things")) == newest
    with pytest.raises(PinUnavailable):
        historic.log("things", version=NEWEST).require_files()
    assert vacuum(upkeep(historic), "things", retain=NOTHING, force=True).metrics["n_files"] == 0


def test_vacuum_keeps_the_feed_that_somebody_has_yet_to_read(historic: Lake) -> None:
    """things has read unsorted up to version 2."""
    rows = frame(historic, [(99, "late", 1)], UNSORTED)
    commit(new_run(historic, "late"), UNSORTED, rows, mode="append")
    commit(new_run(historic, "gone"), UNSORTED, mode="delete", where="true")
    optimize(upkeep(historic), UNSORTED)
    vacuum(upkeep(historic), "unsorted", retain=NOTHING, force=True)
    feed = changes(new_run(historic), UNSORTED, after=2).where("id = 99").orderBy("_commit_version")
    assert [row._change_type for row in feed.collect()] == ["insert", "delete"]


def test_the_last_published_run_outlives_the_retention(historic: Lake) -> None:
    """A build that was killed before it published, forty days ago: readers still open version 3."""
    optimize(upkeep(historic), THINGS)
    age(historic, "things", 40)
    published = embedded_digest(historic.log("things", version=PUBLISHED))
    checkpoint(upkeep(historic), "things")
    assert vacuum(upkeep(historic), "things").metrics["n_files"] > 0
    cleanup_log(upkeep(historic), "things")
    assert embedded_digest(historic.log("things", version=PUBLISHED)) == published


def test_what_readers_could_open_within_the_retention_stays(historic: Lake) -> None:
    """Of forty days ago, and the last published run until a moment ago: who opened it then may still read."""
    optimize(upkeep(historic), THINGS)
    age(historic, "things", 40)
    (historic.store.path / "runs").rename(historic.store.path / "_runs")
    create_table(historic, RUNS)
    now = datetime.now(UTC)
    rows = [
        run_row(new_run(historic, run_id), {"things": version}, pins={}, started_at=now)
        | {"recorded_at": now - timedelta(days=days)}
        for run_id, version, days in (("before", 4, 50), ("long", PUBLISHED, 40), ("new", NEWEST + 1, 0))
    ]
    commit(new_run(historic), RUNS, historic.session.createDataFrame(arrow_table(RUNS, rows)), mode="append")
    assert vacuum(upkeep(historic), "things").metrics["n_files"] > 0
    historic.log("things", version=PUBLISHED).require_files()
    with pytest.raises(PinUnavailable):
        historic.log("things", version=4).require_files()


def test_what_is_optimized_and_vacuumed_at_once_can_be_published(historic: Lake) -> None:
    """Somebody commits in between: what was optimized is neither the newest version nor published yet."""
    publish(historic, "now", {"things": NEWEST, "unsorted": 2})
    run = upkeep(historic)
    done = optimize(run, THINGS)
    commit(new_run(historic, "between"), THINGS, mode="delete", where="true")
    vacuum(run, "things", retain=NOTHING, force=True)
    finish(run, [done])
    assert published_runs(historic)[-1].versions["things"] == done.version == NEWEST + 1
    historic.log("things", version=done.version).require_files()


def test_what_a_build_reads_is_kept_by_the_retention_and_waited_for_by_less(historic: Lake) -> None:
    """Its pins are in memory until it is recorded."""
    pin(new_run(historic, "build"), THINGS)
    commit(new_run(historic, "other"), THINGS, mode="delete", where="true")
    assert vacuum(upkeep(historic), "things").metrics["n_files"] == 0
    impatient = replace(historic, lock_timeout=0.1)
    with historic.reading(), historic.reading():  # as two builds that publish nothing yet
        for delete in (vacuum, cleanup_log):
            with pytest.raises(Conflict, match=r"pins.lock"):
                delete(upkeep(impatient), "things", retain=NOTHING, force=True)
    with historic.writing(PUBLICATION):
        historic.log("things", version=NEWEST).require_files()
        for delete in (vacuum, cleanup_log):
            with pytest.raises(Conflict, match=r"publication.lock"):
                delete(upkeep(impatient), "things", retain=NOTHING, force=True)
        with pytest.raises(Conflict, match=r"publication.lock"):
            restore_one(impatient, THINGS, 2)
        assert vacuum(upkeep(impatient), "things").metrics["n_files"] == 0, "what keeps it does not wait"
        historic.log("things", version=NEWEST).require_files()
    assert vacuum(upkeep(impatient), "things", retain=NOTHING, force=True).metrics["n_files"] > 0


def test_what_a_run_has_pinned_stays_until_it_is_published(historic: Lake) -> None:
    """Of forty days ago, and pinned today by a run that is yet to publish."""
    create_table(historic, SNAPSHOTS)
    optimize(upkeep(historic), THINGS)
    commit(new_run(historic, "gone"), THINGS, mode="delete", where="true")
    optimize(upkeep(historic), THINGS)
    age(historic, "things", 40)
    checkpoint(upkeep(historic), "things")
    reader = new_run(historic, "reader")
    pin(reader, THINGS, at=NEWEST)
    pinned = embedded_digest(historic.log("things", version=NEWEST))
    record(reader)
    assert vacuum(upkeep(historic), "things").metrics["n_files"] > 0, "of the version in between"
    cleanup_log(upkeep(historic), "things")
    assert embedded_digest(historic.log("things", version=NEWEST)) == pinned
    publish(historic, "reader", {"things": historic.log("things").version})
    assert vacuum(upkeep(historic), "things").metrics["n_files"] > 0
    with pytest.raises(PinUnavailable):
        historic.log("things", version=NEWEST).require_files()


def test_checkpoint_and_log_cleanup(historic: Lake) -> None:
    before = stored(historic)
    assert checkpoint(upkeep(historic), "things").metrics == {"n_entries": NEWEST + 1}
    assert historic.log("things").n_entries_since_checkpoint == 0
    assert cleanup_log(upkeep(historic), "things").metrics["n_files"] == 0
    age(historic, "things", 40)
    assert cleanup_log(upkeep(historic), "things").metrics["n_files"] == 0, "version 3 is published and needs them"
    commit(new_run(historic, "next"), THINGS, frame(historic, [(70, "n", 1)]), mode="append")
    (historic.store.path / "runs").rename(historic.store.path / "_runs")
    create_table(historic, RUNS)
    publish(historic, "only", {"things": NEWEST + 1, "unsorted": 2})
    dry = cleanup_log(upkeep(historic), "things", dry_run=True)
    assert cleanup_log(upkeep(historic), "things").touched == dry.touched and len(dry.touched) == 2 * NEWEST
    log = historic.log("things")
    assert (log.versions.start, log.version) == (NEWEST, NEWEST + 1)
    for opening in (historic.log, Reader(historic.store).register):
        with pytest.raises(PinUnavailable, match=r"version 3; expected a version from 6 to 7.*cleaned up"):
            opening("things", version=PUBLISHED)
    assert stored(historic) == sorted([*before, (70, "n", 1)], key=repr)
    assert faults(historic) == []
    commit(new_run(historic, "after"), THINGS, frame(historic, [(80, "n", 1)]), mode="append")
    newest = newest_own_commit(historic.log("things"))
    assert newest and newest.own["cursors"] == CURSORS, "carried on"


def test_properties(historic: Lake) -> None:
    run = upkeep(historic)
    done = change_properties(run, THINGS, {"delta.setTransactionRetentionDuration": "interval 90 days"})
    assert (done.metrics, historic.log("things").version) == ({"n_properties": 1}, NEWEST + 1)
    assert change_properties(run, THINGS, done.options).version == NEWEST + 1, "set already"
    with pytest.raises(Refused, match=r"expected interval 30 days, as the contract says"):
        change_properties(run, THINGS, {"delta.logRetentionDuration": "interval 1 days"})
    with pytest.raises(Refused, match="a property that Delta or Parquet knows"):
        change_properties(run, THINGS, {"delta.targetFileSize": "1"})


def test_features(historic: Lake) -> None:
    run = upkeep(historic)
    with pytest.raises(FeatureRefused, match="locks out polars"):
        enable(run, UNSORTED, "columnMapping")
    enable(run, UNSORTED, "inCommitTimestamp")
    assert "inCommitTimestamp" in historic.log("unsorted").protocol[2]
    with pytest.raises(NotFound, match="rowTracking"):
        drop(run, UNSORTED, "rowTracking")
    with pytest.raises(Refused, match="Take it out of the contract first"):
        drop(run, UNSORTED, "deletionVectors")
    with pytest.raises(Refused, match=r"dropping this feature is not supported.*has the feature still"):
        drop(run, replace(UNSORTED, columns=(), key=(), replace_by=(), checks=()), "invariants")
    drop(run, UNSORTED, "inCommitTimestamp")
    assert "inCommitTimestamp" not in historic.log("unsorted").protocol[2]
    assert [row["operation"] for row in run.rows[MAINTENANCE.name]] == ["enable", "drop-feature"]


EAGER = Upkeep(small_files=4, vector_files=1, deleted_rows=1, checkpoint_entries=3, vacuum_files=1)


def test_what_is_due_and_why(historic: Lake) -> None:
    assert due(upkeep(historic), THINGS) == []
    eager = replace(THINGS, upkeep=EAGER)
    age(historic, "things", 40)
    found = {one.operation: one.reason for one in due(upkeep(historic), eager)}
    assert found == {
        "optimize": "4 files below 16 MiB; 1 files with deletion vectors; 1 of 10 rows are deleted by vectors",
        "checkpoint": "7 entries since the last one",
        "vacuum": "2 files that nothing needs",
    }
    before = stored(historic)
    done = maintain(historic, [eager])
    assert [one.operation for one in done] == list(found)
    assert stored(historic) == before and historic.log("things").files.num_rows == 1
    assert {row[3]: row[4] for row in stored(historic, MAINTENANCE)} == found
    assert maintain(historic, [THINGS]) == []
