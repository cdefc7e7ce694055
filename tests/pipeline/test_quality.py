"""What the graph does not know is counted, beside what it did not know before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from codelake.contracts.graph import CPG_NODES
from codelake.delta.lake import Lake
from codelake.delta.run import Run, new_run_id
from codelake.delta.write import commit
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


def test_places_with_several_candidates_are_counted(lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    methods = "".join(f"class {name}:\n    def run(self):\n        pass\n" for name in ("Fast", "Slow"))
    (folder / "app.py").write_text(f"{methods}def go(quick):\n    one = Fast() if quick else Slow()\n    one.run()\n")
    found = counted(lake, built(lake, folder)["run_id"])
    assert found["ambiguous", "CALLS"] == (1, None)


def test_what_leads_to_nodes_that_are_not_there_is_counted(lake: Lake, tmp_path: Path) -> None:
    """Two nodes are taken away behind the pipeline's back: a function that another file calls, and the repository."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "lib.py").write_text("def add(a, b):\n    return a + b\n")
    (folder / "app.py").write_text("import lib\n\ndef go():\n    return lib.add(1, 2)\n")
    assert not {rule for rule, _ in counted(lake, built(lake, folder)["run_id"])} & {"dangling", "orphan"}
    gone = "kind = 'repository' OR (kind = 'function' AND name = 'add')"
    commit(Run(lake, "planted", stage="planted"), CPG_NODES, mode="delete", where=gone)
    (folder / "app.py").write_text("import lib\n\ndef go():\n    return lib.add(1, 3)\n")
    found = counted(lake, built(lake, folder)["run_id"])
    assert found["dangling", "CALLS"] == found["dangling", "CALLER_OF"] == (1, None)
    assert found["orphan", "file"][0] == 2


def test_runs_within_a_second_follow_each_other() -> None:
    """What the last run counted is found by its id."""
    made = []
    for _ in range(20):
        made.append(new_run_id())
        time.sleep(0.002)
    assert made == sorted(made)
