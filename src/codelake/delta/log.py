"""A table's log, read without Spark: versions, commits, protocol, schema, files and their statistics.

deltalake replays the log; the commits themselves are read here, entry by entry. Two of deltalake's habits
make that necessary: it accepts an empty last entry as a commit, and `history()` numbers commits from the
version that is loaded, which is wrong for any other than the newest.
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

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from codelake.delta.features import opening_refused
from codelake.delta.store import Store
from codelake.errors import CodelakeError, Damaged, NotFound, PinUnavailable, Unavailable

LOG = "_delta_log"
_COMMIT = re.compile(r"^(\d{20})\.json$")
_CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint.*\.(parquet|json)$")
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


class Log:
    """The log of one table. Opened at the newest version, or at `version`."""

    def __init__(self, store: Store, name: str, *, version: int | None = None) -> None:
        self.store = store
        self.name = name
        self.uri = store.uri(name)
        if store.is_local and not (store.path / name).is_dir():
            raise NotFound(f"table {name}", expected=f"a Delta table at {self.uri}", found="no such folder")
        self._fs = pafs.PyFileSystem(DeltaStorageHandler(self.uri, store.deltalake_options() or None))
        self._check_entries()
        try:
            self._table = DeltaTable(
                self.uri, version=version, storage_options=store.deltalake_options() or None
            )
        except TableNotFoundError as error:
            raise NotFound(
                f"table {name}", expected=f"a Delta table at {self.uri}", found="a folder without a Delta log"
            ) from error
        except (DeltaError, OSError) as error:
            raise self._unreadable(version, error) from error

    # what the log holds ------------------------------------------------------------------------

    @cached_property
    def _entries(self) -> dict[int, pafs.FileInfo]:
        """Commit entries by version. Checkpoints cover older ones that were cleaned up."""
        infos = self._fs.get_file_info(pafs.FileSelector(LOG, allow_not_found=True))
        found = {}
        self._checkpoints: list[int] = []
        for info in infos:
            if match := _COMMIT.match(info.base_name):
                found[int(match[1])] = info
            elif match := _CHECKPOINT.match(info.base_name):
                self._checkpoints.append(int(match[1]))
        return found

    def _check_entries(self) -> None:
        entries = self._entries
        for version, info in entries.items():
            if info.size == 0:
                raise Damaged(
                    f"table {self.name}, log entry {version}",
                    expected="a commit",
                    found="an empty file",
                    do=f"Restore {LOG}/{version:020}.json from a copy, or run `codelake table check {self.name}`.",
                )
        if entries:
            first = min(entries)
            missing = sorted(set(range(first, max(entries) + 1)) - set(entries))
            if missing:
                raise Damaged(
                    f"table {self.name}",
                    expected=f"log entries {first} to {max(entries)} without a gap",
                    found=f"no entry {missing[0]}",
                    do=f"Restore the entry from a copy, or run `codelake table check {self.name}`.",
                )
            covered = max((c for c in self._checkpoints if c >= first - 1), default=None)
            if first > 0 and covered is None:
                raise Damaged(
                    f"table {self.name}",
                    expected="log entry 0 or a checkpoint",
                    found=f"entries from {first} on and no checkpoint before them",
                    do=f"Run `codelake table check {self.name}`.",
                )

    @property
    def versions(self) -> range:
        """The versions whose commits are still in the log, as of when it was opened."""
        entries = self._entries
        return range(min(entries), max(entries) + 1) if entries else range(self.version, self.version + 1)

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
            metrics={k: int(v) for k, v in (found.get("operationMetrics") or {}).items() if _is_whole(v)},
            own=_own_metadata(found.get("userMetadata")),
            info=found,
        )

    def actions(self, version: int) -> list[dict[str, Any]]:
        with self._fs.open_input_stream(f"{LOG}/{version:020}.json") as stream:
            raw = stream.read()
        try:
            return [json.loads(line) for line in raw.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise Damaged(
                f"table {self.name}, log entry {version}",
                expected="one JSON action a line",
                found=f"{error.msg} at character {error.pos} of a line",
                do=f"Restore {LOG}/{version:020}.json from a copy, or run `codelake table check {self.name}`.",
            ) from error

    def _commit_info(self, version: int) -> dict[str, Any]:
        """The commitInfo action. Writers put it first, so that a large commit need not be read in whole."""
        with self._fs.open_input_stream(f"{LOG}/{version:020}.json") as stream:
            head = bytes(stream.read(1 << 16))
        line, newline, _ = head.partition(b"\n")
        if newline and line.startswith(b'{"commitInfo"'):
            return dict(json.loads(line)["commitInfo"])
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
        found = []
        while commit := self.commit(version + 1 + len(found)):
            found.append(commit)
        return found

    # the table at the loaded version -----------------------------------------------------------

    @property
    def version(self) -> int:
        return int(self._table.version())

    @cached_property
    def protocol(self) -> tuple[int, int, tuple[str, ...]]:
        """Lowest reader version, lowest writer version, and the features, sorted."""
        found = self._table.protocol()
        features = {*(found.reader_features or ()), *(found.writer_features or ())}
        return found.min_reader_version, found.min_writer_version, tuple(sorted(features))

    @property
    def properties(self) -> dict[str, str]:
        return dict(self._table.metadata().configuration)

    @property
    def table_uuid(self) -> str:
        return str(self._table.metadata().id)

    @property
    def partition_columns(self) -> list[str]:
        return list(self._table.metadata().partition_columns)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The schema's fields as the log spells them: name, type, nullable, metadata."""
        return list(json.loads(self._table.schema().to_json())["fields"])

    @cached_property
    def files(self) -> pa.Table:
        """One row a data file: path, size_bytes, num_records, partition.*, min.*, max.*, null_count.*.

        A path that leaves the table's folder is refused here, before any engine follows it.
        """
        files = pa.table(self._table.get_add_actions(flatten=True))
        for path in files.column("path").to_pylist():
            if "://" in path or path.startswith("/") or path.startswith("file:") or ".." in path.split("/"):
                raise Damaged(
                    f"table {self.name}, version {self.version}",
                    expected="data files below the table's own folder",
                    found=path,
                    do="Nothing was read. Export the clone's rows into a table of their own.",
                )
        return files

    @cached_property
    def deletion_vectors(self) -> pa.Table:
        return pa.table(self._table.deletion_vectors().read_all())

    @property
    def n_bytes(self) -> int:
        return int(pc.sum(self.files.column("size_bytes")).as_py() or 0)

    @property
    def n_rows(self) -> int | None:
        """Rows by the files' statistics, less deleted ones; None where a file has no statistics."""
        counts = self.files.column("num_records") if "num_records" in self.files.column_names else None
        if self.files.num_rows == 0:
            return 0
        if counts is None or counts.null_count:
            return None
        kept = pc.list_flatten(self.deletion_vectors.column("selection_vector"))
        return int(pc.sum(counts).as_py()) - int(pc.sum(pc.invert(kept)).as_py() or 0)

    def transaction_version(self, app: str) -> int | None:
        return self._table.transaction_version(app)

    def at_time(self, moment: datetime) -> int:
        """The newest version that was committed at or before `moment`."""
        best = None
        for version in self.versions:
            commit = self.commit(version)
            if commit is None or commit.timestamp > moment:
                break
            best = version
        if best is None:
            first = self.commit(self.versions.start)
            raise PinUnavailable(
                f"table {self.name} at {moment.isoformat()}",
                expected=f"a time from {first.timestamp.isoformat() if first else 'its first commit'} on",
                found="nothing committed by then",
            )
        return best

    def require_files(self) -> None:
        """Every data file of this version is there, with the size that the log says.

        On a local disk this is a `stat` a file. On an object store it would be a request a file, and the
        engine's own read fails just as loudly, so there it is left to the engine.
        """
        if not self.store.is_local:
            return
        folder = self.store.path / self.name
        files = self.files
        for path, size in zip(
            files.column("path").to_pylist(), files.column("size_bytes").to_pylist(), strict=True
        ):
            try:
                found: object = (folder / unquote(path)).stat().st_size
            except FileNotFoundError:
                found = "no such file"
            if found != size:
                raise self._file_lost(path, size, found)

    # errors ------------------------------------------------------------------------------------

    def _file_lost(self, path: str, size: int, found: object) -> PinUnavailable | Damaged:
        newest = max(self._entries, default=self.version)
        if self.version < newest:
            return PinUnavailable(
                f"table {self.name}, version {self.version}, file {path}",
                expected=f"{size} bytes",
                found=found,
                do=f"The version's files were vacuumed: read a newer one (the newest is {newest}) "
                "or restore the file from a copy.",
            )
        return Damaged(
            f"table {self.name}, version {self.version}, file {path}",
            expected=f"{size} bytes",
            found=found,
            do=f"Restore the file from a copy, or run `codelake table check {self.name}`.",
        )

    def _unreadable(self, version: int | None, error: Exception) -> CodelakeError:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        entries = self._entries
        if version is not None and entries and version not in entries:
            return PinUnavailable(
                f"table {self.name}, version {version}",
                expected=f"a version from {min(entries)} to {max(entries)}",
                found="no such version in the log",
                do="Versions end where the log was cleaned up; choose one of those.",
            )
        if isinstance(error, OSError) and not entries:
            return Unavailable(f"table {self.name} at {self.uri}", expected="a readable folder", found=text)
        if refused := opening_refused(self.name, self._newest_first(version)):
            return refused
        return Damaged(
            f"table {self.name} at {self.uri}",
            expected="a log that can be replayed",
            found=text,
            do=f"Run `codelake table check {self.name}`; nothing was written.",
        )


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
