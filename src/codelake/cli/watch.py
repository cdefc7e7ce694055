"""`codelake watch`: the graph of a folder, kept up to date."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.opening import session_when_asked
from codelake.cli.options import given, settings
from codelake.errors import CodelakeError

# Spark and Arrow take longer to import than most commands to run: only who builds loads them.
if TYPE_CHECKING:
    from codelake.pipeline.difference import Counts, Difference
    from codelake.pipeline.watch import Update

_SHOWN = 10
"""Lines of a list; --json has all."""
_SIGNS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red"), "unresolved": ("?", "magenta")}


@click.command()
@click.argument("path", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--name", metavar="NAME", help="the repository's name in the lake; without it, the folder's")
@click.option("--include", metavar="PATTERN", multiple=True, help="only these files; may be given several times")
@click.option("--exclude", metavar="PATTERN", multiple=True, help="not these files; wins over --include")
def watch(path: str, name: str | None, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    """Keep the graph of a folder up to date while files change.

    It is built first. PATH is a folder or a git repository; the current folder if none is given. Changes that come
    close together are built at once, in a session that stays open. Each build says what it changed in the graph since
    the last one: files, nodes, edges, definitions, calls that nothing is known of. What `codelake build` would not read
    builds nothing. A build that fails says why, and the watch goes on.

    Ctrl-C and SIGTERM stop it, with exit code 0; the lake keeps what was built.

    With --json, one document per line, errors of builds among them.

    \b
    Examples:
      codelake watch
      codelake watch ~/src/django --exclude tests/
    """
    from codelake.cli.drawing import drawn
    from codelake.delta.lake import create_lake, open_lake
    from codelake.delta.store import Store
    from codelake.extract.guard import Limits
    from codelake.extract.sources import open_source
    from codelake.pipeline.watch import watch as run_watch
    from codelake.settings import n_bytes

    current = settings()
    store = Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
    largest = n_bytes(current.max_file_size)
    source = partial(open_source, path, name=name, include=include, exclude=exclude, max_file_bytes=largest)
    limits = Limits(seconds=current.file_seconds, memory=n_bytes(current.file_memory))
    source()  # what is wrong with it is said before Spark starts
    create_lake(store)
    # Whatever Ctrl-C means at the moment.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with ExitStack() as until_done:
            lake = open_lake(store, session_when_asked(until_done, current, store), lock_timeout=current.lock_timeout)
            output.message(f"watching {path}; Ctrl-C stops")
            progress = partial(drawn, quiet=given().quiet)
            for update in run_watch(lake, Path(path), source, limits=limits, progress=progress):
                _tell(update)
    except KeyboardInterrupt:
        output.message("codelake: stopped; the lake keeps what was built")


def _tell(update: Update | CodelakeError) -> None:
    if isinstance(update, CodelakeError):
        if given().json:
            click.echo(given().masked(json.dumps(update.as_dict(), ensure_ascii=False)))
        else:
            click.echo(given().masked(f"codelake: {update}"), err=True)
        return
    said = {name: update.summary[name] for name in ("run_id", "repositories", "seconds")}
    if given().json:
        found = update.difference._asdict() if update.difference else {}
        click.echo(json.dumps({**said, **found}, ensure_ascii=False, default=str))
        return
    names = ", ".join(one["repo"] for one in said["repositories"])
    if update.difference is None:
        click.echo(f"{click.style(names, bold=True)}: up to date ({said['seconds']} s)")
        return
    click.echo(f"{click.style(names, bold=True)}: run {said['run_id']}, {said['seconds']} s")
    _show(update.difference)


def _show(found: Difference) -> None:
    _lines([(row["change"], row["path"] + _status(row)) for row in found.files])
    click.echo(f"  nodes {_totals(found.nodes)}, edges {_totals(found.edges)}")
    _lines([(row["change"], f"{row['kind']} {row['qualified_name']}") for row in found.definitions])
    _lines([("unresolved", _call(row)) for row in found.unresolved])


def _lines(changes: Sequence[tuple[str, str]]) -> None:
    for change, text in changes[:_SHOWN]:
        sign, colour = _SIGNS[change]
        click.echo(f"  {click.style(sign, fg=colour)} {text}")
    if len(changes) > _SHOWN:
        click.echo(f"    and {len(changes) - _SHOWN:,} more")


def _status(file: Mapping[str, Any]) -> str:
    return "" if file["status"] == "parsed" else f" ({file['status']}: {file['reason']})"


def _call(row: Mapping[str, Any]) -> str:
    return f"call of {row['callee_text'] or 'an expression'} at {row['path']}:{row['start_line']} ({row['reason']})"


def _totals(counts: Counts) -> str:
    return f"+{sum(counts['added'].values()):,} -{sum(counts['removed'].values()):,}"
