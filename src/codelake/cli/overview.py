"""Questions about a whole run: `hot`, `unresolved`, `diff`."""

from __future__ import annotations

from typing import Any

import click

from codelake.cli.asking import (
    When,
    answer_options,
    answered,
    confidence_option,
    limit_option,
    opened,
    repo_option,
)


@click.command()
@click.option(
    "--by",
    type=click.Choice(["callers", "calls", "importers", "subclasses"]),
    default="callers",
    show_default=True,
    help="what is counted",
)
@click.option("--outside", is_flag=True, help="also what no repository of the lake defines")
@click.option("--repo", metavar="NAME", default="", help="count only what this repository does")
@confidence_option
@limit_option(20)
@answer_options
def hot(at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """What most others call, import or inherit from.

    \b
    Examples:
      codelake hot
      codelake hot --by importers --outside
    """
    answered(opened(at).hot(**options), as_csv=as_csv, as_sql=as_sql)


@click.command()
@click.option("--reason", metavar="TEXT", default="", help="list the calls with this reason")
@click.option("--under", metavar="PATH", default="", help="list the calls in files whose paths begin so")
@repo_option
@limit_option(100)
@answer_options
def unresolved(at: str | None, as_csv: bool, as_sql: bool, **options: Any) -> None:
    """Calls whose target is not known, by reason.

    They are counted; with --reason or --under they are listed one by one.

    \b
    Examples:
      codelake unresolved
      codelake unresolved --reason 'unknown receiver' --under src/
    """
    answered(opened(at).unresolved(**options), as_csv=as_csv, as_sql=as_sql)


@click.command(context_settings=When.allowed)
@click.argument("before", type=When())
@click.argument("after", type=When(), required=False)
@click.option("--csv", "as_csv", is_flag=True, help="the rows as CSV")
@click.option("--sql", "as_sql", is_flag=True, help="the SQL that the answer comes from, not the answer")
@limit_option(1000)
def diff(before: str, after: str | None, as_csv: bool, as_sql: bool, limit: int) -> None:
    """What changed in the graph from BEFORE to AFTER.

    AFTER is the last run if it is not given. Both are what --at takes: a run, its number, a git revision that was
    built, TABLE=VERSION or a time. Rows are files, symbols, and edges between symbols, each added, removed or changed.
    A definition is changed if its text is.

    \b
    Examples:
      codelake diff -2
      codelake diff 8e34f0c 1a9b2d7 --json
      codelake diff 2026-01-31T12:00:00
    """
    answered(opened(after).diff(before, limit=limit), as_csv=as_csv, as_sql=as_sql)
