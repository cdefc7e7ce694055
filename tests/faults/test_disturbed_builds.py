"""A build that is killed, that another one runs beside, or that finds the disk full: readers see published runs only,
and the next build makes what a rebuild would."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import codelake
from codelake.contracts.graph import CPG_NODES
from codelake.delta.digest import digest_of, embedded_digest
from codelake.delta.lake import Lake, create_lake
from codelake.delta.reading import engine_failures
from codelake.delta.run import Run
from codelake.delta.runs import last_published, published_runs
from codelake.delta.store import Store
from codelake.errors import Unavailable
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import BUILT, build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.query.lake import OpenLake
from tests.faults.conftest import Worker
from tests.faults.pausing import wait_for
from tests.faults.test_places import disk_free
from tests.lakes import PreparedLake
from tests.properties.edits import write
from tests.properties.test_incremental import built, check

_AFTER = {
    "shop/tax.py": "import math\nfrom shop.money import Money\n\n\ndef taxed(money):\n    return math.ceil(money)\n",
    "shop/fresh.py": "import json\nfrom shop import Basket\n\n\ndef made():\n    return json.dumps(Basket().sum())\n",
}
_N_COMMITS = 18
_N_ON_SPARK = 21
"""At least as many as the build makes; one that is beyond is a build that is not killed. Spark's replaces leave
deletion vectors in three tables, whose files are then written anew."""
_HERE = [
    (at, when, which, False)
    for at in range(1, _N_COMMITS)
    for when in ("before", "within", "after")
    for which in ("both", "jvm")
]
_ON_SPARK = [
    (at, when, ("python", "jvm", "both")[(at + turn) % 3], True)
    for at in range(1, _N_ON_SPARK)
    for turn, when in enumerate(("before", "within", "after"))
]
_SAMPLE = (6, "after", "both", False)
_CASES = [pytest.param(*one, marks=pytest.mark.slow if one == _SAMPLE else pytest.mark.soak) for one in _HERE]
_CASES += [pytest.param(*one, marks=pytest.mark.soak) for one in _ON_SPARK]


@pytest.fixture(scope="module")
def lakes(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Lake]:
    """Before the change; and anew, of what there is after it. The sources lie beside them."""
    root = tmp_path_factory.mktemp("killed")
    write(root / "shop")
    old = prepared_lake(root / "old")
    built(old, root / "shop")
    write(root / "shop", _AFTER)
    anew = prepared_lake(root / "anew")
    built(anew, root / "shop")
    return old, anew


@pytest.mark.parametrize(("at", "when", "which", "on_spark"), _CASES)
def test_a_killed_build_is_not_seen_and_the_next_goes_on(
    spark: SparkSession,
    lakes: tuple[Lake, Lake],
    start_workers: Callable[..., list[Worker]],
    tmp_path: Path,
    at: int,
    when: str,
    which: str,
    on_spark: bool,
) -> None:
    old, anew = lakes
    sources = old.store.path.parent / "shop"
    shutil.copytree(old.store.path, tmp_path / "lake")
    lake = create_lake(Store(str(tmp_path / "lake")), spark)
    before = last_published(Run(lake, "reader"))
    assert before is not None
    digests = {table.name: embedded_digest(lake.log(table.name)) for table in BUILT}
    [worker] = start_workers(1)
    doomed = ["jvm", "python"] if which == "both" else [which]
    request = {"folder": str(sources), "at": at, "when": when, "which": doomed, "on_spark": on_spark}
    worker.ask(do="build_and_die", lake=str(tmp_path / "lake"), **request)
    with contextlib.suppress(AssertionError):  # it has died
        worker.answer()
    worker.close()  # what is left of it: there are more of them than there is room for
    seen = last_published(Run(lake, "reader"))
    assert seen is not None
    if seen.run_id == before.run_id:
        for table in BUILT:
            found = embedded_digest(lake.log(table.name, version=seen.versions[table.name]))
            assert found == digests[table.name], table.name
    built(lake, sources)
    check(lake, anew, (at, when, which))
    last = last_published(Run(lake, "reader"))
    assert last is not None and last.run_id != before.run_id


def read(opened: OpenLake) -> dict[str, str]:
    """What an open reader has before it."""
    with engine_failures():
        return {
            name: str(digest_of(map(pa.record_batch, opened.table(name).batches())))
            for name in ("files", "cpg_nodes", "cpg_edges", "calls")
        }


def both_begun(worker: Worker, lake: Lake, sources: Path, mine: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What two builds say that were at work at once: the worker's waits in its first commit until the other waits for
    it, or is past it."""
    worker.pause.write_text("60000")
    worker.ask(do="build", lake=lake.store.root, folder=str(sources))
    wait_for(worker.pause.with_name("pause.waiting"))
    go_on = threading.Timer(2, worker.pause.unlink)
    go_on.start()
    done = built(lake, mine)
    return done, worker.answer()


@pytest.mark.soak
def test_two_builds_of_one_repository_and_then_of_two_at_once(
    spark: SparkSession,
    lakes: tuple[Lake, Lake],
    prepared_lake: PreparedLake,
    start_workers: Callable[..., list[Worker]],
    tmp_path: Path,
) -> None:
    old, anew = lakes
    sources = old.store.path.parent / "shop"
    shutil.copytree(old.store.path, tmp_path / "lake")
    lake = create_lake(Store(str(tmp_path / "lake")), spark)
    [worker] = start_workers(1)
    reader = codelake.open(str(tmp_path / "lake"))
    reader.engine.open(["files"])  # the other tables when it asks again
    before = [run.run_id for run in published_runs(lake)]
    mine, theirs = both_begun(worker, lake, sources, sources)
    assert len(published_runs(lake)) == len(before) + 1, "one published"
    assert {bool(mine["versions"].get(CPG_NODES.name)), bool(theirs["versions"].get(CPG_NODES.name))} == {True, False}
    check(lake, anew, "one repository")

    other = tmp_path / "other"
    write(other, {"other.py": "import shop\n\n\ndef used():\n    return shop.total([])\n"})
    write(tmp_path / "shop")
    mine, theirs = both_begun(worker, lake, other, tmp_path / "shop")
    runs = published_runs(lake)
    assert {mine["run_id"], theirs["run_id"]} == {run.run_id for run in runs[-2:]} and len(runs) == len(before) + 3
    assert read(reader) == read(codelake.open(str(old.store.path))), "undisturbed throughout"
    both = prepared_lake(tmp_path / "both")
    build(both, Reading(open_sources([str(tmp_path / "shop"), str(other)]), Progress()), limits=Limits())
    check(lake, both, "two repositories")


_FREE = [20, 100, 200]
"""Kilobytes that are left when a build begins."""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="mounting a small disk needs root")
@pytest.mark.soak
@pytest.mark.parametrize("free", _FREE)
def test_a_full_disk_is_said_and_the_next_build_goes_on(
    spark: SparkSession, lakes: tuple[Lake, Lake], tmp_path: Path, free: int
) -> None:
    old, anew = lakes
    sources, disk = old.store.path.parent / "shop", tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    try:
        shutil.copytree(old.store.path, disk / "lake")
        lake = create_lake(Store(str(disk / "lake")), spark)
        before = read(codelake.open(lake.store.root))
        with (disk / "filler").open("wb") as filler:
            filler.write(bytes(disk_free(disk) - free * 1024))
        with pytest.raises(Unavailable, match="room on the disk"):
            built(lake, sources)
        assert read(codelake.open(lake.store.root)) == before
        (disk / "filler").unlink()
        built(lake, sources)
        check(lake, anew, free)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
