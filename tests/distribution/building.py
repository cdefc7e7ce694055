"""A build of two states of a repository with everything on executors, in a process of its own: a process has one kind
of session. With KILL_EXECUTORS in the environment some of them are killed meanwhile."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from codelake.pipeline import extraction, graph, here
from codelake.session import FEW_ROWS, session, stop
from codelake.settings import load
from tests.properties.test_incremental import built

SMALL = FEW_ROWS | {
    # For a table of ten rows: the defaults of a cluster make 200 and 50 tasks of it.
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@contextmanager
def on_executors() -> Iterator[None]:
    """Nothing is too small for Spark's workers, and they read it from the lake themselves."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(here, "LINKED_HERE", 0)
        patched.setattr(here, "RENDERED_HERE", 0)
        patched.setattr(extraction, "_FEW", 0)
        patched.setattr(extraction, "_HANDED", 0)
        patched.setattr(graph, "_HANDED", 0)
        yield


def build_states(lake: Lake, states: list[Path]) -> None:
    for folder in states:
        built(lake, folder)


class Killer(Thread):
    """Kills one of our executors while it works, as a machine that goes away would."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(daemon=True)
        self.n_killed = 0
        self._context = spark.sparkContext
        self.start()

    def run(self) -> None:
        while self.n_killed < 2:
            status = self._context.statusTracker()
            running = [
                one for n in status.getActiveStageIds() if (one := status.getStageInfo(n)) and one.numActiveTasks
            ]
            if running and (executors := list(self._executors())):
                os.kill(executors[0], signal.SIGKILL)
                self.n_killed += 1
                time.sleep(15)  # until there is another
            time.sleep(0.01)

    def _executors(self) -> Iterator[int]:
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                words = (folder / "cmdline").read_bytes().decode().split("\0")
                if self._context.applicationId in words and any("ExecutorBackend" in word for word in words):
                    yield int(folder.name)


def main(root: str, *states: str) -> None:
    """Where Spark runs is in the environment: CODELAKE_MASTER or CODELAKE_REMOTE."""
    settings = load()
    spark = session(settings if settings.remote else load({"spark": SMALL}))
    if not settings.remote:
        spark.range(2, numPartitions=2).count()
        executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        print(len(executors) - 1)  # the driver is one of them
    killer = Killer(spark) if "KILL_EXECUTORS" in os.environ else None
    with on_executors():
        build_states(open_lake(Store(root), spark), [Path(each) for each in states])
    if killer:
        print(killer.n_killed)
    stop(spark)


if __name__ == "__main__":
    main(*sys.argv[1:])
