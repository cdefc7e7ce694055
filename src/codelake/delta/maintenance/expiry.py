"""What vacuum and log cleanup share: files that nothing needs are deleted, once they are older than the table's
retention. Less than that is refused unless it is said twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack

from codelake.delta.checks.stored import Stored
from codelake.delta.lake import PINS, Lake
from codelake.delta.maintenance.needed import Needed, needed, retention
from codelake.delta.maintenance.operation import ASKED, Maintained, maintained
from codelake.delta.publish import PUBLICATION
from codelake.delta.run import Run
from codelake.errors import Refused

Expired = Callable[[Stored, Needed, datetime], Mapping[str, int]]
"""Paths below the table with their sizes, in the order in which they may go."""


class Expiry(TypedDict, total=False):
    retain: timedelta | None
    """How long files are kept that nothing needs; the table's own retention if not given."""
    force: bool
    """Even if that is less than the table's retention."""
    reason: str
    dry_run: bool


def delete_expired(run: Run, name: str, operation: str, expired: Expired, **how: Unpack[Expiry]) -> Maintained:
    guard, dry_run = retention(run.lake, name), how.get("dry_run", False)
    asked = how.get("retain")
    kept = guard if asked is None else asked
    if kept < guard and not how.get("force"):
        raise Refused(
            f"table {name}: {operation}",
            expected=f"files to be kept for at least {_hours(guard)} hours, the table's retention",
            found=f"{_hours(kept)} hours",
            do="Nothing was deleted. Say it twice, with --force, if older versions may be lost.",
        )
    options = {"retained_hours": str(_hours(kept))}
    reason = how.get("reason", ASKED)
    # What a running build has pinned is kept by nothing but the retention: with less, the build is waited for.
    alone = nullcontext() if dry_run or kept >= guard else _alone(run.lake)
    with alone, maintained(run, name, operation, reason=reason, dry_run=dry_run, options=options) as done:
        table, since = Stored(run.lake.store, name), datetime.now(UTC) - kept
        gone = expired(table, needed(run, name, since), since)
        done.touched = list(gone)
        done.metrics.update(n_files=len(gone), n_bytes=sum(gone.values()))
        if not dry_run:
            for path in gone:
                table.delete(path)
    return done


@contextmanager
def _alone(lake: Lake) -> Iterator[None]:
    """Nobody reads by pins that are not written down, builds, or restores. In the order in which builds take them."""
    with lake.writing(PINS), lake.writing(PUBLICATION):
        yield


def _hours(span: timedelta) -> float:
    return round(span.total_seconds() / 3600, 2)
