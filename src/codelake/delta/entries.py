"""The entries of a table's log, read one by one and without any engine.

Two habits of deltalake make that necessary: it accepts an empty last entry as a commit, and its `history()`
numbers commits from the version that is loaded, which is wrong for any other than the newest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import pyarrow.fs as pafs
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler

from codelake.delta.reading import Checksum, checksum_of
from codelake.delta.store import Store
from codelake.errors import Damaged

LOG = "_delta_log"
_COMMIT = re.compile(r"^(\d{20})\.json$")
_CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint.*\.(parquet|json)$")
_CHECKSUM = re.compile(r"^(\d{20})\.crc$")
_METRICS = {
    "num_added_rows": "numOutputRows",
    "num_added_files": "numFiles",
    "num_removed_files": "numRemovedFiles",
    "execution_time_ms": "executionTimeMs",
}
"""What deltalake counts, by the names that Delta on Spark has for it."""
_MARK = "codelake"
"""The key in a commit's user metadata under which our own metadata lies."""


@dataclass(frozen=True)
class Commit:
    """One entry of the log. `own` is what codelake wrote into it, empty for commits of others."""

    version: int
    timestamp: datetime
    operation: str
    metrics: dict[str, int]
    own: dict[str, Any]
    info: dict[str, Any]


