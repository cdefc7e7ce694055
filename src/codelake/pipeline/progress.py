"""How far a build has come: told to whoever draws it.

Reading is told file by file. Extraction runs in Spark, which tells of finished tasks: on a session of our own
through its status tracker, which is asked now and then; over Spark Connect by a handler that the client calls.
Neither says which tasks have ended. They are of about the same size and start in their order, so that the
first n of them are taken for n that have ended. Which of Spark's stages is the extraction is known by the number
of its tasks, and by being the newest with that number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from codelake.extract.tasks import Tasks

_PAUSE = 0.25


class Progress:
    """Tells nobody. Drawn by a subclass; its methods are called from several threads."""

    def stage(self, name: str) -> None:
        """A stage has begun."""

    def read(self, repo: str, n_bytes: int) -> None:
        """One more file of a repository was read."""

    def expect(self, n_files: int, n_bytes: int) -> None:
        """So much is to be extracted."""

    def extracted(self, n_files: int, n_bytes: int) -> None:
        """So much of it is."""


@contextmanager
def watched(spark: SparkSession, tasks: Tasks, progress: Progress) -> Iterator[None]:
    """Tells `progress` of the tasks that Spark runs meanwhile."""
    progress.expect(sum(tasks.n_contents), sum(tasks.n_bytes))
    n_files, n_bytes = [0, *accumulate(tasks.n_contents)], [0, *accumulate(tasks.n_bytes)]

    def tell(n_done: int) -> None:
        progress.extracted(n_files[n_done], n_bytes[n_done])

    with (_tracked if hasattr(spark, "_jvm") else _handled)(spark, len(tasks), tell):
        yield
    tell(len(tasks))


@contextmanager
def _tracked(spark: SparkSession, n_tasks: int, tell: Callable[[int], None]) -> Iterator[None]:
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def look() -> None:
        while not ended.wait(_PAUSE):
            try:
                stages = [tracker.getStageInfo(each) for each in sorted(tracker.getActiveStageIds())]
            except (PySparkException, Py4JError, OSError):
                return  # the session has ended: there is nothing more to tell
            if done := [stage.numCompletedTasks for stage in stages if stage and stage.numTasks == n_tasks]:
                tell(done[-1])

    thread = threading.Thread(target=look, name="codelake progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_PAUSE)


@contextmanager
def _handled(spark: Any, n_tasks: int, tell: Callable[[int], None]) -> Iterator[None]:
    def hear(stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        if ended := [(s.stage_id, s.num_completed_tasks) for s in stages or () if s.num_tasks == n_tasks]:
            tell(max(ended)[1])

    spark.registerProgressHandler(hear)
    try:
        yield
    finally:
        spark.removeProgressHandler(hear)
