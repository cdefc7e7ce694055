"""The engine: texts in, rows out, over the tables of one published run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from codelake.delta.reading import Reader, engine_failures, failure
from codelake.errors import CodelakeError, LimitReached, NotFound, UsageError
from codelake.query.published import PublishedRun
from codelake.query.rows import Row, rows_of

if TYPE_CHECKING:
    import pyarrow
    from arro3.core import RecordBatchReader


LOOKED_UP = ("cpg_nodes", "cpg_edges", "cpg_edges_by_dst", "calls")
"""Tables that most questions read and no others: who asks only of these does not wait for all contracts to be loaded,
which takes as long as to open a table."""
_SINCE = "Name one: --since RUN, or codelake.open(..., since=RUN)."


class Limits(NamedTuple):
    """What one query may take; 0 is no limit."""

    rows: int = 0
    seconds: float = 0
    memory: str = ""


class Asking(Protocol):
    """Who answers a text over named tables. Questions need no more: Spark can answer them as well."""

    def ask(self, sql: str, *names: str) -> list[Row]: ...

    def reads_whole(self, name: str) -> bool:
        """Whether all columns that a text names are decoded of all rows of a file, whatever its condition: then it is
        worth while to find out first where the rows lie."""


class Result(NamedTuple):
    table: pyarrow.Table
    is_cut: bool
    """There were more rows than the limit."""


class Engine:
    """Opens a table when it is first named, at the version that the run published."""

    def __init__(
        self, reader: Reader, run: PublishedRun, limits: Limits | None = None, *, before: PublishedRun | None = None
    ) -> None:
        """With `before`, an earlier run's tables are there too: `before_cpg_nodes` and so on."""
        self.run = run
        self.before = before
        self.limits = limits or Limits()
        self._reader = reader
        self._open: set[str] = set()

    def ask(self, sql: str, *names: str) -> list[Row]:
        """All rows of a text that is codelake's own."""
        self.open(names)
        with engine_failures():
            return list(rows_of(self._reader.execute(sql).read_all()))

    def reads_whole(self, name: str) -> bool:
        self.open([name])
        return self._reader.reads_whole(name)

    def stream(self, sql: str, *names: str) -> RecordBatchReader:
        """Rows as they come: memory stays flat, however many there are."""
        self.open(names)
        return self._reader.execute(sql)

    def result(self, sql: str, names: Iterable[str]) -> Result:
        """Rows of anybody's text, within the limits."""
        self.open(names)
        return _within(self.limits.seconds, lambda: self._collected(sql))

    def open(self, names: Iterable[str]) -> None:
        """Names of tables and views become known to the engine, and what the views are made of before them."""
        for name in names:
            if name not in self._open:
                if name in LOOKED_UP:
                    self._reader.register(name, version=_published(name, self.run))
                else:
                    self._open_known(name)
                self._open.add(name)

    def _open_known(self, name: str) -> None:
        from codelake.query.catalogue import known  # see LOOKED_UP

        found = known(name)
        if found.before:
            version = _published(found.before, self._earlier(name))
            self._reader.register(found.before, version=version, known_as=name)
        elif found.sql:
            self.open(found.needs)
            self._reader.define(name, found.sql)
        else:
            self._reader.register(name, version=None if found.is_operations else _published(name, self.run))

    def _earlier(self, name: str) -> PublishedRun:
        if self.before is None:
            raise UsageError(f"table {name}", expected="an earlier run to compare with", found="none", do=_SINCE)
        return self.before

    def _collected(self, sql: str) -> Result:
        import pyarrow as pa

        from codelake.delta.plain import plain

        batches, n = [], 0
        # Read by pyarrow, which lets other threads run meanwhile; arro3 does not, and no clock would be looked at.
        reader = pa.RecordBatchReader.from_stream(self._reader.execute(sql))
        for batch in reader:
            batches.append(batch)
            n += batch.num_rows
            if self.limits.rows and n > self.limits.rows:
                break
        table = plain(pa.Table.from_batches(batches, schema=reader.schema))
        is_cut = bool(self.limits.rows) and n > self.limits.rows
        return Result(table.slice(0, self.limits.rows) if is_cut else table, is_cut)


def _published(name: str, run: PublishedRun) -> int:
    if name not in run.versions:
        raise NotFound(
            f"table {name}",
            expected=f"one of those that run {run.run_id} published: {', '.join(sorted(run.versions))}",
            found="none: it was made later",
            do="Ask a newer run.",
        )
    return run.versions[name]


def _within(seconds: float, work: Callable[[], Result]) -> Result:
    """In a thread of its own, since the engine does not look at a clock. A query that is given up runs on until the
    process ends."""
    import pyarrow as pa

    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except (CodelakeError, pa.ArrowException, OSError) as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds or None)
    if thread.is_alive():
        raise LimitReached(
            f"the query took more than {seconds:g} seconds",
            do="Ask for less (a WHERE, a smaller table), or give it more time with --seconds.",
        )
    if failed:
        raise _failure(failed[0]) from failed[0]
    return done[0]


_NO_MEMORY = ("Resources exhausted", "memory pool", "max_temp_directory_size")


def _failure(error: BaseException) -> CodelakeError:
    if any(sign in str(error) for sign in _NO_MEMORY):
        return LimitReached(
            "the query needs more memory than it may take",
            do="Ask for less (a WHERE, fewer columns), or give it more with --memory.",
        )
    return error if isinstance(error, CodelakeError) else failure(error)
