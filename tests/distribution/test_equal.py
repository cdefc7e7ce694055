"""The same pipeline in this process, on a local Spark, on a cluster of two workers and over Spark Connect: equal rows
in every table that builds write. Built first as a whole, then brought up to date."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from codelake.contracts.stubs import STUBS
from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from codelake.settings import Settings
from tests.connect import connect_server
from tests.distribution.building import build_states, on_executors
from tests.lakes import PreparedLake
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
def expected(prepared_lake: PreparedLake, states: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """What is small is linked and rendered in this process."""
    lake = prepared_lake(tmp_path_factory.mktemp("expected") / "lake")
    build_states(lake, states)
    return lake


@pytest.fixture
def root(prepared_lake: PreparedLake, tmp_path: Path) -> Path:
    """A lake to build into, with one table that is still to be made and filled."""
    lake = prepared_lake(tmp_path / "lake")
    shutil.rmtree(tmp_path / "lake" / STUBS.name)
    assert not lake.exists(STUBS.name)
    return tmp_path / "lake"


@pytest.fixture(scope="module")
def server(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of Spark Connect; its URL."""
    with connect_server(settings, tmp_path_factory.mktemp("connect")) as url:
        yield url


def build_elsewhere(root: Path, states: list[Path], *, within: Sequence[str] = (), **variables: str) -> str:
    """In a process of its own, perhaps one that a program `within` runs; what it printed."""
    return run(*within, sys.executable, "-m", "tests.distribution.building", str(root), *map(str, states), **variables)


def run(*command: str, **variables: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | variables, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.soak  # a cluster does the same, and is in the suite
def test_on_the_workers_of_a_local_session(
    prepared_lake: PreparedLake, states: list[Path], expected: Lake, tmp_path: Path
) -> None:
    lake = prepared_lake(tmp_path / "lake")
    with on_executors():
        build_states(lake, states)
    check(lake, expected, "local")


def test_on_a_cluster_of_two_workers(states: list[Path], expected: Lake, root: Path) -> None:
    cluster = (sys.executable, "-m", "codelake.runtime.cluster")
    n_executors = build_elsewhere(root, states, within=cluster)
    assert n_executors == "2"
    check(open_lake(Store(str(root))), expected, "cluster")


@pytest.mark.soak
def test_executors_are_lost_during_builds(states: list[Path], expected: Lake, root: Path) -> None:
    cluster = (sys.executable, "-m", "codelake.runtime.cluster")
    said = build_elsewhere(root, states, within=cluster, KILL_EXECUTORS="yes")
    assert said.split() == ["2", "2"], "executors there were, and killed"
    check(open_lake(Store(str(root))), expected, "executors lost")


def test_over_spark_connect(server: str, states: list[Path], expected: Lake, root: Path) -> None:
    build_elsewhere(root, states, CODELAKE_REMOTE=server)
    check(open_lake(Store(str(root))), expected, "Spark Connect")


def test_scans_commits_gates_and_feeds_work_the_same_over_connect(server: str, tmp_path: Path) -> None:
    said = run(sys.executable, "-m", "tests.delta.over_connect", server, str(tmp_path / "lake"))
    assert json.loads(said) == {
        "versions": [1, 1, 2, 3, 4, 5],
        "repeats": [False, True, False, False, False, False],
        "dropped": [1, 0, 1, 0, 0, 0],
        "refused": ["size_positive", "key (id) is unique", "id is not null"],
        "rows": [[1, "a", 2], [9, "b", 9]],
        "changes": 8,
        "recorded": ["commits", "quality"],
    }
