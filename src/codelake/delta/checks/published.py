"""The record of runs against the tables: what was published can be read, and the logs are those it was made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codelake.contracts.operations import COMMITS, RUNS, SNAPSHOTS
from codelake.delta.checks.finding import Finding
from codelake.delta.embedded import rows
from codelake.delta.lake import Lake
from codelake.delta.runs import PublishedRun, published_runs
from codelake.errors import CodelakeError

_REBUILD = "Restore the table from a copy, or build again: `codelake build`."


def published(lake: Lake) -> Iterator[Finding]:
    """Only for a lake whose tables of operations were found whole."""
    runs = published_runs(lake)
    newest = _newest_versions(lake)
    for run in runs:
        yield from _contradictions(run)
        for table, version in run.versions.items():
            if table not in newest:
                yield _lost(run, table, f"version {version}", "no such table")
            elif (there := newest[table]) is not None and version > there:
                yield _lost(run, table, f"version {version}", f"versions up to {there}")
    if runs:
        yield from _last(lake, runs[-1], newest)
    yield from _same_history(lake, newest)


def _contradictions(run: PublishedRun) -> Iterator[Finding]:
    try:
        said = json.loads(run.manifest).get("versions", {})
    except (ValueError, AttributeError) as error:
        yield Finding(RUNS.name, "corrupt manifest", run.run_id, "a manifest as JSON", str(error))
        return
    for table, version in run.versions.items():
        if table in said and said[table] != version:
            yield Finding(
                RUNS.name, "manifest contradicts", run.run_id, f"{table} at {version}", f"{table} at {said[table]}"
            )


def _last(lake: Lake, run: PublishedRun, newest: dict[str, int | None]) -> Iterator[Finding]:
    """What readers open now is all there."""
    for table, version in run.versions.items():
        there = newest.get(table)
        if there is None or version > there:
            continue  # said already, by this check or that of the table
        try:
            lake.log(table, version=version).require_files()
        except CodelakeError as error:
            yield _lost(run, table, f"version {version}, which readers open", str(error))


def _lost(run: PublishedRun, table: str, expected: str, found: str) -> Finding:
    return Finding(table, "published version lost", f"run {run.run_id}", expected, found, do=_REBUILD)


def _same_history(lake: Lake, newest: dict[str, int | None]) -> Iterator[Finding]:
    """An entry that is not the one which a run made: the log was put back or written over."""
    for row in _rows(lake, SNAPSHOTS.name, "SELECT DISTINCT table_name, table_uuid FROM t"):
        if newest.get(row["table_name"]) is None:
            continue
        now = lake.log(row["table_name"]).table_uuid
        if now != row["table_uuid"]:
            yield Finding(
                row["table_name"], "table made anew", "snapshots", f"table id {row['table_uuid']}", now, do=_REBUILD
            )
    commits = _rows(lake, COMMITS.name, "SELECT table_name, version, commit_id FROM t WHERE NOT is_repeat")
    for name in sorted({row["table_name"] for row in commits} & {n for n, v in newest.items() if v is not None}):
        log = lake.log(name)
        for row in commits:
            if row["table_name"] != name or row["version"] not in log.versions:
                continue
            entry = log.commit(row["version"])
            own = entry.own.get("commit_id") if entry else None
            if own != row["commit_id"]:
                yield Finding(
                    name,
                    "history differs",
                    f"version {row['version']}",
                    f"commit {row['commit_id']}",
                    str(own),
                    do=_REBUILD,
                )


def _newest_versions(lake: Lake) -> dict[str, int | None]:
    """None for a table that cannot be opened: its own check says why."""
    found: dict[str, int | None] = {}
    for name in lake.table_names():
        try:
            found[name] = lake.log(name).version
        except CodelakeError:
            found[name] = None
    return found


def _rows(lake: Lake, name: str, sql: str) -> list[dict[str, Any]]:
    if not lake.exists(name):
        return []
    return list(rows({"t": lake.log(name).delta_table}, sql).to_pylist())
