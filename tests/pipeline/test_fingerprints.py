"""A stage's fingerprint is the same wherever the same would be done, and another where it would not."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import codelake
from codelake.extract.guard import Limits
from codelake.pipeline import fingerprints as module
from codelake.pipeline.fingerprints import changed_parts
from codelake.pipeline.stages import STAGES, fingerprints

_PRINT = (
    "import json; from codelake.extract.guard import Limits; from codelake.pipeline.stages import fingerprints; "
    "print(json.dumps({name: one.text for name, one in fingerprints(Limits()).items()}))"
)
ALL = [stage.name for stage in STAGES]
SOURCES = Path(codelake.__file__).parents[1]
_ELSEWHERE = {
    # contracts of tables: each is a part of its own
    *(f"codelake.contracts.{name}" for name in ("claims", "evidence", "graph", "operations")),
    *(f"codelake.contracts.{name}" for name in ("sources", "stubs", "table", "tables", "semantic")),
    # nothing of these is in a row
    *("codelake.errors", "codelake.lean", "codelake.pipes"),
}


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


def imported_by(module: str) -> set[str]:
    """Modules of codelake that a module needs to run, and those that they need."""
    found, to_read = {module}, [module]
    while to_read:
        for name in _imports(to_read.pop()) - found:
            found.add(name)
            to_read.append(name)
    return found


def _imports(module: str) -> set[str]:
    path = SOURCES / module.replace(".", "/")
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
    named = {
        name
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("codelake")
        for name in (one.module, *(f"{one.module}.{alias.name}" for alias in one.names))
    }
    return {name for name in named if name and (SOURCES / name.replace(".", "/")).with_suffix(".py").exists()}


@pytest.mark.parametrize(
    ("begin", "part"),
    [("codelake.graph.link.kernel", module.linking), ("codelake.graph.render.render", module.rendering)],
)
def test_all_code_that_makes_rows_is_in_the_fingerprint(
    begin: str, part: Callable[[], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()
    real: Callable[[str, str], str] = module._text

    def text(package: str, name: str) -> str:
        seen.add(f"{package}.{name.removesuffix('.py')}")
        return real(package, name)

    monkeypatch.setattr(module, "_text", text)
    monkeypatch.setattr(module, "_source", lambda package: seen.update(_below(package)) or package)
    part()
    assert imported_by(begin) - seen - _ELSEWHERE == set()


def _below(package: str) -> set[str]:
    return {f"{package}.{file.stem}" for file in (SOURCES / package.replace(".", "/")).glob("*.py")}
