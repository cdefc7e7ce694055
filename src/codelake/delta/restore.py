"""A table brought back to an earlier version, as a new version: nothing of its history is lost by it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from codelake.contracts.table import Table
from codelake.delta.checks.state import Action, Key, State
from codelake.delta.checks.stored import Stored
from codelake.delta.engine import engine_errors
from codelake.delta.entries import Commit, own_metadata_text
from codelake.delta.identity import newest_own_commit, own_metadata
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.maintenance.operation import ASKED, Maintained, maintained
from codelake.delta.modes import run_statement
from codelake.delta.run import Run
from codelake.errors import PinUnavailable

Cursors = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Difference:
    """What a restore changes: files and rows that come back, and those that go."""

    n_files_back: int
    n_files_gone: int
    n_rows_back: int
    n_rows_gone: int

    @property
    def is_none(self) -> bool:
        return not (self.n_files_back or self.n_files_gone)


def restore_table(
    run: Run,
    table: Table,
    version: int,
    *,
    cursors: Cursors | None = None,
    reason: str = ASKED,
    dry_run: bool = False,
) -> Maintained:
    """The rows that `version` had, in a new version; the same one where the rows are those already.

    Readers whose results lie in the table have read as far as they had then, or as `cursors` says. The rows are the
    work of the stage that had made them, by the rules that it had then. Applications stay where they are: what was
    committed once is not committed again.
    """
    options = {"to": str(version)}
    with maintained(run, table.name, "restore", reason=reason, dry_run=dry_run, options=options) as done:
        different = difference(run.lake, table.name, version)
        done.metrics.update(
            n_files_back=different.n_files_back,
            n_files_gone=different.n_files_gone,
            n_rows_back=different.n_rows_back,
            n_rows_gone=different.n_rows_gone,
        )
        if dry_run or different.is_none:
            return done
        log, then = run.lake.log(table.name), run.lake.log(table.name, version=version)
        then.require_files()
        own = own_metadata(
            run,
            newest_own_commit(log),
            commit_id=uuid.uuid4().hex,
            mode="restore",
            txn=None,
            cursors={},
            fingerprint=None,
        )
        own["cursors"] = cursors_at(run.lake, table.name, version) if cursors is None else dict(cursors)
        if newest := _made(log, log.version):
            was = _made(log, version)
            own |= {"stage": newest.own["stage"], "fingerprint": was.own["fingerprint"] if was else None}
        statement = f"RESTORE TABLE {run.lake.sql_name(table.name)} TO VERSION AS OF {version}"
        with engine_errors(f"table {table.name}: restore to version {version}"):
            run_statement(run.lake, table, statement, metadata=own_metadata_text(own), txn=None)
    return done


def cursors_at(lake: Lake, name: str, version: int) -> dict[str, dict[str, int]]:
    """How far each reader had read for what the table held at `version`."""
    log = lake.log(name)
    for earlier in range(version, log.versions.start - 1, -1):
        found = log.commit(earlier)
        if found and found.own:
            return dict(found.own["cursors"])
    return {}


def _made(log: Log, version: int) -> Commit | None:
    """The commit of a stage that wrote what the table held at `version`, or that brought it back."""
    commits = (log.commit(each) for each in range(version, log.versions.start - 1, -1))
    own = (one for one in commits if one and one.own)
    return next((one for one in own if one.own["fingerprint"] or one.own["mode"] == "restore"), None)


def difference(lake: Lake, name: str, version: int) -> Difference:
    then, now = _files(lake, name, version), _files(lake, name, None)
    back = [one for key, one in then.items() if key not in now]
    gone = [one for key, one in now.items() if key not in then]
    return Difference(len(back), len(gone), sum(map(_n_rows, back)), sum(map(_n_rows, gone)))


def _files(lake: Lake, name: str, version: int | None) -> dict[Key, Action]:
    stored = Stored(lake.store, name)
    wanted = stored.newest if version is None else version
    state: State | None = next((state for each, state in stored.states() if each == wanted), None)
    if state is None:
        raise PinUnavailable(
            f"table {name}, version {wanted}",
            expected=f"a version from {min(stored.entries, default=0)} to {stored.newest}",
            found="none such in the log",
        )
    return dict(state.files)


def _n_rows(one: Action) -> int:
    stats = json.loads(one.get("stats") or "{}")
    deleted = (one.get("deletionVector") or {}).get("cardinality") or 0
    return int(stats.get("numRecords") or 0) - int(deleted)
