"""`codelake check` and `codelake table check`: is the lake what it should be?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.opening import lake_with_session, lake_without_session, require_table
from codelake.cli.options import given
from codelake.contracts import TABLES
from codelake.errors import Damaged, UsageError

if TYPE_CHECKING:
    from codelake.delta.checks import Finding
    from codelake.delta.lake import Lake

CONTRACTS = {table.name: table for table in TABLES}
_COLUMNS = ["level", "table", "fault", "place", "expected", "found", "do"]
_STYLES = {"level": {"fault": "red", "note": "yellow"}}

_OPTIONS = (
    click.option("--thorough", is_flag=True, help="read every row and byte; check keys and references"),
    click.option("--engines", is_flag=True, help="compare digests of what Spark and deltalake read"),
    click.option("--repair", is_flag=True, help="set aside files that the table does without"),
    click.option("--dry-run", is_flag=True, help="with --repair: only say which files"),
)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_with_options
def check(**options: Any) -> None:
    """Is every table of the lake what it should be?

    Reads logs, checkpoints, the footers of data files and deletion vectors, and compares the record of runs with the
    tables; starts no Spark unless asked for --engines or --repair. A fault is named with its place, what was
    expected and what was found, and the exit code is 5. A note hides no row.
    """
    click.get_current_context().exit(_check(None, **options))


@click.command("check")
@click.argument("name")
@_with_options
def table_check(name: str, **options: Any) -> None:
    """Is the table NAME what it should be? See `codelake check`."""
    click.get_current_context().exit(_check(name, **options))


def _check(name: str | None, *, thorough: bool, engines: bool, repair: bool, dry_run: bool) -> int:
    if dry_run and not repair:
        raise UsageError("--dry-run", expected="--repair beside it")
    needs_session = engines or (repair and not dry_run)
    with lake_with_session() if needs_session else nullcontext(lake_without_session()) as lake:
        if name is not None:
            require_table(lake, name)
        found = _found(lake, name, thorough, engines)
        if repair:
            _repair(lake, found, dry_run)
            if not dry_run:
                found = _found(lake, name, thorough, engines)
    _show(found)
    return Damaged.exit_code if any(one.level == "fault" for one in found) else 0


def _found(lake: Lake, name: str | None, thorough: bool, engines: bool) -> Sequence[Finding]:
    from codelake.delta.checks import check_lake, check_table

    if name is None:
        return check_lake(lake, CONTRACTS, thorough=thorough, engines=engines)
    return check_table(lake, name, CONTRACTS.get(name), thorough=thorough, engines=engines)


def _repair(lake: Lake, found: Sequence[Finding], dry_run: bool) -> None:
    from codelake.delta.maintenance.repair import repair
    from codelake.delta.record import record
    from codelake.delta.run import Run, new_run_id

    run = Run(lake, new_run_id(), stage="repair", pipeline="repair")
    for name in sorted({one.table for one in found}):
        for path in repair(run, name, found, dry_run=dry_run):
            output.message(f"{name}: {'would set' if dry_run else 'set'} aside {path}")
    if not dry_run:
        record(run, repeatable=False)


def _show(found: Sequence[Finding]) -> None:
    if not found and not given().json:
        click.echo("No fault was found.")
        return
    output.rows([asdict(one) for one in found], _COLUMNS, styles=_STYLES)
