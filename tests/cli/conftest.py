from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codelake.cli.main import run as run_command

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command in an empty folder without settings: its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    for variable in [name for name in os.environ if name.startswith("CODELAKE_")]:
        # Where set-up put the jars is a matter of the machine, not of the test.
        if variable != "CODELAKE_CACHE_DIR":
            monkeypatch.delenv(variable)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_command(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
