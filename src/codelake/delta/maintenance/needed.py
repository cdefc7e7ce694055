"""What of a table's past must stay: versions that published runs name, feeds that somebody has yet to read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.runs import published_runs
from codelake.errors import UsageError

RETENTION = "delta.deletedFileRetentionDuration"
_DEFAULT = timedelta(days=7)
_INTERVAL = re.compile(r"(?:interval\s+)?(\d+)\s+(second|minute|hour|day|week)s?", re.IGNORECASE)


@dataclass(frozen=True)
class Needed:
    """`versions` with the run that names each; the feed is needed after `cursor`."""

    versions: Mapping[int, str]
    cursor: int | None


def needed(lake: Lake, name: str, since: datetime) -> Needed:
    """By the runs published since then, by the last one whenever it was, and by whoever follows the table's feed."""
    return Needed(_published(lake, name, since), _least_cursor(lake, name))


def retention(lake: Lake, name: str) -> timedelta:
    """How long the table keeps files that no version needs any more: its own property, or Delta's default."""
    text = lake.log(name).properties.get(RETENTION)
    if text is None:
        return _DEFAULT
    match = _INTERVAL.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"table {name}, property {RETENTION}", expected="such as `interval 30 days`", found=text)
    return timedelta(**{f"{match[2].lower()}s": int(match[1])})


def _published(lake: Lake, name: str, since: datetime) -> dict[int, str]:
    runs = published_runs(lake)
    wanted = [run for run in runs if run.recorded_at >= since] or runs[-1:]
    return {run.versions[name]: run.run_id for run in wanted if name in run.versions}


def _least_cursor(lake: Lake, name: str) -> int | None:
    cursors = []
    for each in lake.table_names():
        newest = newest_own_commit(lake.log(each))
        for sources in newest.own["cursors"].values() if newest else ():
            if name in sources:
                cursors.append(int(sources[name]))
    return min(cursors, default=None)
