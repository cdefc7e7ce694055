"""Preparations that need a Spark of their own run in a child process: a process can hold only one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codelake.errors import Unavailable
from codelake.runtime.java import Java


def run(module: str, *, java: Java, conf: Mapping[str, str], to: Path, do: str) -> None:
    request = {"home": str(java.home), "version": java.version, "conf": dict(conf), "to": str(to)}
    # -P: the current folder is often somebody's repository, and its modules are not ours to import.
    command = [sys.executable, "-P", "-m", module]
    child = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True)
    if child.returncode != 0 or not to.exists():
        said = child.stderr.strip().splitlines()
        raise Unavailable(f"{module} failed: {said[-1] if said else f'exit code {child.returncode}'}", do=do)


def request() -> tuple[Java, dict[str, str], Path]:
    """What the parent asked for, in the child."""
    asked: dict[str, Any] = json.load(sys.stdin)
    return Java(Path(asked["home"]), asked["version"], "parent"), asked["conf"], Path(asked["to"])
