"""What of a table's past must stay: versions that published runs name or that runs not yet published have pinned,
feeds that somebody has yet to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from codelake.contracts.operations import MAINTENANCE, SNAPSHOTS
from codelake.delta.embedded import rows
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.properties import INTERVAL
from codelake.delta.run import Run
from codelake.delta.runs import PublishedRun, published_runs
from codelake.errors import UsageError

RETENTION = "delta.deletedFileRetentionDuration"
_DEFAULT = timedelta(days=7)


@dataclass(frozen=True)
class Needed:
    """`versions` with the run that names each; the feed is needed after `cursor`."""

    versions: Mapping[int, str]
    cursor: int | None


def needed(run: Run, name: str, since: datetime) -> Needed:
    """By every run that was the last published one at any time since then, by pins recorded since then of runs that
    are not published, by what the run itself has made and is yet to publish, and by whoever follows the table's
    feed."""
    lake, runs = run.lake, published_runs(run.lake)
    pinned = _pinned(lake, name, since, {one.run_id for one in runs})
    own = {row["version"]: run.run_id for row in run.rows.get(MAINTENANCE.name, ()) if row["table_name"] == name}
    return Needed(pinned | own | _published(runs, name, since), _least_cursor(lake, name))


def retention(lake: Lake, name: str) -> timedelta:
    """How long the table keeps files that no version needs any more: its own property, or Delta's default."""
    text = lake.log(name).properties.get(RETENTION)
    if text is None:
        return _DEFAULT
    match = INTERVAL.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"table {name}, property {RETENTION}", expected="such as `interval 30 days`", found=text)
    return timedelta(**{f"{match[2].lower()}s": int(match[1])})


def _published(runs: Sequence[PublishedRun], name: str, since: datetime) -> dict[int, str]:
    before = [run for run in runs if run.recorded_at < since]
    wanted = [*before[-1:], *runs[len(before) :]]
    return {run.versions[name]: run.run_id for run in wanted if name in run.versions}


def _pinned(lake: Lake, name: str, since: datetime, published: Set[str]) -> dict[int, str]:
    """A table that was made anew has other versions than those that were pinned."""
    if not lake.exists(SNAPSHOTS.name):
        return {}
    sql = (
        "SELECT DISTINCT run_id, table_name, version, table_uuid FROM snapshots "
        f"WHERE recorded_at >= TIMESTAMP '{since.isoformat()}'"
    )
    table = name, lake.log(name).table_uuid
    return {
        row["version"]: row["run_id"]
        for row in rows({"snapshots": lake.log(SNAPSHOTS.name).delta_table}, sql).to_pylist()
        if (row["table_name"], row["table_uuid"]) == table and row["run_id"] not in published
    }


def _least_cursor(lake: Lake, name: str) -> int | None:
    cursors = []
    for each in lake.table_names():
        newest = newest_own_commit(lake.log(each))
        for sources in newest.own["cursors"].values() if newest else ():
            if name in sources:
                cursors.append(int(sources[name]))
    return min(cursors, default=None)
