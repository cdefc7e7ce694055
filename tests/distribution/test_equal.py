"""The same pipeline in this process, on a local Spark, on a cluster of two workers and over Spark Connect: equal rows
in every table that builds write. Built first as a whole, then brought up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from codelake.settings import Settings
from tests.connect import connect_server
from tests.distribution.building import build_states, on_executors
from tests.properties.edits import PACKAGE, write
from tests.properties.test_incremental import check

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
CHANGED = {
    **{path: text for path, text in PACKAGE.items() if path != "shop/tax.py"},
    "shop/money.py": PACKAGE["shop/money.py"].replace("def zero", "def nothing"),
    "shop/broken.py": "def broken(:\n    Basket().sum()\n",
}
"""A file gone, an export renamed, a broken file added."""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("states")
    for state, files in {"first": PACKAGE, "then": CHANGED}.items():
        write(folder / state / "shop", files)
    return [folder / "first" / "shop", folder / "then" / "shop"]


@pytest.fixture(scope="module")
def expected(spark: SparkSession, states: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """What is small is linked and rendered in this process."""
    root = tmp_path_factory.mktemp("expected") / "lake"
    build_states(spark, root, states)
    return open_lake(Store(str(root)))


def build_elsewhere(root: Path, states: list[Path], *, within: Sequence[str] = (), **variables: str) -> str:
    """In a process of its own, perhaps one that a program `within` runs; what it printed."""
    build = [sys.executable, "-m", "tests.distribution.building", str(root), *map(str, states)]
    environment = os.environ | variables
    done = subprocess.run([*within, *build], capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.soak  # a cluster does the same, and is in the suite
def test_on_the_workers_of_a_local_session(
    spark: SparkSession, states: list[Path], expected: Lake, tmp_path: Path
) -> None:
    with on_executors():
        build_states(spark, tmp_path / "lake", states)
    check(open_lake(Store(str(tmp_path / "lake"))), expected, "local")


def test_on_a_cluster_of_two_workers(states: list[Path], expected: Lake, tmp_path: Path) -> None:
    cluster = (sys.executable, "-m", "codelake.runtime.cluster")
    n_executors = build_elsewhere(tmp_path / "lake", states, within=cluster)
    assert n_executors == "2"
    check(open_lake(Store(str(tmp_path / "lake"))), expected, "cluster")


def test_over_spark_connect(settings: Settings, states: list[Path], expected: Lake, tmp_path: Path) -> None:
    with connect_server(settings, tmp_path) as url:
        build_elsewhere(tmp_path / "lake", states, CODELAKE_REMOTE=url)
    check(open_lake(Store(str(tmp_path / "lake"))), expected, "Spark Connect")
