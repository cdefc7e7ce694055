"""The lake: a root that holds tables, the store policy to reach it, and the session that works on it."""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.fs as pafs
from deltalake.fs import DeltaStorageHandler

from codelake.delta.entries import LOG
from codelake.delta.lock import shared_lock, table_lock
from codelake.delta.log import Log
from codelake.delta.store import Store
from codelake.errors import NotFound, Refused, Unavailable, UsageError

if TYPE_CHECKING:  # logs are read in processes that never load Spark
    from pyspark.sql import SparkSession

MARKER = "_codelake.json"
_LOCKS = "_locks"
PINS = "_pins"
"""The lock that is shared by runs that read, and held alone by what deletes more than the retention lets go."""
_DRAWN = re.compile(r"\x1b\[[0-9;]*m|↳")
"""What the store's client draws around the reasons that it gives, the last one being the first cause."""


class Starting:
    """A session that is started when it is first asked for, by whichever thread."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        self._start = start
        self._guard = threading.RLock()
        self._told: list[Callable[[], None]] = []
        self.started: SparkSession | None = None

    def session(self) -> SparkSession:
        with self._guard:
            if self.started is None:
                self.started = self._start()
                for tell in self._told:
                    tell()
            return self.started

    @contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Calls `tell` once the session has started, if that is meanwhile."""
        with self._guard:
            self._told.append(tell)
        try:
            yield
        finally:
            with self._guard:
                self._told.remove(tell)


@dataclass(frozen=True)
class Lake:
    """Made by `create_lake` or `open_lake`. `spark` is None where only logs are read."""

    store: Store
    spark: SparkSession | Starting | None = None
    lock_timeout: float = 600.0
    locking: bool = True
    """Off only to show, in a test, what the lock is for."""

    @property
    def session(self) -> SparkSession:
        if self.spark is None:
            raise UsageError(f"lake {self.store.root}", expected="a lake opened with a Spark session", found="none")
        return self.spark.session() if isinstance(self.spark, Starting) else self.spark

    @property
    def jvm(self) -> int | None:
        """The driver's JVM, which commits for us and may outlive us. Spark Connect's server is not ours to watch."""
        spark = self.spark.started if isinstance(self.spark, Starting) else self.spark
        if spark is None or not hasattr(spark, "_jvm"):
            return None
        process = getattr(spark.sparkContext._gateway, "proc", None)
        return None if process is None else int(process.pid)

    def uri(self, name: str) -> str:
        return self.store.uri(name)

    def sql_name(self, name: str) -> str:
        return "delta.`" + self.uri(name).replace("`", "``") + "`"

    @property
    def files(self) -> pafs.FileSystem:
        """All that lies below the root."""
        return _filesystem(self.store)

    def log(self, name: str, *, version: int | None = None) -> Log:
        return Log(self.store, name, version=version)

    def exists(self, name: str) -> bool:
        """Whether there is a table, in whatever state. While one is made, or if that was cut short, its log is a folder
        with nothing in it but folders and hidden files, and beside the log there is nothing."""
        if self.files.get_file_info(f"{name}/{LOG}/{0:020}.json").type != pafs.FileType.NotFound:
            return True
        if self.files.get_file_info(f"{name}/{LOG}").type == pafs.FileType.NotFound:
            return False
        entries = self.files.get_file_info(pafs.FileSelector(f"{name}/{LOG}"))
        beside = self.files.get_file_info(pafs.FileSelector(name))
        found = [one for one in entries if one.type == pafs.FileType.File] + [
            one for one in beside if one.base_name != LOG
        ]
        return any(not one.base_name.startswith(".") for one in found)

    def clear_unmade(self, name: str) -> None:
        """What is left of a creation that was cut short, which Spark would take for a table."""
        if self.files.get_file_info(f"{name}/{LOG}").type != pafs.FileType.NotFound:
            self.files.delete_dir(f"{name}/{LOG}")

    def table_names(self) -> list[str]:
        """Every folder of the root that has a Delta log, known by a contract or not."""
        found = self.files.get_file_info(pafs.FileSelector("", allow_not_found=True))
        names = [i.base_name for i in found if i.type == pafs.FileType.Directory and not i.base_name.startswith("_")]
        return sorted(n for n in names if self.exists(n))

    def move(self, path: str, to: str) -> None:
        """A file below the root to another place below the root."""
        if self.store.is_local:
            self.files.create_dir(to.rpartition("/")[0], recursive=True)
        self.files.move(path, to)

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Around anything that commits to a table. On a local disk: one at a time, across processes."""
        if not (self.store.is_local and self.locking):
            yield
            return
        with ExitStack() as held:
            hold = held.enter_context(table_lock(self._lock(name), jvm=self.jvm, timeout=self.lock_timeout))
            if isinstance(self.spark, Starting):
                held.enter_context(self.spark.telling(lambda: hold(self.jvm)))
                hold(self.jvm)  # another thread may have started it in between
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around a run whose pins nobody knows of before it is recorded: what the retention keeps is not deleted
        meanwhile. Any number of processes at once."""
        if not (self.store.is_local and self.locking):
            yield
            return
        with shared_lock(self._lock(PINS), timeout=self.lock_timeout):
            yield

    def _lock(self, name: str) -> Path:
        return self.store.path / _LOCKS / f"{name}.lock"