class Entries:
    """The log of one table as it lies there: without a gap, without an empty entry, or refused."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.uri = store.uri(name)
        self._fs = pafs.PyFileSystem(DeltaStorageHandler(self.uri, store.deltalake_options() or None))
        self._check_entries()

    @cached_property
    def _entries(self) -> dict[int, pafs.FileInfo]:
        """Commit entries by version. Checkpoints cover older ones that were cleaned up."""
        infos = self._fs.get_file_info(pafs.FileSelector(LOG, allow_not_found=True))
        found = {}
        self._checkpoints: list[int] = []
        self._checksums: list[int] = []
        for info in infos:
            if match := _COMMIT.match(info.base_name):
                found[int(match[1])] = info
            elif match := _CHECKPOINT.match(info.base_name):
                self._checkpoints.append(int(match[1]))
            elif match := _CHECKSUM.match(info.base_name):
                self._checksums.append(int(match[1]))
        return found

    def _check_entries(self) -> None:
        entries = self._entries
        for version, info in entries.items():
            if info.size == 0:
                raise Damaged(
                    f"table {self.name}, log entry {version}",
                    expected="a commit",
                    found="an empty file",
                    do=f"Restore {LOG}/{version:020}.json from a copy.",
                )
        self._require_entry(max(self._checksums, default=-1))
        if entries:
            first = min(entries)
            missing = sorted(set(range(first, max(entries) + 1)) - set(entries))
            if missing:
                raise Damaged(
                    f"table {self.name}",
                    expected=f"log entries {first} to {max(entries)} without a gap",
                    found=f"no entry {missing[0]}",
                    do="Restore the entry from a copy.",
                )
            covered = max((c for c in self._checkpoints if c >= first - 1), default=None)
            if first > 0 and covered is None:
                raise Damaged(
                    f"table {self.name}",
                    expected="log entry 0 or a checkpoint",
                    found=f"entries from {first} on and no checkpoint before them",
                    do="Restore the entries or a checkpoint from a copy.",
                )

    def _require_entry(self, version: int) -> None:
        """A checksum is written after its entry: where that is gone, the one before must not pass for the newest."""
        if version <= max([*self._entries, *self._checkpoints], default=-1):
            return
        path = f"{LOG}/{version:020}.json"
        if self._fs.get_file_info(path).type == pafs.FileType.NotFound:  # it may have been made since they were listed
            raise Damaged(
                f"table {self.name}, log entry {version}",
                expected="a commit, beside its checksum",
                found="no such file",
                do=f"Restore {path} from a copy.",
            )

    @property
    def versions(self) -> range:
        """The versions whose commits are still in the log, as of when it was opened."""
        return range(min(self._entries), max(self._entries) + 1) if self._entries else range(0)

    @property
    def n_entries_since_checkpoint(self) -> int:
        """What a reader of the newest version replays."""
        newest = max(self._checkpoints, default=-1)
        return sum(version > newest for version in self._entries)

    def commit(self, version: int) -> Commit | None:
        """The commit that made `version`, or None where the log has no such entry."""
        info = self._fs.get_file_info(f"{LOG}/{version:020}.json")
        if info.type == pafs.FileType.NotFound:
            return None
        found = self._commit_info(version)
        stamp = found.get("inCommitTimestamp") or found.get("timestamp") or info.mtime_ns // 1_000_000
        return Commit(
            version=version,
            timestamp=datetime.fromtimestamp(stamp / 1000, UTC),
            operation=found.get("operation", ""),
            metrics={
                _METRICS.get(name, name): int(value)
                for name, value in (found.get("operationMetrics") or {}).items()
                if _is_whole(value)
            },
            own=_own_metadata(found.get("userMetadata")),
            info=found,
        )

    def actions(self, version: int) -> list[dict[str, Any]]:
        with self._fs.open_input_stream(f"{LOG}/{version:020}.json") as stream:
            raw = stream.read()
        return [self._parsed(line, version) for line in raw.splitlines() if line.strip()]

    def _parsed(self, line: bytes, version: int) -> dict[str, Any]:
        try:
            action = json.loads(line)
        except ValueError as error:
            raise self._no_action(version, f"{error} of a line") from error
        if not isinstance(action, dict):
            raise self._no_action(version, f"a {type(action).__name__}")
        return action

    def _no_action(self, version: int, found: str) -> Damaged:
        return Damaged(
            f"table {self.name}, log entry {version}",
            expected="one JSON action a line",
            found=found,
            do=f"Restore {LOG}/{version:020}.json from a copy.",
        )

    def _commit_info(self, version: int) -> dict[str, Any]:
        """The commitInfo action. Writers put it first, so that a large commit need not be read in whole."""
        with self._fs.open_input_stream(f"{LOG}/{version:020}.json") as stream:
            head = bytes(stream.read(1 << 16))
        line, newline, _ = head.partition(b"\n")
        if newline and line.startswith(b'{"commitInfo"'):
            return dict(self._parsed(line, version)["commitInfo"])
        return next((a["commitInfo"] for a in self.actions(version) if "commitInfo" in a), {})

    def feed_files(self, version: int) -> list[str]:
        """Paths, below the table, of the files that the change feed of one version is read from."""
        actions = self.actions(version)
        feed = [a["cdc"]["path"] for a in actions if "cdc" in a]
        if not feed:
            feed = [
                a[kind]["path"] for a in actions for kind in ("add", "remove") if kind in a and a[kind]["dataChange"]
            ]
        return [unquote(path) for path in feed]

    def checksum(self, version: int) -> Checksum | None:
        path = f"{LOG}/{version:020}.crc"
        if self._fs.get_file_info(path).type == pafs.FileType.NotFound:
            return None
        with self._fs.open_input_stream(path) as stream:
            return checksum_of(stream.read())

    def _newest_first(self, version: int | None) -> Iterator[dict[str, Any]]:
        """Actions of the entries up to `version`, newest entry first, then those of older checkpoints.

        For when deltalake does not open the table, and the reason has to be found without it.
        """
        for entry in sorted(self._entries, reverse=True):
            if version is None or entry <= version:
                yield from self.actions(entry)
        infos = self._fs.get_file_info(pafs.FileSelector(LOG, allow_not_found=True))
        for info in sorted(infos, key=lambda i: i.base_name, reverse=True):
            match = _CHECKPOINT.match(info.base_name)
            if not match or (version is not None and int(match[1]) > version):
                continue
            with self._fs.open_input_file(info.path) as file:
                if match[2] == "json":
                    yield from (json.loads(line) for line in file.read().splitlines())
                else:
                    yield from pq.read_table(file, columns=["protocol"]).to_pylist()

    def newer_commits(self, version: int) -> list[Commit]:
        """Commits after `version`, oldest first, up to the present and not only to when this was opened."""
        found: list[Commit] = []
        while commit := self.commit(version + 1 + len(found)):
            found.append(commit)
        return found


def own_metadata_text(own: dict[str, Any]) -> str:
    return json.dumps({_MARK: own}, sort_keys=True, separators=(",", ":"))


def _own_metadata(text: str | None) -> dict[str, Any]:
    if not text:
        return {}
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return {}  # another tool's own text
    return found.get(_MARK, {}) if isinstance(found, dict) else {}


def _is_whole(value: object) -> bool:
    return str(value).lstrip("-").isdigit()
