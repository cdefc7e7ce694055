"""The log: every entry is there, whole, and adds up to what the versions' own checksums say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.state import Action, file_key
from codelake.delta.checks.stored import Stored
from codelake.delta.entries import LOG

_KNOWN = re.compile(
    r"^(\d{20}\.(json|crc|checkpoint.*\.(parquet|json)|\d{20}\.compacted\.json)|_last_checkpoint"
    r"|_staged_commits/.*|_sidecars/.*|_commits/.*|_change_data/.*)$"
)
_CHECKSUM = re.compile(r"^(\d{20})\.crc$")


def log_entries(table: Stored) -> Iterator[Finding]:
    entries = table.entries
    if not entries and not table.checkpoints:
        yield Finding(table.name, "no log", LOG, "log entries", "none")
        return
    for version, entry in entries.items():
        if entry.problem:
            torn = version == table.newest and entry.problem == "an empty file"
            yield Finding(
                table.name,
                "empty entry" if entry.problem == "an empty file" else "corrupt entry",
                entry.path,
                "a commit",
                entry.problem,
                # a commit that is not there in whole was never made: its writer was told nothing
                do="Set it aside: the commit was never made." if torn else "Restore it from a copy.",
                set_aside=(entry.path,) if torn else (),
            )
        else:
            yield from _bad_actions(table, entry.path, entry.actions)
    first, last = min(entries, default=0), table.newest
    for version in sorted(set(range(first, last + 1)) - set(entries)):
        yield Finding(table.name, "gap", _path(version), f"entries {first} to {last}", "no such file")
    if first > 0 and not any(version >= first - 1 for version in table.checkpoints):
        yield Finding(table.name, "no beginning", _path(0), "entry 0 or a checkpoint", f"entries from {first} on")
    for name in table.log_files:
        if not _KNOWN.match(name):
            yield Finding(
                table.name, "foreign file in the log", f"{LOG}/{name}", "entries and checkpoints", name, level="note"
            )


def versions_add_up(table: Stored) -> Iterator[Finding]:
    """Spark writes a checksum beside each entry: how many files, and their bytes. What the entries add up to must
    agree; an entry that lost a line, or is gone as the newest, is known only by that."""
    sums = {int(m[1]): m[0] for m in map(_CHECKSUM.match, sorted(table.log_files)) if m}
    for version in sums:
        if version > table.newest:
            yield Finding(table.name, "lost entry", _path(version), "an entry beside its checksum", "no such file")
    said_id = None
    for version, state in table.states():
        own_id, path = (state.metadata or {}).get("id"), _path(version)
        if said_id is not None and own_id != said_id:
            yield Finding(table.name, "entry of another table", path, f"table id {said_id}", str(own_id))
        said_id = own_id
        if version not in sums:
            continue
        try:
            total = json.loads(table.read(f"{LOG}/{sums[version]}"))
            said = int(total["numFiles"]), int(total["tableSizeBytes"])
        except (ValueError, KeyError, TypeError) as error:
            yield Finding(
                table.name,
                "corrupt checksum",
                f"{LOG}/{sums[version]}",
                "numFiles and tableSizeBytes as JSON",
                str(error),
                do="Set it aside: engines do without.",
                set_aside=(f"{LOG}/{sums[version]}",),
            )
            continue
        if said != (len(state.files), state.n_bytes):
            yield Finding(
                table.name,
                "version does not add up",
                path,
                f"{said[0]} files of {said[1]} bytes, as its checksum says",
                f"{len(state.files)} files of {state.n_bytes} bytes",
            )


def _bad_actions(table: Stored, path: str, actions: list[Action]) -> Iterator[Finding]:
    adds = [a["add"] for a in actions if a.get("add")]
    for one in [*adds, *(a["remove"] for a in actions if a.get("remove"))]:
        if not isinstance(one.get("path"), str) or not one["path"]:
            yield Finding(table.name, "bad action", path, "a path", json.dumps(one)[:200])
    for one in adds:
        if not isinstance(one.get("size"), int) or one["size"] < 0:
            yield Finding(table.name, "bad action", path, f"the size of {one.get('path')}", str(one.get("size")))
    for key, n in Counter(file_key(one) for one in adds if isinstance(one.get("path"), str)).items():
        if n > 1:
            yield Finding(table.name, "file added twice", path, f"{key[0]} once", f"{n} times")


def _path(version: int) -> str:
    return f"{LOG}/{version:020}.json"
