"""The checksum beside an entry: Spark writes one with each commit, deltalake none. A reader compares what it has
replayed, so that an entry which lost a line is not read in silence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from codelake.delta.entries import LOG
from codelake.delta.log import Log
from codelake.delta.reading import checksum_of

_HISTORY = 20
"""Entries before the last in which an earlier checksum is looked for."""
_SAME = {
    "metadata": "metaData",
    "protocol": "protocol",
    "setTransactions": "txn",
    "domainMetadata": "domainMetadata",
    "numMetadata": "metaData",
    "numProtocol": "protocol",
}
"""What a commit of rows leaves as it is, and the action that would change it."""


def write_checksum(log: Log, table: DeltaTable) -> None:
    """Beside the entry that followed `log`, which `table` has read. What is the same as in the last one is taken from
    there; where there is none, or it may have changed since, none is written."""
    before = _last(log)
    if before is None:
        return
    version, said = before
    files = table.get_add_actions(flatten=True)
    found = {name: value for name, value in said.items() if name in _SAME}
    found |= {"tableSizeBytes": sum(files.column("size_bytes").to_pylist()), "numFiles": files.num_rows}
    if version == log.version and said.get("numDeletionVectorsOpt") == 0:  # deltalake adds none
        found |= {"numDeletionVectorsOpt": 0, "numDeletedRecordsOpt": 0}
    else:
        found["numDeletionVectorsOpt"] = table.deletion_vectors().read_all().num_rows
    made = _beside(log, int(table.version()))
    unfinished = made.with_name(f".{made.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_text(json.dumps(found))
        unfinished.replace(made)
    except OSError:
        # The commit is made, and readers do without: a disk that is full is for the next commit to tell.
        unfinished.unlink(missing_ok=True)


def _last(log: Log) -> tuple[int, dict[str, Any]] | None:
    """The last checksum with its version, if the entries after it say nothing that it would have to say."""
    for version in reversed(range(log.versions.start, log.version + 1)[-_HISTORY:]):
        beside = _beside(log, version)
        if beside.exists():
            raw = beside.read_bytes()
            return None if checksum_of(raw) is None else (version, json.loads(raw))
        if any(not action.keys().isdisjoint(_SAME.values()) for action in log.actions(version)):
            return None
    return None


def _beside(log: Log, version: int) -> Path:
    return log.store.path / log.name / LOG / f"{version:020}.crc"
