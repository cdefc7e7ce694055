"""Entries of the log that no kept version needs are deleted, once they are older than the table's retention.

A version can be opened as long as there is a checkpoint at or before it and every entry from there on. So what goes
lies before the last checkpoint at or before the oldest version that must stay.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from typing import Unpack

from codelake.delta.checks.stored import Stored
from codelake.delta.entries import LOG
from codelake.delta.log import Log
from codelake.delta.maintenance.expiry import Expiry, delete_expired
from codelake.delta.maintenance.needed import Needed
from codelake.delta.maintenance.operation import Maintained
from codelake.delta.run import Run
from codelake.errors import FeatureRefused

_OF_VERSION = re.compile(r"^(\d{20})\.")
_PROTECTED = "checkpointProtection"


def cleanup_log(run: Run, name: str, **how: Unpack[Expiry]) -> Maintained:
    log = run.lake.log(name)
    if _PROTECTED in log.protocol[2]:
        raise FeatureRefused(
            f"table {name} protects its checkpoints: entries before them may not be deleted",
            feature=_PROTECTED,
            engine="spark",
            do="Drop the feature first: codelake table drop-feature.",
        )
    return delete_expired(run, name, "cleanup-log", partial(expired_entries, log), **how)


def expired_entries(log: Log, table: Stored, wanted: Needed, since: datetime) -> dict[str, int]:
    """Paths below the table with their sizes. The newest last: a reader in between finds the first of the entries
    missing, and goes by the checkpoint."""
    stay = [version for version in wanted.versions if version <= table.newest]
    if wanted.cursor is not None:
        stay.append(wanted.cursor + 1)
    stay.append(_first_within(log, since))
    usable = [v for v, found in table.checkpoints.items() if v <= min(stay) and any(not c.problem for c in found)]
    if not usable:
        return {}
    before = max(usable)
    gone = [name for name in table.log_files if (m := _OF_VERSION.match(name)) and int(m[1]) < before]
    kept = [c for v, found in table.checkpoints.items() if v >= before for c in found]
    sidecars = {a["sidecar"]["path"] for c in kept for a in c.actions if a.get("sidecar")}
    lost = [n for n in table.log_files if n.startswith("_sidecars/") and n.removeprefix("_sidecars/") not in sidecars]
    return {f"{LOG}/{name}": table.log_files[name] for name in (*sorted(gone), *(sorted(lost) if gone else ()))}


def _first_within(log: Log, since: datetime) -> int:
    """The newest version from before `since`, which was in force at that time, or the first there is."""
    for version in reversed(log.versions):
        commit = log.commit(version)
        if commit is not None and commit.timestamp < since:
            return version
    return log.versions.start
