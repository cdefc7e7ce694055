"""`codelake build`: repositories into the lake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.options import given, settings
from codelake.errors import UsageError

# Spark and Arrow take longer to import than most commands to run: only who builds loads them.
if TYPE_CHECKING:
    from codelake.extract.sources import Source

_MUCH = 32 << 20
"""Bytes of source from which on the JVM's better compiler gives back what its start costs."""


@click.command()
@click.argument("path", nargs=-1)
@click.option("--rev", metavar="REV", help="a revision of the git repository, in place of its working tree")
@click.option("--name", metavar="NAME", help="the repository's name in the lake; without it, the folder's or archive's")
@click.option("--include", metavar="PATTERN", multiple=True, help="only these files; may be given several times")
@click.option("--exclude", metavar="PATTERN", multiple=True, help="not these files; wins over --include")
@click.option("--from-file", metavar="LIST", multiple=True, help="a file that lists paths, one a line")
def build(
    path: tuple[str, ...],
    rev: str | None,
    name: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    from_file: tuple[str, ...],
) -> None:
    """Build the graph of repositories, or bring it up to date.

    PATH is a folder, a git repository or an archive (.zip, .whl, .tar.gz, .tgz); the current folder if none is
    given. NAME=PATH gives the repository another name. Building a repository again replaces what the lake
    holds of it. Only contents that are new to the lake are parsed; a content is the same in whatever
    repository, path or revision.

    Patterns are those of .gitignore, such as `tests/` or `*_pb2.py`. An excluded file is not read, and none
    of its bytes are stored.

    A file that cannot be read or parsed does not stop a build: its status, in the table `files`, is recovered
    or skipped, and the table `diagnostics` says why. Ctrl-C stops at once; the lake keeps what it had, and the
    next build goes on from there.

    \b
    Examples:
      codelake build
      codelake build ~/src/django --rev 5.2 --exclude tests/
      codelake build old=django-1.4.tar.gz new=django-5.2.tar.gz
    """
    from codelake.cli.drawing import drawn
    from codelake.contracts.evidence import EVIDENCE
    from codelake.delta.lake import create_lake, open_lake
    from codelake.delta.store import Store
    from codelake.extract.guard import Limits
    from codelake.pipeline.build import build as run_build
    from codelake.pipeline.reading import Reading
    from codelake.session import opened
    from codelake.settings import n_bytes

    current = settings()
    store = Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
    patterns = {"include": include, "exclude": exclude, "max_file_bytes": n_bytes(current.max_file_size)}
    sources = _sources([*path, *(f"@{each}" for each in from_file)] or ["."], rev, name, patterns)
    limits = Limits(seconds=current.file_seconds, memory=n_bytes(current.file_memory))
    try:
        with drawn(quiet=given().quiet) as progress:
            reading = Reading(sources, progress)
            reading.begin()
            is_new = not create_lake(store).exists(EVIDENCE.name)
            progress.stage("session")
            thorough = is_new and sum(reading.sizes.values()) >= _MUCH
            with opened(current, store.hadoop_conf(), thorough=thorough) as spark:
                lake = open_lake(store, spark, lock_timeout=current.lock_timeout)
                summary = run_build(lake, reading, limits=limits, progress=progress)
    except KeyboardInterrupt:
        output.message("codelake: interrupted; the lake keeps what it had, the next build goes on from there")
        raise
    if given().json:
        output.document(summary)
    else:
        _show(summary)


def _sources(locations: list[str], rev: str | None, name: str | None, patterns: dict[str, Any]) -> Sequence[Source]:
    from codelake.extract.sources import open_source, open_sources

    if name is None:
        return open_sources(locations, rev=rev, **patterns)
    if len(locations) > 1 or locations[0].startswith("@"):
        raise UsageError(
            f"--name {name}",
            expected="one path",
            found=" ".join(locations),
            do=f"Name each of them: {name}=PATH.",
        )
    return [open_source(locations[0], rev=rev, name=name, **patterns)]


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
    changed = ", ".join(summary["versions"]) or "nothing"
    click.echo(f"changed in {summary['lake']}: {changed} ({summary['seconds']} s, run {summary['run_id']})")
