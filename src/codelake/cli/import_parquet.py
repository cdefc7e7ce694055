"""`codelake import-parquet`: Parquet datasets into Delta tables of the lake, verified."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from codelake.cli import output
from codelake.cli.opening import lake_with_session, lake_without_session
from codelake.cli.options import given
from codelake.contracts import TABLES
from codelake.errors import Damaged, UsageError


@click.command("import-parquet")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("name")
@click.option("--partition-by", metavar="COLUMN", multiple=True, help="partition the table; may be given several times")
@click.option("--skip-corrupt", is_flag=True, help="load the other files when some cannot be read")
@click.option("--dry-run", is_flag=True, help="read every footer; say what would be loaded, in which columns")
@click.pass_context
def import_parquet(
    context: click.Context, source: Path, name: str, partition_by: tuple[str, ...], skip_corrupt: bool, dry_run: bool
) -> None:
    """Load Parquet into the table NAME.

    SOURCE is a dataset: a folder, or a file. Files may differ in columns, and in types where nothing is lost; folders
    such as `year=2026` are columns. Rows are counted and digested before and after. Killed, it goes on where it was;
    called again, it loads what is new. A file that cannot be read is named.
    """
    from codelake.delta.migration.columns import contract_of
    from codelake.delta.migration.load import load, to_do
    from codelake.delta.migration.source import open_source
    from codelake.delta.run import Run, new_run_id

    if name in {table.name for table in TABLES}:
        raise UsageError("name of the table", expected="a name that no contract of codelake has", found=name)
    if not name.isidentifier() or name.startswith("_"):
        raise UsageError("name of the table", expected="a letter, then letters, digits and underscores", found=name)
    found = open_source(source)
    table = contract_of(found, name, partition_by=partition_by)
    if dry_run:
        coming = to_do(lake_without_session(), found, table)
        _show_plan(
            {
                "table": name,
                "source": str(source),
                "n_files": len(coming.files),
                "n_known": coming.n_known,
                "n_rows": sum(file.n_rows for file in coming.files),
                "n_bytes": sum(file.n_bytes for file in coming.files),
                "columns": {column.name: column.type for column in table.columns},
                "corrupt": [{"path": file.path, "problem": file.problem} for file in found.unreadable],
                "changed": coming.changed,
            }
        )
        context.exit(Damaged.exit_code if found.unreadable else 0)
    with lake_with_session() as lake:
        done = load(Run(lake, new_run_id(), stage="import", pipeline="import"), found, table, skip_corrupt=skip_corrupt)
    if given().json:
        output.document(asdict(done))
        return
    click.echo(f"{name}: {done.n_rows:,} rows of {done.n_files:,} files loaded, {done.n_known:,} known before")
    if not done.is_verified:
        output.message("not compared with the table: others have written to it, or its log was cleaned up")
    _show_left_out(done.corrupt, done.changed)


def _show_plan(plan: dict[str, Any]) -> None:
    if given().json:
        output.document(plan)
        return
    click.echo(
        f"{plan['table']}: {plan['n_rows']:,} rows of {plan['n_files']:,} files to load, "
        f"{plan['n_known']:,} known before"
    )
    output.rows([{"column": n, "type": t} for n, t in plan["columns"].items()], ["column", "type"])
    _show_left_out(plan["corrupt"], plan["changed"])


def _show_left_out(corrupt: list[dict[str, str]], changed: list[str]) -> None:
    for one in corrupt:
        output.message(f"cannot be read: {one['path']}: {one['problem']}")
    for path in changed:
        output.message(f"written anew since it was loaded, and not loaded again: {path}")
