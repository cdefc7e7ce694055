"""The same run, submitted again: in a row, at once, and by this process after a kill of another, at each place where
it can hurt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.contracts.operations import COMMITS, SNAPSHOTS
from codelake.delta.checks import check_table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.store import Store
from codelake.delta.write import Committed, commit
from tests.delta.things import COPY, THINGS, frame, new_run, stored
from tests.faults.conftest import Worker
from tests.faults.pausing import wait_for
from tests.faults.worker import follow, submit


@pytest.fixture
def lake(lake_root: Path, spark: SparkSession) -> Lake:
    made = create_lake(Store(str(lake_root)), spark)
    for table in (COMMITS, SNAPSHOTS, THINGS):
        create_table(made, table)
    return made


def test_ten_times_in_a_row_and_ten_times_at_once_is_once(lake: Lake) -> None:
    done: list[Committed] = []

    def append(number: int) -> None:
        run = new_run(lake, f"run-{number}", number=number)
        done.append(commit(run, THINGS, frame(lake, [(number, "a", 1)]), mode="append", txn=run.txn))

    for _ in range(10):
        append(1)
    threads = [threading.Thread(target=append, args=(2,)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(lake) == [(1, "a", 1), (2, "a", 1)]
    assert lake.log("things").version == 2
    assert [d.version for d in done] == [1] * 10 + [2] * 10
    assert sum(not d.is_repeat for d in done) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "killed",
    [
        # The JVM goes on, and makes the commit.
        pytest.param(("python",), id="python"),
        pytest.param(("python", "jvm"), id="both", marks=pytest.mark.soak),
        pytest.param(("jvm", "python"), id="jvm first", marks=pytest.mark.soak),
    ],
)
def test_killed_after_the_data_files_and_before_the_commit(
    lake: Lake, start_workers: Callable[[int], list[Worker]], killed: tuple[str, ...]
) -> None:
    [doomed] = start_workers(1)
    doomed.pause.write_text("4000")
    doomed.ask(do="submit", lake=lake.store.root, number=7)
    wait_for(doomed.pause.with_name("pause.waiting"))
    assert list(lake.store.path.glob("things/*.parquet")), "data files are there"
    assert lake.log("things").version == 0, "and the commit is not"
    for victim in killed:
        doomed.kill(victim)
    assert submit(lake, number=7)["version"] == 1
    assert lake.log("things").version == 1
    assert stored(lake) == [(70, "s", 1), (71, "s", 1), (72, "s", 1)]
    assert len(stored(lake, "commits")) == 1


@pytest.mark.slow
def test_killed_after_the_commit_and_before_its_record(
    lake: Lake, start_workers: Callable[[int], list[Worker]]
) -> None:
    [doomed] = start_workers(1)
    doomed.ask(do="submit", lake=lake.store.root, number=7, stop_before_record=True)
    assert doomed.answer() == {"committed": 1}
    doomed.kill("python", "jvm")
    assert stored(lake, "commits") == []
    assert submit(lake, number=7) == {"version": 1, "is_repeat": True}
    assert lake.log("things").version == 1 and len(stored(lake)) == 3
    [row] = stored(lake, "commits")
    assert row[3] == 1


@pytest.mark.slow
def test_a_reader_of_the_feed_killed_between_read_and_commit(
    lake: Lake, start_workers: Callable[[int], list[Worker]]
) -> None:
    create_table(lake, COPY)
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1), (2, "b", 2)]), mode="append")
    [doomed] = start_workers(1)
    doomed.pause.write_text("60000")
    doomed.ask(do="follow", lake=lake.store.root)
    wait_for(doomed.pause.with_name("pause.waiting"))
    doomed.kill("jvm")
    doomed.kill("python")
    assert stored(lake, COPY) == []
    for expected in ([0, 1], [1, 1]):
        assert follow(lake) == {"window": expected}
    assert stored(lake, COPY) == [(1, "a"), (2, "b")], "nothing skipped, nothing doubled"


@pytest.mark.slow
def test_an_optimize_killed_before_its_commit_is_run_again(
    lake: Lake, start_workers: Callable[[int], list[Worker]]
) -> None:
    for i in range(3):
        commit(new_run(lake, f"s{i}"), THINGS, frame(lake, [(i, "a", 1)]).coalesce(1), mode="append")
    before = stored(lake)
    [doomed] = start_workers(1)
    doomed.pause.write_text("60000")
    doomed.ask(do="compact", lake=lake.store.root)
    wait_for(doomed.pause.with_name("pause.waiting"))
    doomed.kill("jvm", "python")
    assert lake.log("things").version == 3 and stored(lake) == before
    assert [one for one in check_table(lake, "things", THINGS) if one.level == "fault"] == []
    done = optimize(new_run(lake, "again"), THINGS)
    assert (done.version, done.metrics["n_added_files"], stored(lake)) == (4, 1, before)
    gone = vacuum(new_run(lake, "clean"), "things", retain=timedelta(0), force=True)
    assert len(gone.touched) == 4, "the three that were optimized, and what the killed one left"
