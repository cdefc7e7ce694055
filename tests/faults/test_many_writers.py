"""Several processes and one local table: nothing lost, nothing doubled, no version missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.store import Store
from tests.delta.things import THINGS, stored
from tests.faults.conftest import Worker

pytestmark = pytest.mark.slow
TABLE = replace(THINGS, key_scope="write")


@pytest.fixture(scope="module")
def workers(start_workers: Callable[[int], list[Worker]]) -> list[Worker]:
    return start_workers(4)


def write_together(lake: Lake, workers: list[Worker], *, n: int, seed: int, locking: bool) -> list[dict[str, Any]]:
    for i, worker in enumerate(workers):
        worker.ask(do="append_many", lake=lake.store.root, worker=i, n=n, seed=seed, locking=locking)
    return [worker.answer() for worker in workers]


def what_went_wrong(lake: Lake, answers: list[dict[str, Any]]) -> list[str]:
    """Empty if every commit that was reported is there, once, in the version that it was told."""
    log = lake.log("things")
    versions = sorted(v for a in answers for v in a["versions"])
    ids = sorted(i for a in answers for i in a["ids"])
    found = sorted(row[0] for row in stored(lake))
    problems = []
    if versions != list(range(1, len(versions) + 1)):
        problems.append(f"versions reported: {versions}")
    if log.version != len(versions):
        problems.append(f"version {log.version}, expected {len(versions)}")
    if found != ids:
        problems.append(f"{len(ids)} rows were committed, {len(found)} are there")
    return problems


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 3, 4))])
def test_several_processes_commit_at_once(
    lake_root: Path, spark: SparkSession, workers: list[Worker], seed: int
) -> None:
    lake = create_lake(Store(str(lake_root)), spark)
    create_table(lake, TABLE)
    assert what_went_wrong(lake, write_together(lake, workers, n=50, seed=seed, locking=True)) == []
    assert lake.log("things").version == 50 * len(workers)


def test_without_the_lock_and_with_a_pause_in_the_gap_commits_are_lost(
    lake_root: Path, spark: SparkSession, workers: list[Worker]
) -> None:
    """The same test can fail: it is the lock that makes it pass."""
    lake = create_lake(Store(str(lake_root)), spark)
    create_table(lake, TABLE)
    for worker in workers:
        worker.pause.write_text("400")
    try:
        answers = write_together(lake, workers, n=3, seed=1, locking=False)
    finally:
        for worker in workers:
            worker.pause.unlink(missing_ok=True)
    assert what_went_wrong(lake, answers) != []


def test_with_the_lock_the_same_pause_does_no_harm(lake_root: Path, spark: SparkSession, workers: list[Worker]) -> None:
    lake = create_lake(Store(str(lake_root)), spark)
    create_table(lake, TABLE)
    for worker in workers:
        worker.pause.write_text("400")
    try:
        answers = write_together(lake, workers, n=3, seed=1, locking=True)
    finally:
        for worker in workers:
            worker.pause.unlink(missing_ok=True)
    assert what_went_wrong(lake, answers) == []


@pytest.mark.soak
def test_several_processes_for_long(lake_root: Path, spark: SparkSession, workers: list[Worker]) -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    lake = create_lake(Store(str(lake_root)), spark)
    create_table(lake, TABLE)
    answers = write_together(lake, workers, n=500, seed=seed, locking=True)
    assert what_went_wrong(lake, answers) == [], f"seed {seed}"
