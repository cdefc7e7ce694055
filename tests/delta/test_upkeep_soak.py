"""Maintenance for long: a year in the life of a table, and half an hour beside writers and readers."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelake.contracts import Column, Table
from codelake.contracts.operations import MAINTENANCE, RUNS
from codelake.contracts.table import Upkeep
from codelake.delta.checks import check_table
from codelake.delta.create import create_table, set_properties
from codelake.delta.lake import Lake
from codelake.delta.maintenance.checkpoint import checkpoint
from codelake.delta.maintenance.needed import RETENTION
from codelake.delta.planned import commit_planned
from codelake.delta.reading import Reader, engine_failures
from codelake.delta.restore import restore_table
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import PinUnavailable
from codelake.pipeline.restoring import restore_one
from codelake.pipeline.upkeep import maintain
from codelake.query.published import published
from tests.delta.history import publish
from tests.delta.test_migration import ids, loaded, write
from tests.delta.things import THINGS, frame, stored

pytestmark = pytest.mark.soak

SECONDS = int(os.environ.get("SOAK_SECONDS", "1800"))
COMMITS = int(os.environ.get("SOAK_COMMITS", "400"))
OWNERS, EACH = 200, 50
# Nothing is kept but what is published: a year's worth of expiry within minutes.
KEPT = replace(
    THINGS,
    key_scope="write",
    retention_days=0,
    upkeep=Upkeep(small_files=15, cleanup_entries=30, vacuum_files=15),
)
PUBLIC = replace(RUNS, retention_days=0)
IMPORTED = Table("imported", "A dataset that grows.", (Column("id", "bigint", "a number"),), upkeep=KEPT.upkeep)


def rows_of(lake: Lake, owner: int, size: int) -> Any:
    return frame(lake, [(owner * EACH + k, f"o{owner:04}", size) for k in range(EACH)], KEPT)


def rewrite(lake: Lake, run_id: str, owner: int, size: int) -> int:
    """One file of source was edited."""
    run = Run(lake, run_id, stage="edit", pipeline="edit")
    done = commit_planned(
        run, KEPT, lambda _: rows_of(lake, owner, size), mode="replace", replacing=[(f"o{owner:04}",)]
    )
    assert done is not None
    return done.version


def add(lake: Lake, run_id: str, owner: int, size: int) -> int:
    """Something was written beside what was there."""
    run = Run(lake, run_id, stage="edit", pipeline="edit")
    rows = frame(lake, [(OWNERS * EACH + size, f"o{owner:04}", size)], KEPT).coalesce(1)
    return commit(run, KEPT, rows, mode="append").version


def begin(lake: Lake) -> None:
    for table in (PUBLIC, MAINTENANCE, KEPT):
        create_table(lake, table)
    first = [(o * EACH + k, f"o{o:04}", 1) for o in range(OWNERS) for k in range(EACH)]
    run = Run(lake, "begin", stage="edit", pipeline="edit")
    done = commit_planned(run, KEPT, lambda _: frame(lake, first, KEPT).coalesce(1), mode="append")
    assert done is not None
    publish(lake, "begin", {"things": done.version})
    for table in (PUBLIC, KEPT):  # as a lake is that was looked after
        checkpoint(run, table.name)


def looked_up(store: Store, owner: int) -> list[int]:
    """What a question is: the last published run, and a few rows by their key at its version."""
    reader = Reader(store)
    reader.register("things", version=published(reader).versions["things"])
    sql = f"SELECT size FROM things WHERE owner = 'o{owner:04}'"
    with engine_failures():
        return sorted(reader.execute(sql).read_all().column("size").to_pylist())


def seconds_of(stores: Sequence[Store], n: int = 100) -> list[float]:
    """The fastest of many look-ups in each, in turn: what else the machine does is not the table's fault."""
    taken: list[list[float]] = [[] for _ in stores]
    for _ in range(n):
        for store, each in zip(stores, taken, strict=True):
            started = time.perf_counter()
            looked_up(store, 7)
            each.append(time.perf_counter() - started)
    return [min(each) for each in taken]


def on_disk(lake: Lake, name: str) -> tuple[int, int, int]:
    """Data files, log entries, bytes."""
    folder = lake.store.path / name
    files = [f for f in folder.rglob("*") if f.is_file() and not f.name.startswith(".")]
    entries = [f for f in files if f.parent.name == "_delta_log" and f.suffix == ".json"]
    data = [f for f in files if "_delta_log" not in f.parts]
    return len(data), len(entries), sum(f.stat().st_size for f in files)


def test_a_year_in_the_life(lake: Lake, tmp_path: Path) -> None:
    """A commit in four rewrites the rows of an owner, the others add one: so most commits of a lake are."""
    seed = int(os.environ.get("SOAK_SEED", time.time_ns() % 10_000))
    print(f"seed {seed}, {COMMITS} commits")
    chance = random.Random(seed)
    begin(lake)
    size_before = on_disk(lake, "things")
    young = Store(str(shutil.copytree(lake.store.path, tmp_path / "young")))
    sizes = {owner: [1] * EACH for owner in range(OWNERS)}
    tables: tuple[Table, ...] = (KEPT, PUBLIC)
    most = {table.name: (0, 0, 0) for table in tables}
    for i in range(COMMITS):
        owner = chance.randrange(OWNERS)
        if chance.random() < 0.25:
            sizes[owner] = [i + 2] * EACH
            version = rewrite(lake, f"edit-{i:04}", owner, i + 2)
        else:
            sizes[owner] = sorted([*sizes[owner], i + 2])
            version = add(lake, f"edit-{i:04}", owner, i + 2)
        publish(lake, f"run-{i:04}", {"things": version})
        if i % 10 == 9:
            maintain(lake, tables)
        for name, before in most.items():
            files, entries, n_bytes = map(max, zip(before, on_disk(lake, name), strict=True))
            most[name] = files, entries, n_bytes
        if i % 50 == 49:
            print(f"{i + 1} commits: look-up {seconds_of([young, lake.store])}, at most {most}", flush=True)
    before, after = seconds_of([young, lake.store])
    print(f"look-up {before * 1000:.1f} ms, then {after * 1000:.1f} ms; at most {most}, at first {size_before}")
    assert after <= 1.5 * before
    for files, entries, n_bytes in most.values():
        assert files <= 100 and entries <= 80 and n_bytes <= 1 << 20
    assert {owner: looked_up(lake.store, owner) for owner in range(OWNERS)} == sizes
    assert [str(one) for one in check_table(lake, "things", KEPT, thorough=True) if one.level == "fault"] == []


