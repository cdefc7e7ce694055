"""Lakes that several tests begin with.

Those for tests that build have every table and typeshed's stubs, as a build leaves a lake that was ended before it
linked anything: a build of a handful of files would spend two thirds of its time on these. That builds make them is
shown where one begins with an empty folder, as in tests/pipeline/test_build.py and tests/test_examples.py."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, create_lake, open_lake
from codelake.delta.run import Run, new_run_id
from codelake.delta.store import Store
from codelake.extract.guard import Limits
from codelake.pipeline.build import create_tables
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.pipeline.stubs import store_stubs
from codelake.pipeline.work import Build

PreparedLake = Callable[[Path], Lake]
"""A lake of its own in this folder, ready to be built into."""


def made_once(root: Path, make: Callable[[Lake], None], spark: SparkSession) -> Path:
    """A lake to be copied, or only to be read: made once, even if several processes ask for it."""
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root.with_suffix(".done")
        if not done.exists():
            make(create_lake(Store(str(root)), spark))
            done.touch()
    return root


def prepare(lake: Lake) -> None:
    create_tables(lake)
    run = Run(lake, new_run_id(), pipeline="build", stage="stubs")
    store_stubs(Build(run, Reading([], Progress()), Limits(), Progress()))


def copy(prepared: Path, root: Path, spark: SparkSession | None) -> Lake:
    lake = create_lake(Store(str(root)), spark)
    for name in open_lake(Store(str(prepared))).table_names():
        shutil.copytree(prepared / name, root / name)
    return lake
