"""Readers in processes of their own while a lake is built, optimized and vacuumed: each answer is that of one run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from codelake.delta.lake import Lake
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.runs import published_runs
from codelake.pipeline.build import BUILT
from codelake.pipeline.upkeep import finish, new_upkeep
from tests.lakes import PreparedLake
from tests.properties.test_incremental import built

N_FUNCTIONS, N_READERS = 20, 2
ROOT = Path(__file__).parents[2]
NOTHING_YET = re.compile(r"codelake build")
"""What somebody is told to type who asks a lake with nothing in it."""


def write(folder: Path, generation: int) -> None:
    """Every name of a generation has its number, and every function of one file is called from the other."""
    names = [f"gen{generation}_{i:02}" for i in range(N_FUNCTIONS)]
    folder.mkdir(exist_ok=True)
    (folder / "made.py").write_text("\n\n".join(f"def {name}():\n    return {generation}\n" for name in names))
    calls = "\n\n".join(f"def use_{name}():\n    return {name}()\n" for name in names)
    (folder / "used.py").write_text(f"from made import {', '.join(names)}\n\n{calls}")


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[list[Path]]:
    """What they print."""
    stop, files = tmp_path / "stop", [tmp_path / f"reader-{i}.jsonl" for i in range(N_READERS)]
    told = [sys.executable, "-m", "tests.query.reading_along", str(tmp_path / "lake"), str(stop)]
    processes = [subprocess.Popen(told, cwd=ROOT, stdout=file.open("w")) for file in files]
    yield files
    stop.touch()
    for process in processes:
        process.wait(300)


def look_after(lake: Lake) -> int:
    """Every table optimized, that published, and what it leaves behind vacuumed at once. The files that went."""
    run = new_upkeep(lake)
    finish(run, [optimize(run, table) for table in BUILT if lake.log(table.name).files.num_rows > 1])
    gone = [vacuum(run, table.name, retain=timedelta(0), force=True) for table in BUILT]
    return sum(len(one.touched) for one in gone)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, pytest.param(30, marks=pytest.mark.soak)])
def test_each_answer_is_one_runs(prepared_lake: PreparedLake, tmp_path: Path, readers: list[Path], n: int) -> None:
    lake = prepared_lake(tmp_path / "lake")
    generation_of: dict[str, int] = {}
    n_gone = 0
    for generation in range(n):
        write(tmp_path / "src", generation)
        built(lake, tmp_path / "src")
        n_gone += look_after(lake)
        for run in published_runs(lake):
            generation_of.setdefault(run.run_id, generation)
    assert n_gone > 0
    heard = [[json.loads(line) for line in file.open() if line.endswith("\n")] for file in readers]
    answers = [one for reader in heard for one in reader if "run" in one]
    for one in answers:
        expected = [f"gen{generation_of[one['run']]}_{i:02}" for i in range(N_FUNCTIONS)]
        assert one["names"] == one["called"] == expected
        assert one["callers"] == [f"used.use_{expected[0]}"]
        assert one["source"] == [f"def {expected[0]}():", f"    return {generation_of[one['run']]}"]
    failures = [one for reader in heard for one in untold(reader)]
    print(f"{len(answers)} answers of {len({one['run'] for one in answers})} runs; {sum(map(len, heard))} rounds")
    assert len({one["run"] for one in answers}) >= n and len(answers) > 10 * n
    assert failures == []


def untold(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Errors that a reader was not told to expect: until something is published, that nothing is; at any time, that a
    version was vacuumed after it was opened."""
    published = next((place for place, one in enumerate(rounds) if "run" in one), len(rounds))
    return [
        one
        for place, one in enumerate(rounds)
        if one.get("error") not in (None, "PinUnavailable")
        and not (place < published and one["error"] == "NotFound" and NOTHING_YET.search(one["text"]))
    ]
