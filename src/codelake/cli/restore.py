"""`codelake restore`, `codelake table restore | export | verify`: back to an earlier state, and copies of one."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codelake.cli import output
from codelake.cli.maintain import CONTRACTS, contract, show
from codelake.cli.opening import lake_with_session, lake_without_session, require_table
from codelake.cli.options import given
from codelake.errors import NotFound

# deltalake takes longer to import than the rest of a command to start: only who opens a table loads it.
if TYPE_CHECKING:
    from codelake.delta.log import Log

_OF_ONE = "a version of NAME, a run, its number from the end (-1: the last), a git revision that was built, or a time"
_VERSION = re.compile(r"\d{1,6}")
"""More digits are the beginning of a revision."""
_DRY_RUN = click.option("--dry-run", is_flag=True, help="say which rows and files would change; change nothing")


@click.command()
@click.option(
    "--to",
    required=True,
    metavar="WHEN",
    help="a run, its number from the end (-1: the last), a git revision that was built, or a time",
)
@_DRY_RUN
def restore(to: str, dry_run: bool) -> None:
    """Bring the whole lake back to a published run.

    That is a new run: readers see all of it at once, when it is published. Nothing of the history is lost: the runs
    that came after can be restored in the same way, as long as the tables' retention keeps them.
    """
    from codelake.delta.reading import Reader
    from codelake.pipeline.restoring import restore_lake
    from codelake.query.published import published

    run = published(Reader(lake_without_session().store), to)
    with nullcontext(lake_without_session()) if dry_run else lake_with_session() as lake:
        show(restore_lake(lake, list(CONTRACTS.values()), run.run_id, dry_run=dry_run))


@click.command("restore")
@click.argument("name")
@click.option("--to", required=True, metavar="WHEN", help=_OF_ONE)
@_DRY_RUN
def table_restore(name: str, to: str, dry_run: bool) -> None:
    """Bring the table NAME back to an earlier version.

    That is a new version of it, and a new published run.
    """
    from codelake.pipeline.restoring import restore_one

    version = _log_at(name, to).version
    with nullcontext(lake_without_session()) if dry_run else lake_with_session() as lake:
        show([restore_one(lake, contract(name), version, dry_run=dry_run)])


@click.command("export")
@click.argument("name")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--at", metavar="WHEN", help=f"{_OF_ONE}; the newest version if not given")
@click.option("--format", type=click.Choice(["parquet", "delta"]), default="parquet", show_default=True)
def table_export(name: str, target: Path, at: str | None, format: str) -> None:
    """Copy the rows of the table NAME to the folder TARGET. A manifest lets `codelake table verify` check the copy."""
    from codelake.delta.export import export_table

    done = export_table(_log_at(name, at), target, format=format)  # type: ignore[arg-type]
    if given().json:
        output.document(asdict(done))
    else:
        click.echo(f"{done.table}, version {done.version}: {done.n_rows:,} rows in {len(done.files)} files at {target}")


def _log_at(name: str, at: str | None) -> Log:
    """A number or a time is the table's own; anything else names a run, and means what that has published."""
    from codelake.delta.moments import moment
    from codelake.delta.reading import Reader
    from codelake.delta.run import resolved
    from codelake.query.published import published

    lake = lake_without_session()
    require_table(lake, name)
    if at is None or moment(at) is not None:
        return resolved(lake, name, at)
    if _VERSION.fullmatch(at):
        return resolved(lake, name, int(at))
    run = published(Reader(lake.store), at)
    if name not in run.versions:
        there = ", ".join(sorted(run.versions))
        raise NotFound(f"table {name} in run {run.run_id}", expected=f"one that it published: {there}", found="none")
    return resolved(lake, name, run.versions[name])


@click.command("verify")
@click.argument("target", type=click.Path(path_type=Path))
def table_verify(target: Path) -> None:
    """Is the export at TARGET what was exported?

    Every file is compared, and the digest of all rows.
    """
    from codelake.delta.export import verify_export

    said = verify_export(target)
    if given().json:
        output.document(asdict(said))
    else:
        click.echo(f"{said.table}, version {said.version}: {said.n_rows:,} rows, as exported")
