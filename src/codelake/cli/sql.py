"""`codelake sql`: read-only SQL over every table and view."""

from __future__ import annotations

import sys

import click

from codelake.cli import output
from codelake.cli.asking import at_option, opened, print_csv
from codelake.cli.options import given
from codelake.errors import NotFound, UsageError


@click.command()
@click.argument("text")
@click.option(
    "--dialect",
    type=click.Choice(["datafusion", "spark", "duckdb", "postgres"]),
    default="datafusion",
    show_default=True,
    help="the dialect of TEXT; the first is the engine's own",
)
@click.option("--limit", type=click.IntRange(1), default=1000, show_default=True, help="rows at most")
@click.option("--seconds", type=click.FloatRange(0), default=60, show_default=True, help="time at most; 0 is no limit")
@click.option("--memory", metavar="SIZE", default="1G", show_default=True, help="memory at most, such as 500M or 4G")
@click.option("--explain", is_flag=True, help="how the engine would run it")
@click.option("--lineage", is_flag=True, help="tables and columns that it reads, and its fingerprint; runs nothing")
@click.option("--csv", "as_csv", is_flag=True, help="the rows as CSV")
@click.option("--since", metavar="WHEN", help="an earlier run, to compare with: before_files, files_changes and so on")
@at_option
def sql(
    text: str,
    dialect: str,
    limit: int,
    seconds: float,
    memory: str,
    explain: bool,
    lineage: bool,
    as_csv: bool,
    since: str | None,
    at: str | None,
) -> None:
    """Run one SELECT over the tables and views of a run. TEXT is SQL, or - for standard input.

    Whatever is not a query is refused (exit code 3) before anything runs, with its place in the text. So is a name that
    no table, view or function has, with the nearest ones.

    \b
    Examples:
      codelake sql "SELECT kind, count(*) AS n FROM cpg_nodes GROUP BY kind ORDER BY n DESC"
      codelake sql "SELECT run_id, recorded_at FROM runs" --json
      codelake sql --dialect spark "SELECT size(mro) FROM classes" --lineage
      codelake sql --since 1 "SELECT _change_type, count(*) AS n FROM cpg_nodes_changes GROUP BY _change_type"
      codelake sql - --csv < question.sql
    """
    from codelake.query.engine import Limits
    from codelake.query.sql import run as running

    _refuse_size(memory)
    asked = sys.stdin.read() if text == "-" else text
    engine = opened(at, Limits(rows=limit, seconds=seconds, memory=memory), since=since).engine
    if lineage:
        found = running.checked(engine, asked, dialect=dialect)
        output.document({"fingerprint": found.fingerprint, "sql": found.sql, **found.lineage()})
        return
    if explain:
        plans = running.explain(engine, asked, dialect=dialect).rows
        if given().json:
            output.document(plans)
            return
        for row in plans:
            click.echo(f"{click.style(row['plan_type'], bold=True)}\n{row['plan']}")
        return
    answer = running.run(engine, asked, dialect=dialect)
    rows = answer.rows
    if as_csv and not given().json:
        print_csv(rows)
    else:
        output.rows(rows, answer.columns)
    if answer.is_cut:
        output.message(f"only the first {limit:,} rows; see --limit")
    if not rows:
        click.get_current_context().exit(NotFound.exit_code)


def _refuse_size(memory: str) -> None:
    if not (memory[:-1].isdigit() and memory[-1:] in "KMG" and int(memory[:-1])):
        raise UsageError("--memory", expected="a number and K, M or G", found=memory)
