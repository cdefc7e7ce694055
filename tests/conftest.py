from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, create_lake
from codelake.delta.store import Store
from codelake.session import session, stop
from codelake.settings import Settings, load
from tests.lakes import PreparedLake, copy, made_once, prepare


@pytest.fixture(scope="session")
def settings() -> Settings:
    """codelake's own defaults for a short local session, but for what differs here."""
    return load(
        {
            # Two threads on any machine: the same plans and the same number of files everywhere.
            "master": "local[2]",
            "spark": {
                # Small data gains nothing from being re-planned, and file counts stay the same.
                "spark.sql.adaptive.enabled": "false",
                # Compiling a query takes longer than running it over a hundred rows.
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            },
        }
    )


@pytest.fixture(scope="session")
def spark(settings: Settings) -> Iterator[SparkSession]:
    started = session(settings)
    yield started
    stop(started)


@pytest.fixture
def lake_root(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def lake(lake_root: Path, spark: SparkSession) -> Lake:
    return create_lake(Store(str(lake_root)), spark)


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def prepared(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "prepared", prepare, spark)


@pytest.fixture(scope="session")
def prepared_lake(spark: SparkSession, prepared: Path) -> PreparedLake:
    return lambda root: copy(prepared, root, spark)


_LONG = (
    "test_equal.py",
    "test_examples.py",
    "test_build.py",
    "test_watch.py",
    "test_reading_along.py",
    "test_many_writers.py",
    "test_rebuild.py",
    "test_readers.py",
    "test_questions.py",
    "test_update.py",
    "test_incremental.py",
    "test_history.py",
    "test_submitted_again.py",
    "test_disturbed_builds.py",
    "test_killed_upkeep.py",
    "test_cases.py",
    "test_however_built.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first: of two workers, none waits for them at the end. Whatever needs a session
    is slow: it starts a JVM."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: _LONG.index(item.path.name) if item.path.name in _LONG else len(_LONG))
