from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, create_lake
from codelake.delta.store import Store
from codelake.session import session, stop
from codelake.settings import Settings, load


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


_LONG = ("test_many_writers.py", "test_equal.py", "test_incremental.py", "test_killed_builds.py", "test_watch.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first: of two workers, none waits for them at the end."""
    items.sort(key=lambda item: _LONG.index(item.path.name) if item.path.name in _LONG else len(_LONG))
