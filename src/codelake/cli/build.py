"""`codelake build`: repositories into the lake."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.claims import claim_options, found_reports
from codelake.cli.opening import session_when_asked
from codelake.cli.options import given, settings
from codelake.cli.sources import found_sources, raise_last, source_options, store_of
from codelake.errors import CodelakeError

if TYPE_CHECKING:
    from codelake.delta.store import Store

_MUCH = 32 << 20
"""Bytes of source from which on the JVM's better compiler gives back what its start costs."""


@click.command()
@source_options
@claim_options
def build(scip: str | None, pyrefly: str | None, forget: tuple[str, ...], **given_sources: Any) -> None:
    """Build the graph of repositories, or bring it up to date.

    PATH is a folder, a git repository or an archive (.zip, .whl, .tar.gz, .tgz); the current folder if none is
    given. NAME=PATH gives the repository another name. Building a repository again replaces what the lake
    holds of it. Only contents that are new to the lake are parsed; a content is the same in whatever
    repository, path or revision.

    With --rev A..B the commits behind A up to B are built one after the other, the oldest first, each a published
    run of its own: `--at` then answers about any of them. A commit costs what it changed. With several repositories,
    one that cannot be read does not stop the others.

    Patterns are those of .gitignore, such as `tests/` or `*_pb2.py`. An excluded file is not read, and none
    of its bytes are stored.

    A file that cannot be read or parsed does not stop a build: its status, in the table `files`, is recovered
    or skipped, and the table `diagnostics` says why. Ctrl-C stops at once; the lake keeps what it had, and the
    next build goes on from there.

    With --scip or --pyrefly, what another tool found out about the repository counts too: where codelake knows no
    target of a name or call, that of the tool is taken, with its origin; where they differ, the surer is believed, and
    the table `quality` counts it. The lake keeps what a report says until another is given, or --forget. Of a file that
    has changed since the report was made, nothing of it is used; `diagnostics` says so.

    \b
    Examples:
      codelake build
      codelake build ~/src/django --rev 5.2 --exclude tests/
      codelake build ~/src/django --rev 5.1..5.2
      codelake build ~/src/django --scip index.scip
      codelake build old=django-1.4.tar.gz new=django-5.2.tar.gz
    """
    from codelake.cli.drawing import drawn
    from codelake.contracts.evidence import EVIDENCE
    from codelake.delta.lake import create_lake, open_lake
    from codelake.extract.guard import Limits
    from codelake.pipeline.build import build as run_build
    from codelake.pipeline.reading import Reading
    from codelake.settings import n_bytes

    current, store = settings(), store_of(settings())
    limits = Limits(seconds=current.file_seconds, memory=n_bytes(current.file_memory))
    summaries: list[dict[str, Any]] = []
    failed: dict[str, CodelakeError] = {}
    try:
        with drawn(quiet=given().quiet) as progress, ExitStack() as until_done:
            lake = None
            for sources in found_sources(**given_sources):
                reports = found_reports(sources, rev=given_sources["rev"], scip=scip, pyrefly=pyrefly, forget=forget)
                reading = Reading(sources, progress, **reports)
                reading.begin()
                if lake is None:
                    is_new = not create_lake(store).exists(EVIDENCE.name)
                    thorough = is_new and sum(reading.sizes.values()) >= _MUCH
                    starting = session_when_asked(until_done, current, store, progress, thorough=thorough)
                    lake = open_lake(store, starting, lock_timeout=current.lock_timeout)
                summaries.append(run_build(lake, reading, limits=limits, progress=progress))
                failed |= reading.failed
    except KeyboardInterrupt:
        output.message("codelake: interrupted; the lake keeps what it had, the next build goes on from there")
        raise
    if given().json:
        output.document(summaries if len(summaries) > 1 else summaries[0])
    else:
        for summary in summaries:
            _show(summary)
    _advise(store)
    raise_last(failed)


def _advise(store: Store) -> None:
    """An edit replaces rows of files that it leaves as they are, and questions then read these files as a whole."""
    from codelake.contracts import TABLES
    from codelake.delta.lake import open_lake
    from codelake.delta.maintenance.due import optimize_reasons
    from codelake.query.engine import LOOKED_UP

    lake = open_lake(store)
    for table in TABLES:
        if table.name in LOOKED_UP and (reasons := "; ".join(optimize_reasons(lake.log(table.name), table))):
            output.message(f"questions are faster after `codelake maintain`: {table.name} has {reasons}")


def _show(summary: dict[str, Any]) -> None:
    for one in summary["repositories"]:
        name, revision = click.style(one["repo"], bold=True), ""
        if one["revision"]:
            revision = f" at {one['revision'][:12]}" + (", with changes" if one["is_dirty"] else "")
        click.echo(f"{name}{revision}: {one['n_files']:,} files, {one['n_lines']:,} lines")
        parts = [f"{one[f'n_{status}']:,} {status}" for status in ("parsed", "recovered", "skipped")]
        why = "; the table diagnostics says why" if one["n_recovered"] or one["n_skipped"] else ""
        click.echo(f"  {', '.join(parts)}{why}")
    n_extracted, n_contents = summary["n_contents_extracted"], summary["n_contents"]
    click.echo(f"{n_contents:,} contents: {n_extracted:,} parsed now, {n_contents - n_extracted:,} known before")
    for stage in summary["stages"]:
        if stage["why"]:
            click.echo(f"  {stage['stage']}: {'; '.join(stage['why'])} ({stage['seconds']:.1f} s)")
    if totals := summary["totals"]:
        click.echo(f"graph: {output.in_words(totals, summary['totals_before'])}")
    changed = ", ".join(summary["versions"]) or "nothing"
    click.echo(f"changed in {summary['lake']}: {changed} ({summary['seconds']} s, run {summary['run_id']})")
