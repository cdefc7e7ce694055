from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from tests.delta import history
from tests.lakes import made_once


@pytest.fixture(scope="session")
def history_made(spark: SparkSession, common: Path) -> Path:
    return made_once(common / "history", history.make, spark)


@pytest.fixture
def historic(history_made: Path, tmp_path: Path, spark: SparkSession) -> Lake:
    """A copy of the lake of tests/delta/history.py, for a test to change."""
    return open_lake(Store(str(shutil.copytree(history_made, tmp_path / "historic"))), spark)
