"""A stage's fingerprint is the same wherever the same would be done, and another where it would not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codelake.extract.guard import Limits
from codelake.pipeline import fingerprints as module
from codelake.pipeline.fingerprints import changed_parts
from codelake.pipeline.stages import STAGES, fingerprints

_PRINT = (
    "import json; from codelake.extract.guard import Limits; from codelake.pipeline.stages import fingerprints; "
    "print(json.dumps({name: one.text for name, one in fingerprints(Limits()).items()}))"
)
ALL = [stage.name for stage in STAGES]


def test_the_same_in_two_processes_and_folders(tmp_path: Path) -> None:
    here = {name: one.text for name, one in fingerprints(Limits()).items()}
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", _PRINT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == here


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        (("codelake.graph.rules", "calls.py"), ["graph", "quality"]),
    ],
)
def test_a_changed_rule_changes_what_comes_after_it(
    changed: tuple[str, str], reached: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprints(Limits())
    real: Callable[[str, str], str] = module._text
    monkeypatch.setattr(module, "_text", lambda *given: real(*given) + "#" * (given == changed))
    after = fingerprints(Limits())
    assert [name for name in ALL if before[name].text != after[name].text] == reached
    assert changed_parts(before["graph"].parts, after["graph"].parts) == ["rule calls changed"]


def test_a_changed_linker_or_setting_changes_what_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprints(Limits())
    other = fingerprints(Limits(seconds=1))
    assert [name for name in ALL if before[name].text != other[name].text] == [
        name for name in ALL if name not in ("contents", "claims", "stubs")
    ]
    monkeypatch.setattr(module, "linking", lambda: {"linker": "another"})
    monkeypatch.setattr("codelake.pipeline.stages.linking", lambda: {"linker": "another"})
    linked = fingerprints(Limits())
    assert [name for name in ALL if before[name].text != linked[name].text] == ["link", "graph", "quality"]
