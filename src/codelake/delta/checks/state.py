"""The state of a table: what its actions add up to, replayed here so that an engine's own replay can be doubted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Action = Mapping[str, Any]
Key = tuple[str, str]
"""A file's path and the deletion vector that goes with it: the log removes and adds the two together."""


@dataclass
class State:
    protocol: Action | None = None
    metadata: Action | None = None
    files: dict[Key, Action] = field(default_factory=dict)
    removed: dict[Key, Action] = field(default_factory=dict)
    """Files of earlier versions, as far as the log still remembers them."""

    def apply(self, actions: list[Action]) -> None:
        for action in actions:
            if action.get("protocol"):
                self.protocol = action["protocol"]
            if action.get("metaData"):
                self.metadata = action["metaData"]
        # within an entry the order of actions means nothing: what is removed goes first
        for one in _each(actions, "remove"):
            self.files.pop(file_key(one), None)
            self.removed[file_key(one)] = one
        for one in _each(actions, "add"):
            self.files[file_key(one)] = one
            self.removed.pop(file_key(one), None)

    @property
    def n_bytes(self) -> int:
        return sum(int(one.get("size") or 0) for one in self.files.values())

    @property
    def features(self) -> set[str]:
        protocol = self.protocol or {}
        return {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}

    @property
    def properties(self) -> dict[str, str]:
        return dict((self.metadata or {}).get("configuration") or {})


def _each(actions: list[Action], kind: str) -> Iterator[Action]:
    for action in actions:
        one = action.get(kind)
        if one and isinstance(one.get("path"), str):
            yield one


def file_key(one: Action) -> Key:
    vector = one.get("deletionVector")
    if not vector:
        return one["path"], ""
    return one["path"], f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}@{vector.get('offset')}"
