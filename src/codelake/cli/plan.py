"""`codelake plan`: what a build would do, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.claims import claim_options, found_reports
from codelake.cli.options import given, settings
from codelake.cli.sources import found_sources, raise_last, source_options, store_of
from codelake.errors import CodelakeError
from codelake.query.answer import cell

if TYPE_CHECKING:
    from codelake.pipeline.plan import Planned


@click.command()
@source_options
@claim_options
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, help="files that are listed, of each stage"
)
def plan(limit: int, scip: str | None, pyrefly: str | None, forget: tuple[str, ...], **given_sources: Any) -> None:
    """What a build would do and why. Writes nothing.

    The sources are read and compared with the lake as it is; no Spark is started. PATH and the options are those of
    `codelake build`. Files that a change reaches through others are known only once they are linked: the table
    `stages` names them after the build. The exit code is 0 whether or not there is something to do.

    \b
    Examples:
      codelake plan
      codelake plan ~/src/django --rev 5.2 --json
    """
    from codelake.cli.drawing import drawn
    from codelake.delta.lake import Lake
    from codelake.extract.guard import Limits
    from codelake.pipeline.plan import plan as planned
    from codelake.pipeline.reading import Reading
    from codelake.settings import n_bytes

    current = settings()
    limits = Limits(seconds=current.file_seconds, memory=n_bytes(current.file_memory))
    plans: list[tuple[str, Planned]] = []
    failed: dict[str, CodelakeError] = {}
    for sources in found_sources(**given_sources):
        reports = found_reports(sources, rev=given_sources["rev"], scip=scip, pyrefly=pyrefly, forget=forget)
        with drawn(quiet=given().quiet) as progress:
            reading = Reading(sources, progress, **reports)
            found = planned(Lake(store_of(current)), reading, limits=limits)
        plans.append((sources[0].revision or "", found))
        failed |= reading.failed
    if given().json:
        documents = [_document(found) for _, found in plans]
        output.document(documents if len(documents) > 1 else documents[0])
    else:
        for revision, found in plans:
            if len(plans) > 1:
                click.secho(f"commit {revision[:12]}, compared with the lake as it is", bold=True)
            _show(found, limit)
    raise_last(failed)


def _document(found: Planned) -> dict[str, Any]:
    steps = [{**step._asdict(), "files": [one._asdict() for one in step.files]} for step in found.steps]
    return {"steps": steps, "metadata": found.metadata}


def _show(found: Planned, limit: int) -> None:
    for line in found.metadata:
        click.echo(line)
    for step in found.steps:
        click.echo(f"{click.style(step.stage, bold=True)}: {'; '.join(step.why)}")
        for one in step.files[:limit]:
            click.echo(f"  {cell(one.repo)}:{cell(one.path)}: {cell(one.why)}")
        if len(step.files) > limit:
            click.echo(f"  and {len(step.files) - limit:,} more (--limit)")
    if not found.steps and not found.metadata:
        click.echo("nothing to do: the lake is up to date")
