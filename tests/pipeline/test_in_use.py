"""A lake in use for half an hour: builds, with readers beside them, maintenance, restores and imports."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import codelake
from codelake.contracts import TABLES
from codelake.contracts.table import Upkeep
from codelake.delta.checks import check_lake
from codelake.delta.digest import digest_of
from codelake.delta.lake import Lake, open_lake
from codelake.delta.maintenance.log_cleanup import cleanup_log
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.reading import engine_failures
from codelake.delta.runs import published_runs
from codelake.errors import PinUnavailable
from codelake.pipeline.build import BUILT
from codelake.pipeline.restoring import restore_lake
from codelake.pipeline.upkeep import finish, maintain, new_upkeep
from tests.delta.test_migration import ids, loaded
from tests.delta.test_migration import write as write_parquet
from tests.delta.things import stored
from tests.lakes import PreparedLake
from tests.properties.edits import edited, write
from tests.properties.test_incremental import built, check

pytestmark = pytest.mark.soak

SECONDS = int(os.environ.get("SOAK_SECONDS", "1800"))
KEPT = timedelta(seconds=60)
EAGER = tuple(replace(table, upkeep=Upkeep(small_files=4, deleted_rows=20, checkpoint_entries=8)) for table in TABLES)
READ = ("files", "cpg_nodes", "cpg_edges", "cpg_edges_by_dst", "calls", "classes")
ORPHANS = "SELECT count(*) AS n FROM cpg_edges WHERE src NOT IN (SELECT node_id FROM cpg_nodes)"


def test_for_half_an_hour(prepared_lake: PreparedLake, tmp_path: Path) -> None:
    seed = int(os.environ.get("SOAK_SEED", time.time_ns() % 10_000))
    print(f"seed {seed}, {SECONDS} seconds")
    lake, sources = prepared_lake(tmp_path / "lake"), tmp_path / "shop"
    write(sources)
    built(lake, sources)
    ends = time.monotonic() + SECONDS
    counts = dict.fromkeys(("builds", "maintained", "files gone", "restored", "imported", "reads"), 0)
    counts |= {"vacuumed under a reader": 0, "vacuumed before it was restored": 0}
    read_as: dict[str, dict[str, str]] = {}
    restored_to: list[str] = []
    problems: list[str] = []

    def until_the_end(work: Callable[[Lake, random.Random], None], name: str) -> threading.Thread:
        def loop() -> None:
            chance = random.Random(f"{seed}/{name}")
            # A session as a process of its own would have one; patient, because builds take minutes on a busy machine.
            own = open_lake(lake.store, lake.session.newSession(), lock_timeout=3600)
            while time.monotonic() < ends and not problems:
                try:
                    work(own, chance)
                except Exception as error:  # noqa: BLE001 - whatever it is, the test says it
                    problems.append(f"{name}: {type(error).__name__}: {error}")

        thread = threading.Thread(target=loop, name=name)
        thread.start()
        return thread

    def build(own: Lake, chance: random.Random) -> None:
        for _ in range(chance.randrange(1, 4)):
            edited(sources, chance)
        built(own, sources)
        counts["builds"] += 1

    def look_after(own: Lake, _: random.Random) -> None:
        counts["maintained"] += len(maintain(own, EAGER))
        run = new_upkeep(own)
        gone = [delete(run, table.name, retain=KEPT, force=True) for table in BUILT for delete in (vacuum, cleanup_log)]
        counts["files gone"] += sum(len(one.touched) for one in gone)
        finish(run, gone)
        time.sleep(5)

    def go_back(own: Lake, chance: random.Random) -> None:
        to = chance.choice(published_runs(own)[-4:]).run_id
        try:
            restore_lake(own, TABLES, to)
        except PinUnavailable:
            counts["vacuumed before it was restored"] += 1
            return
        restored_to.append(to)
        counts["restored"] += 1
        time.sleep(20)

    def migrate(own: Lake, _: random.Random) -> None:
        write_parquet(tmp_path / "dataset", f"{counts['imported']:05}.parquet", ids(3 * counts["imported"]))
        assert loaded(own, tmp_path / "dataset").n_files == 1
        counts["imported"] += 1
        time.sleep(5)

    def read(own: Lake, _: random.Random) -> None:
        try:
            opened = codelake.open(own.store.root)
            with engine_failures():
                found = {name: str(digest_of(map(pa.record_batch, opened.table(name).batches()))) for name in READ}
            [orphans] = opened.sql(ORPHANS).to_arrow().column("n").to_pylist()
        except PinUnavailable:  # the documented one
            counts["vacuumed under a reader"] += 1
            return
        counts["reads"] += 1
        run = opened.run.run_id
        if orphans or found != read_as.setdefault(run, found):
            problems.append(f"run {run}: {orphans} edges from nowhere, {found}, and before {read_as[run]}")
        time.sleep(0.2)

    threads = [until_the_end(work, work.__name__) for work in (build, look_after, go_back, migrate, read, read)]
    for thread in threads:
        thread.join()
    runs = published_runs(lake)
    print(counts | {"runs": len(runs), "runs read": len(read_as)})
    assert problems == []
    assert [
        what for what in ("builds", "maintained", "files gone", "restored", "imported", "reads") if not counts[what]
    ] == []
    backs = iter(restored_to)
    for earlier, run in pairwise(runs):
        same = {"maintain": earlier.run_id, "restore": next(backs) if run.pipeline == "restore" else ""}
        if (was := read_as.get(same.get(run.pipeline, ""))) and run.run_id in read_as:
            assert read_as[run.run_id] == was, (seed, run.run_id, same)
    built(lake, sources)
    anew = prepared_lake(tmp_path / "anew")
    built(anew, sources)
    check(lake, anew, seed)
    assert [row[0] for row in sorted(stored(lake, "imported"))] == list(range(3 * counts["imported"]))
    contracts = {table.name: table for table in TABLES}
    assert [str(one) for one in check_lake(lake, contracts, thorough=True) if one.level == "fault"] == []