def create_lake(store: Store, spark: SparkSession | Starting | None = None, *, lock_timeout: float = 600.0) -> Lake:
    """Make a lake where there is none, or open the one that is there."""
    if not _marked(store):
        if store.is_local:
            _refuse_bad_place(store.path)
        try:
            if store.is_local:
                store.path.mkdir(parents=True, exist_ok=True)
            # First, so that a folder with something in it is either a lake or somebody else's.
            with _filesystem(store).open_output_stream(MARKER) as stream:
                stream.write(json.dumps({"format": 1, "id": str(uuid.uuid4())}).encode())
            if store.is_local:
                # A lake in a working tree is no part of it.
                (store.path / ".gitignore").write_text("*\n")
        except OSError as error:
            raise Unavailable(
                f"lake {store.root}",
                expected="a folder that can be written",
                found=error.strerror or str(error).splitlines()[0],
                do="Name another with --lake.",
            ) from error
    return open_lake(store, spark, lock_timeout=lock_timeout)


def open_lake(store: Store, spark: SparkSession | Starting | None = None, *, lock_timeout: float = 600.0) -> Lake:
    if not _marked(store):
        if store.is_local and (store.path / LOG).is_dir():
            found = "a single Delta table"
        elif store.is_local and store.path.is_dir():
            found = "a folder that is no lake" if any(store.path.iterdir()) else "an empty folder"
        else:
            found = "nothing"
        raise NotFound(
            f"lake {store.root}",
            expected="a codelake lake",
            found=found,
            do="Name one with --lake, or make one there: `codelake build`.",
        )
    return Lake(store, spark, lock_timeout=lock_timeout)


def _marked(store: Store) -> bool:
    if store.is_local:
        return (store.path / MARKER).is_file()
    try:
        return bool(_filesystem(store).get_file_info(MARKER).type == pafs.FileType.File)
    except OSError as error:
        lines = [line.strip(" :.") for line in _DRAWN.sub("", str(error)).splitlines() if line.strip()]
        raise Unavailable(
            f"lake {store.root}",
            expected="a store that can be reached",
            found=": ".join(dict.fromkeys((lines[0], lines[-1]))),
            do="See the setting `store`: `codelake config show`.",
        ) from error


def _refuse_bad_place(path: Path) -> None:
    """A lake lies in a folder of its own: not in another lake, not in a table, not around other files."""
    for above in path.parents:
        if (above / MARKER).is_file():
            raise Refused(f"lake {path}", expected="a place outside other lakes", found=f"the lake {above}")
        if (above / LOG).is_dir():
            raise Refused(f"lake {path}", expected="a place outside tables", found=f"the Delta table {above}")
    if path.exists() and not path.is_dir():
        raise Refused(f"lake {path}", expected="a folder", found="a file")
    if path.is_dir() and os.access(path, os.R_OK):
        inside = next(path.iterdir(), None)
        if inside is not None:
            raise Refused(
                f"lake {path}",
                expected="a new or empty folder",
                found=f"{inside.name} in it",
                do="A lake owns its folder; name another with --lake.",
            )


def _filesystem(store: Store) -> pafs.PyFileSystem:
    if store.is_local:
        return pafs.SubTreeFileSystem(str(store.path), pafs.LocalFileSystem())
    return pafs.PyFileSystem(DeltaStorageHandler(store.uri(), store.deltalake_options() or None))
