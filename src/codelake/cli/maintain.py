"""`codelake maintain`, and what it does, one operation at a time: `codelake table optimize | vacuum | ...`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from codelake.cli import output
from codelake.cli.opening import lake_with_session, lake_without_session, require_table
from codelake.cli.options import given
from codelake.contracts import TABLES, Table
from codelake.errors import UsageError

if TYPE_CHECKING:
    from codelake.delta.maintenance.operation import Maintained
    from codelake.delta.run import Run

CONTRACTS = {table.name: table for table in TABLES}
_COLUMNS = ["table", "operation", "why", "from", "to", "what"]
_MOST_HOURS = 876_000
"""A hundred years."""

_NAME = click.argument("name", required=False)
_ALL = click.option("--all", "every", is_flag=True, help="every table of the lake")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="say what would be done; change nothing")
_RETAIN = click.option(
    "--retain-hours", type=float, metavar="HOURS", help="keep less or more than the table's retention"
)
_FORCE = click.option("--force", is_flag=True, help="with --retain-hours: less than the table's retention, too")


@click.command()
@_DRY_RUN
def maintain(dry_run: bool) -> None:
    """Do what the tables are due for, and say why.

    Each contract says from when on: many small files or deletion vectors (optimize), many entries since the last
    checkpoint (checkpoint), many files or log entries that nothing needs any more (vacuum, cleanup-log). What
    published runs and pins within the retention, the last published run, or the reader of a change feed needs is
    never deleted. Builds and readers may go on meanwhile.
    """
    from codelake.pipeline.upkeep import maintain as run_maintain

    if dry_run:
        show(run_maintain(lake_without_session(), list(CONTRACTS.values()), dry_run=True))
        return
    if not run_maintain(lake_without_session(), list(CONTRACTS.values()), dry_run=True):
        show([])  # nothing is due: no session is started
        return
    with lake_with_session() as lake:
        show(run_maintain(lake, list(CONTRACTS.values())))


@click.command("optimize")
@_NAME
@_ALL
@click.option("--full", is_flag=True, help="also what is clustered already")
@_DRY_RUN
def table_optimize(name: str | None, every: bool, full: bool, dry_run: bool) -> None:
    """Make few files of many. Rows that deletion vectors delete are left out; no row changes."""
    from codelake.delta.maintenance.optimize import optimize

    _each(_names(name, every), dry_run, lambda run, table: optimize(run, table, full=full, dry_run=dry_run))


@click.command("vacuum")
@_NAME
@_ALL
@_RETAIN
@_FORCE
@_DRY_RUN
def table_vacuum(name: str | None, every: bool, retain_hours: float | None, force: bool, dry_run: bool) -> None:
    """Delete files that no kept version needs.

    Kept are the newest version, those of runs published within the table's retention, those pinned within it by
    runs that are not published, that of the last published run, and what the reader of a change feed has not read
    yet.
    """
    from codelake.delta.maintenance.vacuum import vacuum

    retain = _span(retain_hours, force)
    _each(_names(name, every), dry_run, lambda run, t: vacuum(run, t.name, retain=retain, force=force, dry_run=dry_run))


@click.command("checkpoint")
@_NAME
@_ALL
@_DRY_RUN
def table_checkpoint(name: str | None, every: bool, dry_run: bool) -> None:
    """Write a checkpoint. Readers then need no entry of the log before it."""
    from codelake.delta.maintenance.checkpoint import checkpoint

    _each(_names(name, every), dry_run, lambda run, table: checkpoint(run, table.name, dry_run=dry_run))


@click.command("cleanup-log")
@_NAME
@_ALL
@_RETAIN
@_FORCE
@_DRY_RUN
def table_cleanup_log(name: str | None, every: bool, retain_hours: float | None, force: bool, dry_run: bool) -> None:
    """Delete log entries that no kept version needs."""
    from codelake.delta.maintenance.log_cleanup import cleanup_log

    retain = _span(retain_hours, force)
    _each(
        _names(name, every),
        dry_run,
        lambda run, t: cleanup_log(run, t.name, retain=retain, force=force, dry_run=dry_run),
    )


@click.command("set")
@click.argument("words", nargs=-1, required=True, metavar="[NAME] KEY=VALUE...")
@_ALL
@_DRY_RUN
def table_set(words: tuple[str, ...], every: bool, dry_run: bool) -> None:
    """Set properties of the table NAME, or of all. Those that a contract sets cannot be set otherwise."""
    from codelake.delta.maintenance.properties import change_properties

    name, properties = _name_and_rest(words, every)
    pairs = dict(text.partition("=")[::2] for text in properties)
    if not pairs or "" in pairs.values():
        raise UsageError("properties", expected="KEY=VALUE", found=" ".join(properties) or "none")
    _change(_names(name, every), dry_run, partial(change_properties, properties=pairs))


@click.command("enable")
@click.argument("words", nargs=-1, required=True, metavar="[NAME] FEATURE")
@_ALL
@click.option("--allow", is_flag=True, help="even if a promised reader cannot read the table then")
@_DRY_RUN
def table_enable(words: tuple[str, ...], every: bool, allow: bool, dry_run: bool) -> None:
    """Enable a Delta feature on the table NAME, or on all. One is, for example, deletionVectors."""
    from codelake.delta.maintenance.properties import enable

    name, feature = _name_and_feature(words, every)
    allowed = (feature,) if allow else ()
    _change(_names(name, every), dry_run, partial(enable, feature=feature, allow=allowed))


@click.command("drop-feature")
@click.argument("words", nargs=-1, required=True, metavar="[NAME] FEATURE")
@_ALL
@click.option("--truncate-history", is_flag=True, help="as Delta asks for after its waiting time")
@_DRY_RUN
def table_drop_feature(words: tuple[str, ...], every: bool, truncate_history: bool, dry_run: bool) -> None:
    """Drop a Delta feature from the table NAME, or from all.

    Readers without the feature can read them then. Nothing is dropped if the contract of one of them names the feature.
    """
    from codelake.delta.maintenance.properties import drop, with_feature

    name, feature = _name_and_feature(words, every)
    names = _names(name, every)
    if every:
        names = with_feature(lake_without_session(), names, feature)
    _change(names, dry_run, partial(drop, feature=feature, truncate_history=truncate_history))


def _name_and_rest(words: tuple[str, ...], every: bool) -> tuple[str | None, tuple[str, ...]]:
    return (None, words) if every else (words[0], words[1:])


def _name_and_feature(words: tuple[str, ...], every: bool) -> tuple[str | None, str]:
    name, rest = _name_and_rest(words, every)
    if len(rest) != 1:
        raise UsageError("tables", expected="the NAME of one, or --all, and a FEATURE", found=" ".join(words))
    return name, rest[0]


def _span(hours: float | None, force: bool) -> timedelta | None:
    if force and hours is None:
        raise UsageError("--force", expected="--retain-hours beside it")
    if hours is None:
        return None
    if not 0 <= hours <= _MOST_HOURS:  # nor NaN
        raise UsageError("--retain-hours", expected=f"a number from 0 to {_MOST_HOURS:,}", found=hours)
    return timedelta(hours=hours)


def _change(names: Sequence[str], dry_run: bool, change: Callable[..., Maintained]) -> None:
    """What is refused for one table is refused before any is changed."""
    from codelake.pipeline.upkeep import new_upkeep

    for each in names:
        change(new_upkeep(lake_without_session()), contract(each), dry_run=True)
    _each(names, dry_run, partial(change, dry_run=dry_run))


def _each(names: Sequence[str], dry_run: bool, operation: Callable[[Run, Table], Maintained]) -> None:
    """The operation on each table that was named; one session, one run, one record."""
    from codelake.pipeline.upkeep import finish, new_upkeep

    if dry_run:
        run = new_upkeep(lake_without_session())
        show([operation(run, contract(each)) for each in names])
        return
    with lake_with_session() as lake:
        run = new_upkeep(lake)
        done: list[Maintained] = []
        try:
            for each in names:
                done.append(operation(run, contract(each)))
        finally:
            finish(run, done)
    show(done)


def _names(name: str | None, every: bool) -> list[str]:
    lake = lake_without_session()
    if (name is None) is not every:
        raise UsageError("tables", expected="the NAME of one, or --all")
    if name is None:
        return lake.table_names()
    require_table(lake, name)
    return [name]


def contract(name: str) -> Table:
    """Its own; a table that none declares is looked after as Delta's defaults have it."""
    return CONTRACTS.get(name) or Table(name, "A table without a contract.", ())


def show(done: Sequence[Maintained]) -> None:
    if given().json:
        output.document([asdict(one) for one in done])
        return
    if not done:
        click.echo("Nothing is due.")
        return
    output.rows([_drawn(one) for one in done], _COLUMNS)


def _drawn(one: Maintained) -> dict[str, Any]:
    what = ", ".join(f"{name.removeprefix('n_').replace('_', ' ')} {n}" for name, n in one.metrics.items())
    return {
        "table": one.table,
        "operation": f"{one.operation} (dry run)" if one.is_dry_run else one.operation,
        "why": one.reason,
        "from": one.from_version,
        "to": one.version,
        "what": what,
    }
