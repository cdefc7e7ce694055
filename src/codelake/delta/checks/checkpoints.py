"""Checkpoints: each can be read, says what the entries before it add up to, and the pointer leads to one."""

from __future__ import annotations

import json
from collections.abc import Iterator

from codelake.delta.checks.finding import Finding
from codelake.delta.checks.state import State
from codelake.delta.checks.stored import Checkpoint, Stored
from codelake.delta.entries import LOG

_POINTER = "_last_checkpoint"


def checkpoints(table: Stored) -> Iterator[Finding]:
    for version, found in table.checkpoints.items():
        for one in found:
            if one.problem:
                yield _unusable(table, version, one, "corrupt checkpoint", "a checkpoint", one.problem)
            elif lacking := [kind for kind in ("protocol", "metaData") if not any(a.get(kind) for a in one.actions)]:
                yield _unusable(table, version, one, "incomplete checkpoint", " and ".join(lacking), "none")
        if version > table.newest:
            yield Finding(
                table.name, "lost entry", f"{LOG}/{version:020}.json", "the entry of a checkpoint", "no such file"
            )
    yield from _against_entries(table)
    yield from _pointer(table)


def _against_entries(table: Stored) -> Iterator[Finding]:
    for version, state in table.states():
        for one in table.checkpoints.get(version, ()):
            if one.problem:
                continue
            said = State()
            said.apply(one.actions)
            if set(said.files) != set(state.files):
                lost, more = set(state.files) - set(said.files), set(said.files) - set(state.files)
                difference = ", ".join(f"{len(n)} {w}" for n, w in ((lost, "missing"), (more, "too many")) if n)
                example = next(iter(lost or more))[0]
                yield _unusable(
                    table,
                    version,
                    one,
                    "checkpoint differs",
                    f"the {len(state.files)} files that the entries add up to",
                    f"{difference}, such as {example}",
                )


def _pointer(table: Stored) -> Iterator[Finding]:
    if _POINTER not in table.log_files:
        return
    path = f"{LOG}/{_POINTER}"
    try:
        version = int(json.loads(table.read(path))["version"])
    except (ValueError, KeyError, TypeError) as error:
        expected, found = "the version of a checkpoint", str(error) or "nothing"
    else:
        if version in table.checkpoints:
            return
        expected, found = f"a checkpoint of version {version}", "no such file"
    yield Finding(
        table.name,
        "bad pointer",
        path,
        expected,
        found,
        do="Set it aside: engines then list the checkpoints.",
        set_aside=(path,),
    )


def _unusable(table: Stored, version: int, one: Checkpoint, fault: str, expected: str, found: str) -> Finding:
    """A checkpoint can be set aside if the entries from the beginning, or from another one, are still there."""
    first = min(table.entries, default=None)
    others = (v for v, rest in table.checkpoints.items() if any(not r.problem and r is not one for r in rest))
    spare = first is not None and (first == 0 or any(first - 1 <= other for other in others))
    do = "Set it aside: the entries tell the same." if spare else "Restore it from a copy."
    return Finding(table.name, fault, one.path, expected, found, do=do, set_aside=tuple(one.paths) if spare else ())
