from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, create_lake, open_lake
from codelake.delta.store import Store
from tests.delta import history


@pytest.fixture(scope="session")
def history_made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("history") / "lake"
    history.make(create_lake(Store(str(root)), spark))
    return root


@pytest.fixture
def historic(history_made: Path, tmp_path: Path, spark: SparkSession) -> Lake:
    """A copy of the lake of tests/delta/history.py, for a test to change."""
    return open_lake(Store(str(shutil.copytree(history_made, tmp_path / "historic"))), spark)
