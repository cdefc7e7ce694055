"""A table at a version, known from its log and without Spark: protocol, schema, files and their statistics."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from codelake.delta.entries import Entries
from codelake.delta.features import opening_refused
from codelake.delta.reading import failure, refuse_unsound, said
from codelake.delta.store import Store
from codelake.errors import CodelakeError, Damaged, NotFound, PinUnavailable, Unavailable


class Log(Entries):
    """Opened at the newest version, or at `version`. deltalake replays the entries."""

    def __init__(self, store: Store, name: str, *, version: int | None = None) -> None:
        if store.is_local and not (store.path / name).is_dir():
            raise NotFound(f"table {name}", expected=f"a Delta table at {store.uri(name)}", found="no such folder")
        super().__init__(store, name)
        try:
            self._table = DeltaTable(self.uri, version=version, storage_options=store.deltalake_options() or None)
        except TableNotFoundError as error:
            if self._entries:  # deltalake says the same of a version whose entries were cleaned up
                raise self._unreadable(version, error) from error
            raise NotFound(
                f"table {name}", expected=f"a Delta table at {self.uri}", found="a folder without a Delta log"
            ) from error
        except (DeltaError, OSError) as error:
            raise self._unreadable(version, error) from error

    @property
    def delta_table(self) -> DeltaTable:
        """For deltalake's own engine, see `codelake.delta.embedded`."""
        return self._table

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
    def created_at(self) -> datetime:
        return datetime.fromtimestamp((self._table.metadata().created_time or 0) / 1000, UTC)

    @property
    def partition_columns(self) -> list[str]:
        return list(self._table.metadata().partition_columns)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The schema's fields as the log spells them: name, type, nullable, metadata."""
        return list(json.loads(self._table.schema().to_json())["fields"])

    @cached_property
    def files(self) -> pa.Table:
        """One row per data file: path, size_bytes, num_records, partition.*, min.*, max.*, null_count.*.

        What is unsound is refused here, before any engine reads it.
        """
        refuse_unsound(self.name, self._table, self.checksum(self.version))
        return pa.table(self._table.get_add_actions(flatten=True))

    @cached_property
    def deletion_vectors(self) -> pa.Table:
        try:
            return pa.table(self._table.deletion_vectors().read_all())
        except DeltaError as error:
            if isinstance(gone := failure(error), PinUnavailable):
                raise gone from error
            raise Damaged(
                f"table {self.name}, version {self.version}",
                expected="deletion vectors that can be read",
                found=said(error),
                do="Nothing was read. See `codelake table check`.",
            ) from error

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
        for path, size in zip(files.column("path").to_pylist(), files.column("size_bytes").to_pylist(), strict=True):
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
            do="Restore the file from a copy.",
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
            do="Nothing was written. Restore the log from a copy.",
        )
