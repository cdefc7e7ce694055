"""What makes a commit idempotent, and what every commit carries.

The newest commit of codelake in a table's log says how far every application that wrote to the table has
come, and how far every reader whose results lie in it has read: each commit carries the last one's words on.

On a local disk the table's lock makes looking and committing one step. Elsewhere there is no lock, and
Delta's own transaction identifiers are set as well; locally they are left out because Spark replays the
whole log to look one up, which costs more than the append itself
(docs/decisions/0003-idempotent-commits.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codelake.delta.entries import Commit
from codelake.delta.log import Log
from codelake.delta.run import Run, Txn
from codelake.errors import ConflictFinal


def newest_own_commit(log: Log, *, stage: str | None = None) -> Commit | None:
    """The newest that codelake made; of a stage, if one is named."""
    for version in reversed(log.versions):
        found = log.commit(version)
        if found and found.own and stage in (None, found.own["stage"]):
            return found
    return None


def earlier_commit(log: Log, newest: Commit | None, txn: Txn | None) -> Commit | None:
    """The commit that this application and version made before, if it did."""
    if txn is None or newest is None or newest.own["apps"].get(txn.app, -1) < txn.version:
        return None
    for version in range(newest.version, log.versions.start - 1, -1):
        found = log.commit(version)
        if found and (found.own.get("app"), found.own.get("app_version")) == (txn.app, txn.version):
            return found
    raise ConflictFinal(
        f"table {log.name}, application {txn.app}",
        expected=f"a version above {newest.own['apps'][txn.app]}",
        found=txn.version,
        do="Nothing was written: a later run of this application has committed. Start a new run.",
    )


def own_metadata(
    run: Run,
    newest: Commit | None,
    *,
    commit_id: str,
    mode: str,
    txn: Txn | None,
    cursors: Mapping[str, int],
    fingerprint: str | None,
) -> dict[str, Any]:
    apps = dict(newest.own["apps"]) if newest else {}
    if txn:
        apps[txn.app] = txn.version
    read = {reader: dict(sources) for reader, sources in newest.own["cursors"].items()} if newest else {}
    for source, version in cursors.items():
        read.setdefault(run.stage, {})[source] = version
    return {
        "commit_id": commit_id,
        "run_id": run.run_id,
        "stage": run.stage,
        "mode": mode,
        "app": txn.app if txn else None,
        "app_version": txn.version if txn else None,
        "apps": apps,
        "cursors": read,
        "fingerprint": fingerprint,
        "pins": dict(run.pinned_versions),
    }
