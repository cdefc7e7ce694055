"""`codelake runs`: what was run, from which versions to which."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from codelake.cli import output
from codelake.cli.asking import opened
from codelake.cli.options import given

RUNS = "runs"
_LISTED = """SELECT run_id, recorded_at, pipeline, started_at, repositories, versions, pins, manifest FROM runs
    ORDER BY recorded_at DESC, run_id DESC"""
_SHOWN = ["run", "published at", "pipeline", "repositories", "commits", "seconds"]


@click.command()
@click.argument("run", required=False)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="runs that are listed")
def runs(run: str | None, limit: int) -> None:
    """The published runs, the newest first; with RUN all there is to know of one.

    RUN is the id of a run, its number (1 is the first, -1 the last), a git revision that was built, or a time.

    \b
    Examples:
      codelake runs
      codelake runs -1 --json
    """
    if run is None:
        found = opened(None).engine.ask(f"{_LISTED} LIMIT {limit}", RUNS)
        output.rows([_listed(row) for row in found], _SHOWN)
        return
    asked = opened(run)
    [row] = asked.engine.ask(f"SELECT manifest FROM runs WHERE run_id = '{asked.run.run_id}'", RUNS)
    manifest = json.loads(row["manifest"])
    if given().json:
        output.document(manifest)
        return
    _show(manifest)


def _listed(row: Mapping[str, Any]) -> dict[str, Any]:
    manifest = json.loads(row["manifest"])
    repositories = [f"{one['repo']} {(one['revision'] or '')[:12]}".strip() for one in row["repositories"]]
    return {
        "run": row["run_id"],
        "published at": row["recorded_at"].isoformat(timespec="seconds"),
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
    for stage in manifest["stages"]:
        why = "; ".join(stage["why"]) or "nothing to do"
        click.echo(f"stage {stage['name']} {stage['fingerprint']}: {why} ({stage['seconds']:.1f} s)")
    for one in manifest["commits"]:
        before = manifest["pins"].get(one["table"])
        came = f"from version {before} to {one['version']}" if before is not None else f"version {one['version']}"
        click.echo(f"commit {one['table']} {came}: {one['mode']} by {one['stage']} ({one['duration_ms']:,} ms)")
