from __future__ import annotations

from pathlib import Path

import pytest

from codelake.delta.lake import Lake
from tests.lakes import PreparedLake


@pytest.fixture
def lake(prepared_lake: PreparedLake, lake_root: Path) -> Lake:
    return prepared_lake(lake_root)
