"""A table as it lies in its folder, read byte by byte and without an engine. Damage is kept, not raised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import pyarrow.fs as pafs
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler

from codelake.delta.checks.state import Action, State
from codelake.delta.entries import LOG
from codelake.delta.store import Store

_ENTRY = re.compile(r"^(\d{20})\.json$")
_CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(parquet|json)$")
_COLUMNS = ("protocol", "metaData", "add", "remove", "sidecar")


@dataclass
class Entry:
    """A log entry or a checkpoint: its actions, or what is wrong with it."""

    path: str
    actions: list[Action] = field(default_factory=list)
    problem: str = ""


@dataclass
class Checkpoint(Entry):
    paths: list[str] = field(default_factory=list)
    """Its own files; a checkpoint of several parts has one a part."""


class Stored:
    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.fs = pafs.PyFileSystem(DeltaStorageHandler(store.uri(name), store.deltalake_options() or None))

    @cached_property
    def log_files(self) -> dict[str, int]:
        """Name below the log's folder to size. Names with a dot in front are Hadoop's own."""
        infos = self.fs.get_file_info(pafs.FileSelector(LOG, allow_not_found=True, recursive=True))
        files = {i.path.split(f"{LOG}/", 1)[1]: i.size for i in infos if i.type == pafs.FileType.File}
        return {name: size for name, size in files.items() if not name.rpartition("/")[2].startswith(".")}

    @cached_property
    def data_files(self) -> dict[str, pafs.FileInfo]:
        """By the path below the table: all files outside of the log."""
        infos = self.fs.get_file_info(pafs.FileSelector("", recursive=True))
        return {
            i.path.lstrip("/"): i
            for i in infos
            if i.type == pafs.FileType.File
            and not i.path.lstrip("/").startswith(f"{LOG}/")
            and not i.base_name.startswith(".")
        }

    def delete(self, path: str) -> None:
        """A file and, on a local disk, Hadoop's checksum of it."""
        self.fs.delete_file(path)
        folder, _, name = path.rpartition("/")
        if self.store.is_local:
            (self.store.path / self.name / folder / f".{name}.crc").unlink(missing_ok=True)

    def read(self, path: str) -> bytes:
        with self.fs.open_input_stream(path) as stream:
            return bytes(stream.read())

    @cached_property
    def entries(self) -> dict[int, Entry]:
        found = {int(m[1]): self._entry(m[0]) for m in map(_ENTRY.match, self.log_files) if m}
        return dict(sorted(found.items()))

    @cached_property
    def checkpoints(self) -> dict[int, list[Checkpoint]]:
        found: dict[int, list[Checkpoint]] = {}
        parts: dict[tuple[int, int], list[re.Match[str]]] = {}
        for match in filter(None, map(_CHECKPOINT.match, sorted(self.log_files))):
            if match[3]:
                parts.setdefault((int(match[1]), int(match[3])), []).append(match)
            else:
                found.setdefault(int(match[1]), []).append(self._checkpoint([match[0]]))
        for (version, wanted), there in parts.items():
            one = self._checkpoint([m[0] for m in there])
            if len(there) != wanted:
                one.problem = f"{len(there)} of {wanted} parts"
            found.setdefault(version, []).append(one)
        return dict(sorted(found.items()))

    @property
    def newest(self) -> int:
        return max(self.entries, default=-1)

    def states(self) -> Iterator[tuple[int, State]]:
        """The state at each version that can be told, oldest first: from entry 0, or from the first checkpoint that
        the entries go on from. One state, which the next step changes. It ends before the first entry that is
        missing or damaged."""
        state = State()
        first = min(self.entries, default=None)
        version = -1
        if first != 0:
            found = (v for v, all_ in self.checkpoints.items() if any(not one.problem for one in all_))
            start = next((v for v in found if first is None or v >= first - 1), None)
            if start is None:
                return
            version = start
            state.apply(next(one.actions for one in self.checkpoints[version] if not one.problem))
            yield version, state
        while (entry := self.entries.get(version + 1)) is not None and not entry.problem:
            version += 1
            state.apply(entry.actions)
            yield version, state

    @cached_property
    def state(self) -> State | None:
        """Of the newest version; None where it cannot be told."""
        return next((state for version, state in self.states() if version == max(self.newest, 0)), None)

    def _entry(self, name: str) -> Entry:
        path = f"{LOG}/{name}"
        if self.log_files[name] == 0:
            return Entry(path, problem="an empty file")
        try:
            return Entry(path, actions=_actions(self.read(path)))
        except ValueError as error:
            return Entry(path, problem=str(error))

    def _checkpoint(self, names: list[str]) -> Checkpoint:
        paths = [f"{LOG}/{name}" for name in names]
        found = Checkpoint(paths[0], paths=paths)
        try:
            for path in paths:
                found.actions += self._checkpoint_actions(path)
            for sidecar in [a["sidecar"]["path"] for a in found.actions if a.get("sidecar")]:
                found.actions += self._checkpoint_actions(f"{LOG}/_sidecars/{sidecar}")
        except (ValueError, OSError) as error:  # ArrowInvalid is a ValueError
            found.problem = str(error).splitlines()[0]
        return found

    def _checkpoint_actions(self, path: str) -> list[Action]:
        if path.endswith(".json"):
            return _actions(self.read(path))
        with self.fs.open_input_file(path) as file:
            parquet = pq.ParquetFile(file)
            columns = [c for c in _COLUMNS if c in parquet.schema_arrow.names]
            return [_plain(row) for row in parquet.read(columns=columns).to_pylist()]


def below(path: str) -> str:
    """A path of the log as a path below the table."""
    return unquote(path)


def leaves(path: str) -> bool:
    return "://" in path or path.startswith(("/", "file:")) or ".." in path.split("/")


def _actions(raw: bytes) -> list[Action]:
    found: list[Action] = []
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            action = json.loads(line)
        except ValueError as error:
            raise ValueError(f"no JSON in line {number}: {error}") from error
        if not isinstance(action, dict):
            raise ValueError(f"no action in line {number}, but a {type(action).__name__}")
        found.append(action)
    if not found:
        raise ValueError("no action")
    return found


def _plain(row: dict[str, Any]) -> Action:
    """Parquet has every action as a column, and maps as pairs."""
    action = {kind: value for kind, value in row.items() if value is not None}
    for name in ("metaData", "add", "remove"):
        if name in action:
            action[name] = {k: dict(v) if _is_pairs(v) else v for k, v in action[name].items()}
    if "metaData" in action and not isinstance(action["metaData"].get("configuration"), dict):
        action["metaData"]["configuration"] = {}
    return action


def _is_pairs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], tuple)
