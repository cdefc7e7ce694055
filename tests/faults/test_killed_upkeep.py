"""What looks after tables, killed in the middle and run again: nothing is lost, and it ends as if it had not been."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from codelake.contracts.operations import RUNS
from codelake.delta.checks import check_table
from codelake.delta.create import create_table
from codelake.delta.digest import embedded_digest
from codelake.delta.features import protocol_of
from codelake.delta.lake import Lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.properties import change_properties, drop, enable
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.runs import published_runs
from codelake.delta.write import commit
from codelake.pipeline.restoring import restore_lake
from tests.delta import history
from tests.delta.conftest import historic as historic
from tests.delta.conftest import history_made as history_made
from tests.delta.test_migration import ids, loaded, write
from tests.delta.things import THINGS, frame, new_run, stored
from tests.faults.conftest import ROOT, Worker

pytestmark = pytest.mark.slow

LOOSE = replace(THINGS, features=())
"""As if the contract no longer asked for deletion vectors, which the table has."""
KEPT_DAYS = {"delta.setTransactionRetentionDuration": "interval 90 days"}


@pytest.fixture
def lake(historic: Lake) -> Lake:
    return historic


def die(lake: Lake, operation: str, at: int) -> signal.Signals:
    """The signal that ended it."""
    told = [sys.executable, "-m", "tests.faults.dying", lake.store.root, operation, str(at)]
    return signal.Signals(-subprocess.run(told, cwd=ROOT, check=False).returncode)


def kill_at_commit(worker: Worker, number: int) -> None:
    """Just before the entry of its commit of this number, from 1 on, is there."""
    waiting = worker.pause.with_name("pause.waiting")
    for _ in range(number):
        deadline = time.monotonic() + 300
        waiting.unlink(missing_ok=True)
        while not waiting.exists():
            assert time.monotonic() < deadline, f"no commit {number}"
            time.sleep(0.05)
    worker.kill("jvm", "python")


def faults(lake: Lake) -> list[str]:
    return [str(one) for one in check_table(lake, "things", THINGS, thorough=True) if one.level == "fault"]


def features(lake: Lake) -> tuple[str, ...]:
    return tuple(protocol_of(*lake.log("things").protocol).features)


def log_files(lake: Lake) -> set[str]:
    return {p.name for p in (lake.store.path / "things/_delta_log").iterdir() if not p.name.startswith(".")}


def data_files(lake: Lake) -> set[str]:
    return {p.name for p in (lake.store.path / "things").iterdir() if p.is_file() and not p.name.startswith(".")}


def test_a_checkpoint_killed_while_it_is_written(lake: Lake) -> None:
    before, there = stored(lake), log_files(lake)
    assert die(lake, "checkpoint", 4096) == signal.SIGXFSZ
    [half] = log_files(lake) - there
    assert (lake.store.path / "things/_delta_log" / half).stat().st_size == 4096
    assert lake.log("things").n_entries_since_checkpoint == history.NEWEST + 1, "it counts for nothing"
    assert stored(lake) == before and faults(lake) == []
    assert checkpoint(new_run(lake), "things").metrics == {"n_entries": history.NEWEST + 1}
    assert lake.log("things").n_entries_since_checkpoint == 0
    assert stored(lake) == before and faults(lake) == []


def test_a_checkpoint_killed_before_the_pointer_to_it(lake: Lake) -> None:
    before = stored(lake)
    checkpoint(new_run(lake), "things")
    (lake.store.path / "things/_delta_log/_last_checkpoint").unlink()
    assert lake.log("things").n_entries_since_checkpoint == 0, "it is found without"
    assert stored(lake) == before and faults(lake) == []
    assert checkpoint(new_run(lake), "things").metrics == {"n_entries": 0}
    commit(new_run(lake, "next"), THINGS, frame(lake, [(70, "n", 1)]), mode="append")
    checkpoint(new_run(lake), "things")
    assert "_last_checkpoint" in log_files(lake), "the next has one"
    assert len(stored(lake)) == len(before) + 1 and faults(lake) == []


@pytest.mark.parametrize("at", [1, 13, *(pytest.param(n, marks=pytest.mark.soak) for n in (0, 5))])
def test_a_cleanup_of_the_log_killed_between_two_files(lake: Lake, at: int) -> None:
    commit(new_run(lake, "next"), THINGS, frame(lake, [(70, "n", 1)]), mode="append")
    checkpoint(new_run(lake), "things")
    shutil.rmtree(lake.store.path / "runs")
    create_table(lake, RUNS)
    history.publish(lake, "only", {"things": history.NEWEST + 1})
    before, there = stored(lake), log_files(lake)
    expected = cleanup_log(new_run(lake), "things", retain=timedelta(0), force=True, dry_run=True).touched
    assert len(expected) == 14, "seven entries, each with its checksum"
    assert die(lake, "cleanup-log", at) == signal.SIGKILL
    assert len(there - log_files(lake)) == at
    assert stored(lake) == before and faults(lake) == [], "what is gone was not needed"
    done = cleanup_log(new_run(lake), "things", retain=timedelta(0), force=True)
    assert done.touched == expected[at:]
    assert stored(lake) == before and faults(lake) == []
    again = commit(new_run(lake, "after"), THINGS, frame(lake, [(80, "n", 1)]), mode="append")
    assert again.version == history.NEWEST + 2


@pytest.mark.parametrize("at", [2, *(pytest.param(n, marks=pytest.mark.soak) for n in (0, 3))])
def test_a_vacuum_killed_between_two_files(lake: Lake, at: int) -> None:
    optimize(new_run(lake), THINGS)
    published, before = embedded_digest(lake.log("things", version=history.PUBLISHED)), stored(lake)
    expected = vacuum(new_run(lake), "things", retain=timedelta(0), force=True, dry_run=True).touched
    there = data_files(lake)
    assert len(expected) > at and die(lake, "vacuum", at) == signal.SIGKILL
    assert there - data_files(lake) == set(expected[:at])
    assert stored(lake) == before and faults(lake) == []
    assert vacuum(new_run(lake), "things", retain=timedelta(0), force=True).touched == expected[at:]
    assert there - data_files(lake) == set(expected)
    assert stored(lake) == before and faults(lake) == []
    assert embedded_digest(lake.log("things", version=history.PUBLISHED)) == published


@pytest.mark.parametrize("at", [2, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 3, 4))])
def test_a_restore_killed_between_two_tables(lake: Lake, start_workers: Callable[[int], list[Worker]], at: int) -> None:
    """Its commits: unsorted, things, the row of what was done, the run."""
    then = stored(lake, THINGS, history.PUBLISHED), stored(lake, history.UNSORTED)
    commit(new_run(lake, "late"), history.UNSORTED, mode="delete", where="true")
    [doomed] = start_workers(1)
    doomed.pause.write_text("3000")
    doomed.ask(do="restore", lake=lake.store.root, to="published")
    kill_at_commit(doomed, at)
    assert len(published_runs(lake)) == 1, "readers see nothing of it"
    assert lake.log("unsorted").version == 3 + (at > 1)
    assert lake.log("things").version == history.NEWEST + (at > 2)
    unsorted, things = restore_lake(lake, (history.UNSORTED, THINGS), "published")
    assert (unsorted.version, things.version) == (4, history.NEWEST + 1), "what was back already is left alone"
    assert (stored(lake), stored(lake, history.UNSORTED)) == then and faults(lake) == []
    last = published_runs(lake)[-1].versions
    assert (last["unsorted"], last["things"]) == (4, history.NEWEST + 1)


@pytest.mark.parametrize("at", [3, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 2))])
def test_a_migration_killed_around_its_commit(
    lake: Lake, tmp_path: Path, start_workers: Callable[[int], list[Worker]], at: int
) -> None:
    """Its commits: what is to be loaded, the rows, what was loaded."""
    source = tmp_path / "dataset"
    write(source, "a.parquet", ids(0))
    assert loaded(lake, source).version == 1
    for i in (1, 2):
        write(source, f"{i}.parquet", ids(3 * i), i)
    [doomed] = start_workers(1)
    doomed.pause.write_text("3000")
    doomed.ask(do="import_parquet", lake=lake.store.root, folder=str(source))
    kill_at_commit(doomed, at)
    assert lake.log("imported").version == 1 + (at > 2)
    write(source, "later.parquet", ids(9), 3)
    done = loaded(lake, source)
    assert (done.n_files, done.n_known, done.corrupt) == (3, 1, [])
    assert stored(lake, "imported") == [(n,) for n in sorted(range(12), key=lambda n: repr((n,)))]
    assert done.digest == str(embedded_digest(lake.log("imported"))), "nothing is lost, nothing is there twice"
    assert loaded(lake, source).n_files == 0


@pytest.mark.soak  # Delta changes properties to enable a feature, and that is in the suite
def test_properties_killed_before_their_commit(lake: Lake, start_workers: Callable[[int], list[Worker]]) -> None:
    before, [doomed] = stored(lake), start_workers(1)
    doomed.pause.write_text("60000")
    doomed.ask(do="set_properties", lake=lake.store.root, properties=KEPT_DAYS)
    kill_at_commit(doomed, 1)
    assert lake.log("things").version == history.NEWEST and faults(lake) == []
    done = change_properties(new_run(lake), THINGS, KEPT_DAYS)
    assert (done.metrics, done.version) == ({"n_properties": 1}, history.NEWEST + 1)
    assert KEPT_DAYS.items() <= lake.log("things").properties.items()
    assert stored(lake) == before and faults(lake) == []


def test_a_feature_killed_before_it_is_enabled(lake: Lake, start_workers: Callable[[int], list[Worker]]) -> None:
    before, [doomed] = stored(lake), start_workers(1)
    doomed.pause.write_text("60000")
    doomed.ask(do="enable_feature", lake=lake.store.root, feature="inCommitTimestamp")
    kill_at_commit(doomed, 1)
    assert "inCommitTimestamp" not in features(lake) and faults(lake) == []
    done = enable(new_run(lake), THINGS, "inCommitTimestamp")
    assert (done.metrics, done.version) == ({"n_features": 1}, history.NEWEST + 1)
    assert enable(new_run(lake), THINGS, "inCommitTimestamp").metrics == {"n_features": 0}
    assert "inCommitTimestamp" in features(lake)
    assert stored(lake) == before and faults(lake) == []


@pytest.mark.parametrize("at", [2, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 3, 7))])
def test_a_feature_killed_while_it_is_dropped(
    lake: Lake, start_workers: Callable[[int], list[Worker]], at: int
) -> None:
    """Delta takes seven commits: the property, files without vectors, their tombstones, three that are empty with a
    checkpoint each, the protocol."""
    before, [doomed] = stored(lake), start_workers(1)
    doomed.pause.write_text("3000")
    doomed.ask(do="drop_feature", lake=lake.store.root, feature="deletionVectors")
    kill_at_commit(doomed, at)
    assert lake.log("things").version == history.NEWEST + at - 1
    assert "deletionVectors" in features(lake) and stored(lake) == before and faults(lake) == []
    drop(new_run(lake), LOOSE, "deletionVectors")
    assert "deletionVectors" not in features(lake)
    assert lake.log("things").deletion_vectors.num_rows == 0
    assert stored(lake) == before and faults(lake) == []
