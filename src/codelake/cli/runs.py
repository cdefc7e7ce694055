"""`codelake runs`: what was run, from which versions to which."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from codelake.cli import output
from codelake.cli.asking import When, opened
from codelake.cli.options import given, settings
from codelake.errors import UsageError

RUNS = "runs"
_LISTED = """SELECT run_id, recorded_at, pipeline, started_at, repositories, versions, pins, manifest FROM runs
    ORDER BY recorded_at DESC, run_id DESC"""
_SHOWN = ["run", "published (UTC)", "pipeline", "repositories", "commits", "seconds"]


@click.command(context_settings=When.allowed)
@click.argument("run", type=When(), required=False)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="runs that are listed")
@click.option(
    "--replay", "into", metavar="LAKE", help="do RUN again, from what the lake has kept, into a new lake; compare"
)
@click.pass_context
def runs(context: click.Context, run: str | None, limit: int, into: str | None) -> None:
    """The published runs, or all there is to know of one.

    Without RUN they are listed, the newest first. RUN is the id of a run, its number (1 is the first, -1 the last), a
    git revision that was built, or a time.

    With --replay, the files and contents of the run are built again into LAKE, which must not be there yet, and each
    table is compared with what the run left. The exit code is 1 where one differs.

    \b
    Examples:
      codelake runs
      codelake runs -1 --json
      codelake runs 3 --replay again
    """
    if run is None and into is not None:
        raise UsageError("--replay", expected="a run to do again", found="none", do="See `codelake runs`.")
    if run is None:
        found = opened(None).engine.ask(f"{_LISTED} LIMIT {limit}", RUNS)
        output.rows([_listed(row) for row in found], _SHOWN)
        return
    asked = opened(run)
    if into is not None:
        found = _replayed(asked.run.run_id, into)
        output.rows(found, ["table", "then", "now", "is_same"])
        context.exit(0 if all(row["is_same"] for row in found) else 1)
    [row] = asked.engine.ask(f"SELECT manifest FROM runs WHERE run_id = '{asked.run.run_id}'", RUNS)
    manifest = json.loads(row["manifest"])
    if given().json:
        output.document(manifest)
        return
    _show(manifest)


def _replayed(run_id: str, into: str) -> list[dict[str, Any]]:
    from codelake.cli.drawing import drawn
    from codelake.cli.sources import store_of
    from codelake.delta.lake import create_lake, open_lake
    from codelake.delta.runs import run_named
    from codelake.delta.store import Store
    from codelake.extract.guard import Limits
    from codelake.pipeline.replay import replay
    from codelake.session import opened as session
    from codelake.settings import n_bytes

    current = settings()
    new = create_lake(Store(into, options=current.store, log_options=current.log_store, local_only=current.local_only))
    if new.table_names():
        raise UsageError(f"--replay {into}", expected="a place without a lake", found="a lake with tables")
    limits = Limits(seconds=current.file_seconds, memory=n_bytes(current.file_memory))
    store = store_of(current)
    with drawn(quiet=given().quiet) as progress, session(current, store.hadoop_conf()) as spark:
        lake = open_lake(store, spark)
        compared = replay(lake, run_named(lake, run_id), open_lake(new.store, spark), limits=limits, progress=progress)
    return [
        {"table": one.table, "then": str(one.then), "now": str(one.now), "is_same": one.is_same} for one in compared
    ]


def _listed(row: Mapping[str, Any]) -> dict[str, Any]:
    manifest = json.loads(row["manifest"])
    repositories = [f"{one['repo']} {(one['revision'] or '')[:12]}".strip() for one in row["repositories"]]
    return {
        "run": row["run_id"],
        "published (UTC)": f"{row['recorded_at']:%Y-%m-%d %H:%M:%S}",
        "recorded_at": row["recorded_at"].isoformat(),
        "pipeline": row["pipeline"],
        "repositories": ", ".join(repositories),
        "commits": len(manifest["commits"]),
        "seconds": manifest["seconds"],
        "versions": dict(row["versions"]),
        "pins": dict(row["pins"]),
    }


def _show(manifest: dict[str, Any]) -> None:
    click.echo(
        f"{click.style(manifest['run_id'], bold=True)} ({manifest['pipeline']}, codelake {manifest['code_version']})"
    )
    click.echo(f"started {manifest['started_at']}, {manifest['seconds']} s")
    for one in manifest["repositories"]:
        click.echo(
            f"  {one['repo']} ({one['source']}) {one['revision'] or ''}{', with changes' if one['is_dirty'] else ''}"
        )
    if totals := manifest.get("totals"):
        click.echo(f"graph: {output.in_words(totals, {})}")
    for stage in manifest["stages"]:
        why = "; ".join(stage["why"]) or "nothing to do"
        click.echo(f"stage {stage['name']} {stage['fingerprint']}: {why} ({stage['seconds']:.1f} s)")
    for one in manifest["commits"]:
        before = manifest["pins"].get(one["table"])
        came = f"from version {before} to {one['version']}" if before is not None else f"version {one['version']}"
        click.echo(f"commit {one['table']} {came}: {one['mode']} by {one['stage']} ({one['duration_ms']:,} ms)")
