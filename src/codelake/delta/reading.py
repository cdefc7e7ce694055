"""Tables at exact versions in deltalake's own engine, for questions that are answered without Spark.

Nothing here loads pyarrow: to import it takes longer than to answer. Results are Arrow all the same, as arro3 has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from arro3.core import DataType
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError, TableNotFoundError

from codelake.delta.store import Store
from codelake.errors import CodelakeError, Damaged, EngineFailed, PinUnavailable

if TYPE_CHECKING:
    from arro3.core import RecordBatchReader

_CONFIG = {
    # Rows are dropped while a file is decoded, the cheapest filter first: a point look-up takes a third of the time.
    "datafusion.execution.parquet.pushdown_filters": "true",
    "datafusion.execution.parquet.reorder_filters": "true",
    # The catalogue of functions is read from there.
    "datafusion.catalog.information_schema": "true",
}


class Checksum(NamedTuple):
    """Of a version, by what Spark writes beside its entry."""

    n_files: int
    n_bytes: int
    n_vectors: int
    """Files of which rows are deleted."""


_GONE = re.compile(r"(?:Object at location|File not found:) (.+?\.(?:parquet|bin))")
"""How the engine says that a data file, or the file of a deletion vector, is not there."""


class Reader:
    """The engine with the tables of one lake. A table is known to it once it is registered."""

    def __init__(self, store: Store, *, memory: str = "") -> None:
        """`memory` is what all queries of this reader may hold, such as `1G`."""
        self.store = store
        self._engine = QueryBuilder(_CONFIG)
        self._registered: dict[str, DeltaTable] = {}
        self._with_vectors: set[str] = set()
        if memory:
            # Without this, what does not fit would go to disk, and a query that never ends would fill it.
            self.execute("SET datafusion.runtime.max_temp_directory_size = '0'")
            self.execute(f"SET datafusion.runtime.memory_limit = '{memory}'")

    def register(self, name: str, *, version: int | None = None, known_as: str = "") -> int:
        """The table at `version`, or at its newest; by another name if one is given. Returns the version that the
        reader has of it: a name that it knows already keeps its version."""
        if (as_name := known_as or name) in self._registered:
            return int(self._registered[as_name].version())
        try:
            table = DeltaTable(
                self.store.uri(name), version=version, storage_options=self.store.deltalake_options() or None
            )
        except (DeltaError, TableNotFoundError, OSError) as error:
            raise self._why(name, version) from error
        said = self._checksum(name, int(table.version()))
        refuse_unsound(name, table, said)
        if said and said.n_vectors:
            self._with_vectors.add(as_name)
        self._engine.register(as_name, table)
        self._registered[as_name] = table
        return int(table.version())

    def reads_whole(self, name: str) -> bool:
        """Whether files of a table are decoded as a whole, whatever the condition: so does deltalake once one of those
        that are left has a deletion vector. False where it is not known."""
        return name in self._with_vectors

    def _checksum(self, name: str, version: int) -> Checksum | None:
        """On a local disk, where it costs next to nothing to look. Elsewhere it is left to `codelake check`."""
        if not self.store.is_local:
            return None
        try:
            return checksum_of((self.store.path / name / "_delta_log" / f"{version:020}.crc").read_bytes())
        except FileNotFoundError:
            return None

    def greatest(self, name: str, column: str) -> str:
        """A condition that the rows with the greatest value of a column of times fulfil, and as few others as the
        files' statistics tell: what was appended last is read, not all that was appended before."""
        actions = self._registered[name].get_add_actions(flatten=True)
        if f"min.{column}" not in actions.schema.names:
            return "true"
        # As numbers: for a time with its zone Python looks for data of zones, longer than it takes to open a table.
        least = actions.column(f"min.{column}").cast(DataType.int64()).to_pylist()
        if len(least) < 2 or None in least:
            return "true"
        return f"{column} >= to_timestamp_micros({max(least)})"

    def define(self, name: str, sql: str) -> None:
        """A view over what is registered."""
        self.execute(f'CREATE OR REPLACE VIEW "{name}" AS {sql}')

    def execute(self, sql: str) -> RecordBatchReader:
        """Rows as they come. Whoever iterates does so within `engine_failures`."""
        with engine_failures():
            return self._engine.execute(sql)

    def _why(self, name: str, version: int | None) -> CodelakeError:
        # Only now: what reads a log entry by entry, to say what is wrong with it, loads pyarrow.
        from codelake.delta.lake import open_lake

        try:
            open_lake(self.store).log(name, version=version)
        except CodelakeError as error:
            return error
        return PinUnavailable(f"table {name}", expected="a table that can be opened", found="one that changes")


