from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelake.settings import Settings
from tests.connect import connect_server

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> Iterator[str]:
    with connect_server(settings, tmp_path) as url:
        yield url


def test_scans_commits_gates_and_feeds_work_the_same_over_connect(server: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.delta.over_connect", server, str(tmp_path / "lake")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {
        "versions": [1, 1, 2, 3, 4, 5],
        "repeats": [False, True, False, False, False, False],
        "dropped": [1, 0, 1, 0, 0, 0],
        "refused": ["size_positive", "key (id) is unique", "id is not null"],
        "rows": [[1, "a", 2], [9, "b", 9]],
        "changes": 8,
        "recorded": ["commits", "quality"],
    }