def test_beside_writers_and_readers(lake: Lake, tmp_path: Path) -> None:
    seed = int(os.environ.get("SOAK_SEED", time.time_ns() % 10_000))
    print(f"seed {seed}, {SECONDS} seconds")
    begin(lake)
    set_properties(lake, "things", {RETENTION: "interval 60 seconds"})  # what is restored stays until it is published
    first = lake.log("things").version
    publish(lake, "first", {"things": first})
    ends = time.monotonic() + SECONDS
    sizes = dict.fromkeys(range(OWNERS), 1)
    counts = {"edits": 0, "maintained": 0, "restored": 0, "imported": 0, "reads": 0, "vacuumed under a reader": 0}
    counts |= {"optimized before it was restored": 0, "rows came back": 0}
    problems: list[str] = []
    publishing = threading.Lock()

    def until_the_end(work: Callable[[random.Random], None], name: str) -> threading.Thread:
        def loop() -> None:
            chance = random.Random(f"{seed}/{name}")
            while time.monotonic() < ends and not problems:
                try:
                    work(chance)
                except Exception as error:  # noqa: BLE001 - whatever it is, the test says it
                    problems.append(f"{name}: {type(error).__name__}: {error}")

        thread = threading.Thread(target=loop, name=name)
        thread.start()
        return thread

    def edit(chance: random.Random) -> None:
        owner, size = chance.randrange(OWNERS), chance.randrange(2, 1_000_000)
        with publishing:
            counts["edits"] += 1
            sizes[owner] = size
            publish(lake, f"run-{counts['edits']:06}", {"things": rewrite(lake, f"edit-{size}", owner, size)})

    def look_after(_: random.Random) -> None:
        counts["maintained"] += len(maintain(lake, (KEPT, PUBLIC, IMPORTED)))
        time.sleep(1)

    def migrate(_: random.Random) -> None:
        """One file more of a dataset; each load compares the digests of all its files with the table's."""
        write(tmp_path / "dataset", f"{counts['imported']:05}.parquet", ids(3 * counts["imported"]))
        assert loaded(lake, tmp_path / "dataset").n_files == 1
        counts["imported"] += 1
        time.sleep(2)

    def undo(chance: random.Random) -> None:
        """To the newest version, or to an earlier one and then to the newest: what is between is never published."""
        with publishing:
            newest = [published(Reader(lake.store)).versions["things"], lake.log("things").version]
            is_earlier = (counts["rows came back"] == 0 or chance.random() < 0.5) and go_back(newest[0], chance)
            if any(is_restored(version) for version in newest):
                counts["restored"] += 1
            elif is_earlier:
                problems.append(f"undo: neither of the versions {newest} can be restored")
            else:
                counts["optimized before it was restored"] += 1
        time.sleep(1)

    def go_back(newest: int, chance: random.Random) -> bool:
        """Whether the table has other rows then. It is left alone if there is no way back."""
        earlier = max(first, lake.log("things").versions.start, newest - chance.randrange(1, 4))
        try:
            lake.log("things", version=newest).require_files()
            run = Run(lake, f"undo-{time.time_ns()}", stage="restore", pipeline="restore")
            done = restore_table(run, KEPT, earlier)
        except PinUnavailable:
            return False
        counts["rows came back"] += done.metrics["n_rows_back"]
        return done.version != done.from_version

    def is_restored(version: int) -> bool:
        try:
            restore_one(lake, KEPT, version)
        except PinUnavailable:
            return False
        return True

    def read(chance: random.Random) -> None:
        owner = chance.randrange(OWNERS)
        try:
            found = looked_up(lake.store, owner)
        except PinUnavailable:  # the documented one
            counts["vacuumed under a reader"] += 1
            return
        counts["reads"] += 1
        if len(found) != EACH or len(set(found)) != 1:
            problems.append(f"owner {owner}: {len(found)} rows of sizes {set(found)}")

    threads = [until_the_end(work, work.__name__) for work in (edit, look_after, undo, migrate, read, read)]
    for thread in threads:
        thread.join()
    print(counts)
    assert problems == []
    happened = ("edits", "maintained", "restored", "rows came back", "imported", "reads")
    assert [what for what in happened if counts[what] == 0] == []
    expected = sorted((o * EACH + k, f"o{o:04}", size) for o, size in sizes.items() for k in range(EACH))
    assert sorted(stored(lake)) == expected
    assert [row[0] for row in sorted(stored(lake, "imported"))] == list(range(3 * counts["imported"]))
    assert [str(one) for one in check_table(lake, "things", KEPT, thorough=True) if one.level == "fault"] == []