class engine_failures:
    """What the engine raises as one of codelake's errors. It raises plain `Exception` too, of no narrower class, and a
    panic of its own, which is no `Exception`."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None:
            return
        if kind is Exception or issubclass(kind, DeltaError) or kind.__name__ == "PanicException":
            raise failure(error) from error


def failure(error: BaseException) -> PinUnavailable | EngineFailed:
    """What the engine could not do, as one of codelake's errors."""
    if gone := _GONE.search(str(error)):
        return PinUnavailable(
            f"file {gone[1]}",
            expected="the file, which is part of the version that is read",
            found="none",
            do="It was vacuumed since the lake was opened: open it again. If that does not help it was lost, see "
            "`codelake check`.",
        )
    return EngineFailed(said(error))


def said(error: BaseException) -> str:
    """In one line. The engine puts what it was doing first, and the reason last."""
    reason = str(error).rpartition("caused by\n")[2].strip().partition("\n")[0]
    return reason.removeprefix("External error: ").removeprefix("Arrow error: ") or type(error).__name__


def checksum_of(raw: bytes) -> Checksum | None:
    """None where there is nothing that can be read."""
    try:
        found = json.loads(raw)
        n_vectors = int(found.get("numDeletionVectorsOpt") or 0)
        return Checksum(int(found["numFiles"]), int(found["tableSizeBytes"]), n_vectors)
    except (ValueError, KeyError, TypeError):
        return None  # engines do without it; `codelake table check` names it


def refuse_unsound(name: str, table: DeltaTable, said: Checksum | None) -> None:
    """A path that leaves the table's folder is refused here, before any engine follows it; so is a version that does
    not add up to the checksum beside its entry, because an entry that lost a line would be read in silence."""
    files = table.get_add_actions(flatten=True)
    paths, sizes = files.column("path").to_pylist(), files.column("size_bytes").to_pylist()
    found = len(sizes), sum(sizes)
    if said is not None and said[:2] != found:
        raise Damaged(
            f"table {name}, version {table.version()}",
            expected=f"{said[0]} files of {said[1]} bytes, as its checksum says",
            found=f"{found[0]} files of {found[1]} bytes",
            do="Nothing was read. See `codelake table check`.",
        )
    for path in paths:
        if "://" in path or path.startswith(("/", "file:")) or ".." in path.split("/"):
            raise Damaged(
                f"table {name}, version {table.version()}",
                expected="data files below the table's own folder",
                found=path,
                do="Nothing was read. Export the clone's rows into a table of their own.",
            )


def text(value: str) -> str:
    """A text in the SQL of that engine, which knows no escapes but doubled quotes."""
    return "'" + value.replace("'", "''") + "'"


def among(column: str, values: Iterable[str]) -> str:
    """A condition: `column` has one of the values."""
    listed = ", ".join(map(text, values))
    return f"{column} IN ({listed})" if listed else "false"


def any_of(conditions: Sequence[str]) -> str:
    """A condition: one of these holds. As a tree: engines go down a chain of ORs to its end, and ten thousand of them
    are more than a stack holds."""
    if len(conditions) < 2:
        return conditions[0] if conditions else "false"
    half = len(conditions) // 2
    return f"({any_of(conditions[:half])} OR {any_of(conditions[half:])})"
