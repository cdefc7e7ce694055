from __future__ import annotations

import fcntl
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.lake import Lake, open_lake
from codelake.delta.store import Store
from codelake.query.lake import OpenLake
from tests.cli.conftest import run as run
from tests.lakes import PreparedLake
from tests.query.shop import built_shop


@dataclass
class Shop:
    root: Path
    revisions: list[str]
    lake: Lake
    """For Spark."""
    open: OpenLake
    """At the last run."""

    @property
    def uri(self) -> str:
        return str(self.root / "lake")


@pytest.fixture(scope="session")
def shop(spark: SparkSession, prepared_lake: PreparedLake, common: Path) -> Shop:
    """Built once for all processes of the tests."""
    root = common / "shop"
    root.mkdir(exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "revisions").exists():
            built_shop(root, prepared_lake)
    store = Store(str(root / "lake"))
    return Shop(root, (root / "revisions").read_text().split(), open_lake(store, spark), OpenLake(store))
