"""`codelake doctor`: what is installed, what is missing, what to do about it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from codelake.cli import output
from codelake.cli.options import settings
from codelake.errors import CodelakeError, Unavailable
from codelake.settings import Settings

_STYLES = {"state": {"ok": "green", "missing": "yellow", "wrong": "red"}}
_SETUP = "Run `codelake setup`."


@dataclass(frozen=True)
class Finding:
    check: str
    state: str
    found: str
    do: str = ""
    # Without it, codelake works, only slower.
    needed: bool = True


@click.command()
@click.pass_context
def doctor(context: click.Context) -> None:
    """What is installed, what is missing, what to do about it."""
    current = settings()
    findings = [finding for check in CHECKS for finding in check(current)]
    output.rows([asdict(finding) for finding in findings], ["check", "state", "found", "do"], styles=_STYLES)
    if any(finding.needed and finding.state != "ok" for finding in findings):
        context.exit(Unavailable.exit_code)


def _python(_: Settings) -> Iterator[Finding]:
    state = "ok" if sys.version_info >= (3, 11) else "wrong"
    yield Finding(
        "python",
        state,
        f"{platform.python_version()} ({sys.executable})",
        "" if state == "ok" else "Use 3.11 or newer.",
    )


def _packages(_: Settings) -> Iterator[Finding]:
    # A tenth of a second together, which every other command would pay for. So are the imports of other checks.
    import importlib.metadata

    from packaging.requirements import Requirement

    # The versions that fit together are declared once, as the dependencies of codelake.
    try:
        declared = importlib.metadata.requires("codelake") or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding("codelake", "missing", "not installed in this environment", "Install it: `pip install codelake`.")
        return
    for requirement in map(Requirement, declared):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        wanted = f"Install {requirement.name}{requirement.specifier}."
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(requirement.name, "missing", "", wanted)
            continue
        fits = requirement.specifier.contains(version, prereleases=True)
        yield Finding(requirement.name, "ok" if fits else "wrong", version, "" if fits else wanted)


def _java(current: Settings) -> Iterator[Finding]:
    from codelake.runtime import java

    if current.remote is not None:
        return
    try:
        yield Finding("java", "ok", str(java.find(current)))
    except CodelakeError as error:
        yield Finding("java", "missing", str(error.found or error.what), error.do)


def _jars(current: Settings) -> Iterator[Finding]:
    from codelake.runtime import jars

    if current.remote is not None:
        return
    folder = jars.folder(current)
    if not folder.exists():
        yield Finding("delta jars", "missing", f"not in {folder}", _SETUP)
        return
    try:
        jars.verify(folder)
        yield Finding("delta jars", "ok", f"{jars.DELTA_VERSION} in {folder}")
    except CodelakeError as error:
        yield Finding("delta jars", "wrong", error.what, error.do)


def _archive(current: Settings) -> Iterator[Finding]:
    from codelake.runtime import archive, jars, java

    if current.remote is not None or not current.class_archive or not jars.folder(current).exists():
        return
    try:
        found = java.find(current)
        from codelake.session import configuration  # where PySpark is broken, the rest still answers
    except (CodelakeError, ImportError):
        return
    folder = archive.path(current, found, configuration(current, jars.paths(current)))
    if folder.exists():
        yield Finding("class archive", "ok", str(folder), needed=False)
    else:
        yield Finding("class archive", "missing", "made by the first start", _SETUP, needed=False)


def _spark(current: Settings) -> Iterator[Finding]:
    from codelake.runtime import reach

    if current.remote is not None:
        answers, name, shown = reach.remote(current.remote), "remote", current.shown("remote")
    else:
        answers, name, shown = reach.master(current.master), "master", current.master
    do = "" if answers else f"Start it, or correct `{name}` (--{name}, CODELAKE_{name.upper()})."
    yield Finding(name, "ok" if answers else "wrong", shown if answers else f"{shown} does not answer", do)


def _lake(current: Settings) -> Iterator[Finding]:
    shown = current.shown("lake")
    if "://" in current.lake and not current.lake.startswith("file:"):
        refused = current.local_only
        do = "Choose a folder, or set `local_only` to false." if refused else ""
        yield Finding("lake", "wrong" if refused else "ok", f"{shown} (a remote store, not opened)", do)
        return
    folder = Path(current.lake.removeprefix("file://"))
    if not folder.exists():
        yield Finding("lake", "ok", f"{shown} (not there yet; the first build makes it)")
    elif not folder.is_dir():
        yield Finding("lake", "wrong", f"{shown} is a file", "Set `lake` (--lake, CODELAKE_LAKE) to a folder.")
    elif not os.access(folder, os.W_OK):
        yield Finding("lake", "wrong", f"{shown} cannot be written", "Queries work; to build, make it writable.")
    else:
        yield Finding("lake", "ok", shown)


CHECKS: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _java,
    _jars,
    _archive,
    _spark,
    _lake,
)
