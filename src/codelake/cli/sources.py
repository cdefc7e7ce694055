"""What is built or planned: the options that name sources, and the sources that they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from codelake.cli.options import given
from codelake.errors import CodelakeError, UsageError

# Spark and Arrow take longer to import than most commands to run: only who builds loads them.
if TYPE_CHECKING:
    from codelake.delta.store import Store
    from codelake.extract.sources import Source
    from codelake.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.argument("path", nargs=-1),
    click.option(
        "--rev", metavar="REV", help="a revision of the git repository, in place of its working tree; or A..B"
    ),
    click.option(
        "--name", metavar="NAME", help="the repository's name in the lake; without it, the folder's or archive's"
    ),
    click.option("--include", metavar="PATTERN", multiple=True, help="only these files; may be given several times"),
    click.option("--exclude", metavar="PATTERN", multiple=True, help="not these files; wins over --include"),
    click.option("--from-file", metavar="LIST", multiple=True, help="a file that lists paths, one per line"),
)


def source_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def store_of(settings: Settings) -> Store:
    from codelake.delta.store import Store

    return Store(settings.lake, options=settings.store, log_options=settings.log_store, local_only=settings.local_only)


def found_sources(
    path: tuple[str, ...],
    rev: str | None,
    name: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    from_file: tuple[str, ...],
) -> Iterator[Sequence[Source]]:
    """What to build, one after the other: all sources at once, or a commit of a range at a time."""
    from codelake.cli.options import settings
    from codelake.extract.sources import commits_between, open_source, open_sources
    from codelake.settings import n_bytes

    patterns: dict[str, Any] = {
        "include": include,
        "exclude": exclude,
        "max_file_bytes": n_bytes(settings().max_file_size),
    }
    locations = [*path, *(f"@{each}" for each in from_file)] or ["."]
    is_one = len(locations) == 1 and not locations[0].startswith("@")
    alone = {
        f"--name {name}": name and f"Name each of them: {name}=PATH.",
        f"--rev {rev}": _is_range(rev) and "Build one.",
    }
    for option, do in alone.items():
        if do and not is_one:
            raise UsageError(option, expected="one path", found=" ".join(locations), do=do)
    if rev is not None and _is_range(rev):
        for commit in commits_between(locations[0], rev):
            yield [open_source(locations[0], rev=commit, name=name, **patterns)]
    elif name is not None:
        yield [open_source(locations[0], rev=rev, name=name, **patterns)]
    else:
        yield open_sources(locations, rev=rev, **patterns)


def raise_last(failed: Mapping[str, CodelakeError]) -> None:
    """Say of each repository what is wrong with it, the last one as the command's error."""
    errors = list(failed.values())
    for error in errors[:-1]:
        click.echo(given().masked(f"codelake: {error}"), err=True)
    if errors:
        raise errors[-1]


def _is_range(rev: str | None) -> bool:
    return rev is not None and ".." in rev
