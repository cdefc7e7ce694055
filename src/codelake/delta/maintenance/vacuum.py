"""Files that no version needs any more are deleted, once they are older than the table's retention.

Delta's own VACUUM knows nothing of published runs: a table that was committed to and not published for longer than
the retention would lose what readers open. So the files are chosen here, from the log. What is kept: every file of
the newest version, of each version that a run published within the retention, of the last published run however old
it is, of feeds that a cursor has not passed, and whatever was removed or written within the retention.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from codelake.delta.checks.state import Action
from codelake.delta.checks.stored import Stored, below
from codelake.delta.maintenance.needed import Needed, needed, retention
from codelake.delta.maintenance.operation import ASKED, Maintained, maintained
from codelake.delta.run import Run
from codelake.delta.vectors import vector_path
from codelake.errors import Damaged, Refused

_FEED = "_change_data/"


def vacuum(
    run: Run,
    name: str,
    *,
    retain: timedelta | None = None,
    force: bool = False,
    reason: str = ASKED,
    dry_run: bool = False,
) -> Maintained:
    """`retain` less than the table's retention is refused unless `force` says it again."""
    guard = retention(run.lake, name)
    if retain is not None and retain < guard and not force:
        raise Refused(
            f"table {name}: vacuum",
            expected=f"files to be kept for at least {_hours(guard)} hours, the table's retention",
            found=f"{_hours(retain)} hours",
            do="Nothing was deleted. Say it twice, with --force, if older versions may be lost.",
        )
    kept = guard if retain is None else retain
    options = {"retained_hours": str(_hours(kept))}
    with maintained(run, name, "vacuum", reason=reason, dry_run=dry_run, options=options) as done:
        table = Stored(run.lake.store, name)
        since = datetime.now(UTC) - kept
        gone = expired_files(table, needed(run.lake, name, since), since)
        done.touched = gone
        done.metrics.update(n_files=len(gone), n_bytes=sum(table.data_files[path].size for path in gone))
        if not dry_run:
            for path in gone:
                table.delete(path)
    return done


def expired_files(table: Stored, wanted: Needed, since: datetime) -> list[str]:
    """Paths below the table, sorted."""
    keep = _needed_paths(table, wanted, since)
    return sorted(
        path for path, file in table.data_files.items() if path not in keep and _is_ours(path) and file.mtime < since
    )


def _needed_paths(table: Stored, wanted: Needed, since: datetime) -> set[str]:
    keep: set[str] = set()
    newest = None
    for version, state in table.states():
        newest = version
        if version in wanted.versions or version == table.newest:
            keep |= _paths(state.files.values())
            last = state
    if newest is None or newest != table.newest:
        raise Damaged(
            f"table {table.name}: vacuum",
            expected="a log that tells what every version needs",
            found=f"nothing beyond version {newest}",
            do=f"Nothing was deleted. See `codelake table check {table.name}`.",
        )
    moment = since.timestamp() * 1000
    keep |= _paths(one for one in last.removed.values() if (one.get("deletionTimestamp") or 0) >= moment)
    for version, entry in table.entries.items():
        if wanted.cursor is not None and version > wanted.cursor:
            keep |= _paths(a[kind] for a in entry.actions for kind in ("add", "remove", "cdc") if a.get(kind))
    return keep


def _paths(actions: Iterable[Action]) -> set[str]:
    found: set[str] = set()
    for one in actions:
        found.add(below(one["path"]))
        if vector := one.get("deletionVector"):
            found.add(vector_path(vector) or "")
    return found


def _is_ours(path: str) -> bool:
    """Names that begin with an underscore or a dot belong to others, but for the change feed and for partitions."""
    if path.startswith(_FEED):
        return True
    return not any(part.startswith(("_", ".")) and "=" not in part for part in path.split("/"))


def _hours(span: timedelta) -> float:
    return round(span.total_seconds() / 3600, 2)
