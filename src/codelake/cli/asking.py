"""What all commands that ask share: the options, opening the lake at a run, and how an answer is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import click

from codelake.cli import output
from codelake.cli.options import given, settings
from codelake.errors import NotFound
from codelake.query.answer import in_lines

# deltalake takes longer to import than the rest of a command to start: only who asks loads it.
if TYPE_CHECKING:
    from codelake.query.answer import Answer
    from codelake.query.engine import Limits
    from codelake.query.lake import OpenLake

AT_HELP = "as of a run, its number (-1: the last), a git revision that was built, TABLE=VERSION or a time"
Decorated = Callable[..., Any]


class When(click.ParamType[str]):
    """What --at takes, as an argument. Its command lets through what looks like an option, since -1 is the number of a
    run; anything else of that kind is refused here."""

    name = "when"
    allowed: ClassVar = {"ignore_unknown_options": True}
    """The settings of its command."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.startswith("-") and not value[1:].isdigit():
            from difflib import get_close_matches  # only for what is misspelt, and commands start often

            known = [name for each in ctx.command.params for name in each.opts] if ctx else []
            raise click.NoSuchOption(value, possibilities=get_close_matches(value, known, 1), ctx=ctx)
        return value


at_option = click.option("--at", metavar="WHEN", help=AT_HELP)
repo_option = click.option("--repo", metavar="NAME", default="", help="only rows of this repository")
confidence_option = click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="only edges that are at least so sure",
)


def limit_option(default: int) -> Callable[[Decorated], Decorated]:
    return click.option("--limit", type=click.IntRange(1), default=default, show_default=True, help="rows at most")


def depth_option(default: int) -> Callable[[Decorated], Decorated]:
    return click.option("--depth", type=click.IntRange(1, 50), default=default, show_default=True, help="steps at most")


def answer_options(command: Decorated) -> Decorated:
    """How the answer is printed: a table or tree for people unless one of these is given."""
    command = click.option("--csv", "as_csv", is_flag=True, help="the rows as CSV")(command)
    command = click.option("--sql", "as_sql", is_flag=True, help="the SQL that the answer comes from, not the answer")(
        command
    )
    return at_option(command)


def walk_options(command: Decorated) -> Decorated:
    """Of those who go from a symbol to others: what it is, how far to go, which edges and rows count."""
    for option in (answer_options, limit_option(1000), repo_option, confidence_option, depth_option(1)):
        command = option(command)
    return click.argument("symbol")(command)


def opened(at: str | None, limits: Limits | None = None, *, since: str | None = None) -> OpenLake:
    from codelake.delta.store import Store
    from codelake.query.lake import OpenLake

    current = settings()
    store = Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
    return OpenLake(store, at=at, since=since, limits=limits)


def answered(answer: Answer, *, as_csv: bool, as_sql: bool) -> None:
    """Prints the answer. An empty one is the answer "no", and the exit code says so."""
    if as_sql:
        _print_sql(answer)
    elif given().json:
        output.document(answer.as_document())
    elif as_csv:
        print_csv(list(answer.rows))
    elif answer:
        _print_rows(answer)
    else:
        output.message(f"codelake: {answer.title}: none" + (f" ({answer.note})" if answer.note else ""))
    if not answer:
        click.get_current_context().exit(NotFound.exit_code)


def print_csv(rows: list[dict[str, Any]]) -> None:
    import csv

    if rows:
        writer = csv.DictWriter(sys.stdout, list(rows[0]), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in rows)


def _csv_cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value


def _print_sql(answer: Answer) -> None:
    if given().json:
        output.document(list(answer.sql))
    else:
        click.echo("\n".join(f"{text};" for text in answer.sql))


def _print_rows(answer: Answer) -> None:
    if answer.body:
        click.echo(in_lines(answer.body))
    if answer.rows:
        title = click.style(in_lines(answer.title), bold=True)
        click.echo(f"\n{title}" if answer.body else title)
    output.rows(answer.indented(), answer.columns)
    if answer.note:
        output.message(answer.note)
