"""What the graph does not know is counted, beside what it did not know before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelake.delta.lake import Lake
from codelake.extract.guard import Limits
from codelake.extract.sources import open_source
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading

pytestmark = pytest.mark.slow


def built(lake: Lake, folder: Path) -> dict[str, Any]:
    return build(lake, Reading([open_source(folder)], Progress()), limits=Limits())


def counted(lake: Lake, run_id: str) -> dict[tuple[str, str], tuple[int, int | None]]:
    rows = lake.session.read.format("delta").load(lake.uri("quality")).where(f"run_id = '{run_id}'").collect()
    return {(row.rule, row.issue): (row.n, row.n_before) for row in rows}


def test_unresolved_calls_are_counted_beside_those_of_the_last_build(lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "app.py").write_text("def use(p):\n    p()\n    p.run()\n\ndef go():\n    use\n")
    first = built(lake, folder)
    assert counted(lake, first["run_id"]) == {
        ("unresolved", "unknown parameter"): (1, None),
        ("unresolved", "unknown receiver"): (1, None),
    }
    (folder / "app.py").write_text("def use(p):\n    p.run()\n    p.stop()\n")
    second = built(lake, folder)
    assert counted(lake, second["run_id"]) == {
        ("unresolved", "unknown parameter"): (0, 1),
        ("unresolved", "unknown receiver"): (2, 1),
    }
    third = built(lake, folder)
    assert counted(lake, third["run_id"]) == {}
