"""A process of its own that writes to a lake as it is told: one JSON request a line in, one answer out."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from codelake.delta import in_process, write
from codelake.delta.changes import changes, cursor, window
from codelake.delta.lake import Lake, create_lake
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.properties import change_properties, drop, enable
from codelake.delta.record import record
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import CodelakeError
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.pipeline.restoring import restore_lake
from codelake.session import FEW_ROWS, session
from codelake.settings import load
from tests.delta.history import UNSORTED
from tests.delta.test_migration import loaded
from tests.delta.things import COPY, THINGS, frame
from tests.distribution.building import on_executors
from tests.faults.pausing import wait_for


def pause_file() -> Path:
    """As tests/faults/pausing.py has it; tests that call what is here themselves have none."""
    return Path(os.environ["PAUSE_FILE"])


def append_many(lake: Lake, *, worker: int, n: int, seed: int) -> dict[str, Any]:
    """`n` commits of one to three rows each, at random moments."""
    chance = random.Random(f"{seed}/{worker}")
    table = replace(THINGS, key_scope="write")
    versions, ids = [], []
    for i in range(n):
        run = Run(lake, f"w{worker}-{i}", stage="append", pipeline=f"w{worker}", number=i + 1)
        rows = [(worker * 1_000_000 + i * 10 + k, f"w{worker}", 1) for k in range(chance.randint(1, 3))]
        ids += [r[0] for r in rows]
        versions.append(commit(run, table, frame(lake, rows), mode="append", txn=run.txn).version)
        time.sleep(chance.random() * 0.02)
    return {"versions": versions, "ids": ids}


def submit(lake: Lake, *, number: int, stop_before_record: bool = False) -> dict[str, Any]:
    """One run with one commit and its record: the same run whenever it has the same number."""
    run = Run(lake, f"run-{number}", stage="append", pipeline="submit", number=number)
    done = commit(run, THINGS, frame(lake, [(number * 10 + k, "s", 1) for k in range(3)]), mode="append", txn=run.txn)
    if stop_before_record:
        print(json.dumps({"committed": done.version}), flush=True)
        time.sleep(120)
    record(run)
    return {"version": done.version, "is_repeat": done.is_repeat}


def follow(lake: Lake) -> dict[str, Any]:
    """Bring what is new in the feed of things into their copy."""
    run = Run(lake, "follow", stage="follow")
    read = window(run, THINGS, after=cursor(run, reader="follow", source=THINGS, into=COPY) or 0)
    if not read.is_empty:
        rows = changes(run, THINGS, after=read.after, until=read.until).select("id", "owner")
        commit(run, COPY, rows, mode="append", cursors={THINGS.name: read.until})
    return {"window": [read.after, read.until]}


def compact(lake: Lake) -> dict[str, Any]:
    return {"version": optimize(_upkeep(lake), THINGS).version}


def set_properties(lake: Lake, *, properties: dict[str, str]) -> dict[str, Any]:
    return {"version": change_properties(_upkeep(lake), THINGS, properties).version}


def enable_feature(lake: Lake, *, feature: str) -> dict[str, Any]:
    return {"version": enable(_upkeep(lake), THINGS, feature).version}


def drop_feature(lake: Lake, *, feature: str) -> dict[str, Any]:
    return {"version": drop(_upkeep(lake), replace(THINGS, features=()), feature).version}


def import_parquet(lake: Lake, *, folder: str) -> dict[str, Any]:
    return {"n_files": loaded(lake, Path(folder)).n_files}


def restore(lake: Lake, *, to: str) -> dict[str, Any]:
    return {"tables": len(restore_lake(lake, (UNSORTED, THINGS), to))}


def _upkeep(lake: Lake) -> Run:
    return Run(lake, "upkeep", stage="maintain", pipeline="maintain")


def build_and_die(
    lake: Lake, *, folder: str, at: int, when: str, which: list[str], on_spark: bool = False
) -> dict[str, Any]:
    """A build that is killed before or after its commit number `at`, or within it; which: python, jvm or both. Within
    is when the entry is there and nothing else has followed; `on_spark`, where Spark does all the work, when only the
    entry is missing."""
    real, checksum, n, pause = write._written, in_process.write_checksum, 0, pause_file()

    def die() -> None:
        if "jvm" in which:
            os.kill(lake.session.sparkContext._gateway.proc.pid, signal.SIGKILL)  # type: ignore[union-attr]
        if "python" in which:
            os.kill(os.getpid(), signal.SIGKILL)

    def die_in_commit() -> None:
        wait_for(pause.with_name("pause.waiting"))
        die()
        pause.unlink()

    def dying(*given: Any) -> Any:
        nonlocal n
        n += 1
        if (n, when) == (at, "before"):
            die()
        if (n, when, on_spark) == (at, "within", True):
            pause.write_text("60000")
            Thread(target=die_in_commit, daemon=True).start()
        gate = real(*given)
        if (n, when) == (at, "after"):
            die()
        return gate

    def dying_within(*given: Any) -> None:
        if (n, when, on_spark) == (at, "within", False):
            die()
        checksum(*given)

    write._written, in_process.write_checksum = dying, dying_within
    try:
        with on_executors() if on_spark else nullcontext():
            return build_one(lake, folder=folder)
    except CodelakeError as error:
        return {"error": str(error)}


def build_one(lake: Lake, *, folder: str) -> dict[str, Any]:
    done = build(lake, Reading(open_sources([folder]), Progress()), limits=Limits())
    return {"run_id": done["run_id"], "versions": done["versions"]}


def pausing(write_here: Callable[..., None]) -> Callable[..., None]:
    """As tests/faults/pausing.py does it for Spark's commits."""
    pause = pause_file()

    def paused(*given: Any) -> None:
        if pause.exists():
            left = int(pause.read_text())
            pause.with_name("pause.waiting").touch()
            while left > 0 and pause.exists():
                time.sleep(0.01)
                left -= 10
        write_here(*given)

    return paused


def main() -> None:
    in_process.write = pausing(in_process.write)
    options = json.loads(sys.argv[1])
    spark = session(load({"master": "local[1]", "spark": FEW_ROWS | options["spark"]}))
    print(json.dumps({"ready": os.getpid(), "jvm": spark.sparkContext._gateway.proc.pid}), flush=True)  # type: ignore[union-attr]
    for line in sys.stdin:
        request = json.loads(line)
        lake = create_lake(Store(request.pop("lake")), spark)
        lake = replace(lake, locking=request.pop("locking", True))
        work = {
            "append_many": append_many,
            "submit": submit,
            "follow": follow,
            "compact": compact,
            "set_properties": set_properties,
            "enable_feature": enable_feature,
            "drop_feature": drop_feature,
            "import_parquet": import_parquet,
            "restore": restore,
            "build_and_die": build_and_die,
            "build": build_one,
        }[request.pop("do")]
        print(json.dumps(work(lake, **request)), flush=True)


if __name__ == "__main__":
    main()
