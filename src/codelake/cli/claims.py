"""Reports of other tools that a build takes: the options that name them, and the reports that they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from codelake.errors import UsageError

# Arrow takes longer to import than most commands to run: only who builds loads it.
if TYPE_CHECKING:
    from codelake.extract.claims import Report
    from codelake.extract.sources import Source

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--scip", metavar="FILE", help="a SCIP index of the repository, such as scip-python writes"),
    click.option(
        "--pyrefly", metavar="DIR", help="what `pyrefly check --report-pysa DIR --report-pysa-format json` wrote"
    ),
    click.option(
        "--forget",
        type=click.Choice(("scip", "pyrefly")),
        multiple=True,
        help="no longer use what such a report said of the repository; may be given several times",
    ),
)


def claim_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def found_reports(
    sources: Sequence[Source], *, rev: str | None, scip: str | None, pyrefly: str | None, forget: Sequence[str]
) -> dict[str, Any]:
    """As `Reading` takes them."""
    given = {"scip": scip, "pyrefly": pyrefly}
    for origin, location in given.items():
        if location is None:
            continue
        if len(sources) != 1 or (rev is not None and ".." in rev):
            what = f"{len(sources)} repositories" if len(sources) != 1 else f"--rev {rev}"
            raise UsageError(f"--{origin} {location}", expected="one repository at one revision", found=what)
        if origin in forget:
            raise UsageError(f"--{origin} {location}", expected="a report, or --forget", found="both")
    return {"reports": _reports(sources, scip, pyrefly), "forgotten": tuple(forget)}


def _reports(sources: Sequence[Source], scip: str | None, pyrefly: str | None) -> tuple[Report, ...]:
    if scip is None and pyrefly is None:
        return ()
    from codelake.extract.claims import open_pyrefly, open_scip

    found: list[Report] = []
    if scip is not None:
        found.append(open_scip(scip))
    if pyrefly is not None:
        found.append(open_pyrefly(pyrefly, Path(sources[0].location).resolve()))
    return tuple(found)
