"""Files that no version needs any more are deleted, once they are older than the table's retention.

Delta's own VACUUM knows nothing of published runs: a table that was committed to and not published for longer than
the retention would lose what readers open. So the files are chosen here, from the log. What is kept: every file of
the newest version, of each version that a run published within the retention or pinned then without being published
yet, of the last published run however old it is, of feeds that a cursor has not passed, and whatever was removed or
written within the retention.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Unpack

from codelake.delta.checks.state import Action
from codelake.delta.checks.stored import Stored, below
from codelake.delta.maintenance.expiry import Expiry, delete_expired
from codelake.delta.maintenance.needed import Needed
from codelake.delta.maintenance.operation import Maintained
from codelake.delta.run import Run
from codelake.delta.vectors import vector_path
from codelake.errors import Damaged

_FEED = "_change_data/"


def vacuum(run: Run, name: str, **how: Unpack[Expiry]) -> Maintained:
    return delete_expired(run, name, "vacuum", expired_files, **how)


def expired_files(table: Stored, wanted: Needed, since: datetime) -> dict[str, int]:
    """Paths below the table with their sizes, sorted."""
    keep = _needed_paths(table, wanted, since)
    return {
        path: file.size
        for path, file in sorted(table.data_files.items())
        if path not in keep and _is_ours(path) and file.mtime < since
    }


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
