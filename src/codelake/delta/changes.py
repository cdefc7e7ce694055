"""The change feed: what happened to a table between two versions, and how far each reader has come.

A reader's cursor lies in the commit that used what was read: it moves with the downstream commit or not at
all, so that a run killed in between reads the same window again and nothing is skipped or doubled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.operations import SCANS
from codelake.contracts.table import Table
from codelake.delta.engine import engine_errors
from codelake.delta.identity import newest_own_commit
from codelake.delta.log import Log
from codelake.delta.plain import plain
from codelake.delta.reading import engine_failures
from codelake.delta.run import Run, pin
from codelake.delta.schema import named
from codelake.errors import FeedUnavailable, PinUnavailable, UsageError

_ENABLED = "delta.enableChangeDataFeed"
CHANGE_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")


@dataclass(frozen=True)
class Window:
    """The versions whose changes are read: after `after`, up to and with `until`."""

    table: str
    after: int
    until: int

    @property
    def is_empty(self) -> bool:
        return self.after >= self.until


def cursor(run: Run, *, reader: str, source: Table, into: Table) -> int | None:
    """The last version of `source` that `reader` has brought into `into`; None if it has read nothing yet."""
    newest = newest_own_commit(run.lake.log(into.name))
    found = newest.own["cursors"].get(reader, {}).get(source.name) if newest else None
    return None if found is None else int(found)


def window(run: Run, source: Table, *, after: int) -> Window:
    """From a cursor to the run's pin."""
    until = pin(run, source).version
    if after > until:
        raise UsageError(
            f"change feed of {source.name}",
            expected=f"a cursor up to {until}, the run's pin",
            found=after,
            do="The table was made anew or restored: rebuild in full.",
        )
    return Window(source.name, after, until)


def changes(run: Run, source: Table, *, after: int, until: int | None = None) -> DataFrame:
    """Rows of the feed in the contract's columns, with what happened to each, in which version and when."""
    upto, _ = _window_read(run, source, after, until)
    return _by_spark(run, source, after, upto)


def _by_spark(run: Run, source: Table, after: int, upto: int) -> DataFrame:
    with engine_errors(f"change feed of {source.name}, versions {after + 1} to {upto}"):
        feed = (
            run.lake.session.read.format("delta")
            .option("readChangeFeed", "true")
            .option("startingVersion", after + 1)
            .option("endingVersion", upto)
            .load(run.lake.uri(source.name))
        )
        return feed.select(*(named(F.col(f"`{c.name}`"), c) for c in source.columns), *CHANGE_COLUMNS)


def changes_here(run: Run, source: Table, columns: Sequence[str], *, after: int) -> pa.Table:
    """Some columns of the feed up to the run's pin, with what happened to each row, read in this process as long as
    deltalake reads all of the window right."""
    upto, log = _window_read(run, source, after, None)
    names = [*columns, CHANGE_COLUMNS[0]]
    if misread(log, after + 1, upto) is not None:
        with engine_errors(f"change feed of {source.name}, versions {after + 1} to {upto}"):
            return _by_spark(run, source, after, upto).select(*names).toArrow()
    with engine_failures():
        return plain(pa.table(log.delta_table.load_cdf(after + 1, upto, columns=names).read_all()))


def _window_read(run: Run, source: Table, after: int, until: int | None) -> tuple[int, Log]:
    upto = pin(run, source).version if until is None else until
    log = run.lake.log(source.name)
    require_feed(log, after + 1, upto)
    run.note(
        SCANS,
        table_name=source.name,
        version=upto,
        stage=run.stage,
        filter=None,
        n_files=0,
        n_candidates=0,
        n_pruned=0,
        n_bytes=0,
        n_rows=None,
        from_version=after + 1,
        options={"feed": f"versions {after + 1} to {upto}"},
    )
    return upto, log


def require_feed(log: Log, first: int, last: int) -> None:
    """The window can be read in full, or the error says why not before anything is read."""
    if first > last:
        raise UsageError(f"change feed of {log.name}", expected="a window of versions", found=f"{first} to {last}")
    if last > log.version:
        raise PinUnavailable(
            f"change feed of {log.name}", expected=f"versions up to {log.version}", found=f"{first} to {last}"
        )
    way_out = "Rebuild in full: the changes in between can no longer be told."
    if first < log.versions.start:
        raise FeedUnavailable(
            f"change feed of {log.name}, versions {first} to {last}",
            expected=f"versions from {log.versions.start} on, which the log still has",
            found=f"version {first}, cleaned up",
            do=way_out,
        )
    # the property as it was in the first version, then each change of it within the window
    if Log(log.store, log.name, version=first).properties.get(_ENABLED) != "true":
        raise _not_enabled(log, first, way_out)
    for version in range(first + 1, last + 1):
        for action in log.actions(version):
            if "metaData" in action and action["metaData"].get("configuration", {}).get(_ENABLED) != "true":
                raise _not_enabled(log, version, way_out)
    _require_change_files(log, first, last, way_out)


def misread(log: Log, first: int, last: int) -> int | None:
    """The first version whose changes deltalake would tell wrong. Of a file that came or went with a deletion vector,
    as in a restore, it gives the rows that are deleted instead of the others."""
    return next((version for version in range(first, last + 1) if _is_misread(log.actions(version))), None)


def _is_misread(actions: Sequence[Mapping[str, Any]]) -> bool:
    if any("cdc" in action for action in actions):
        return False
    changed = [one[kind] for one in actions for kind in ("add", "remove") if one.get(kind, {}).get("dataChange")]
    paths = Counter(file["path"] for file in changed)
    return any(file.get("deletionVector") and paths[file["path"]] == 1 for file in changed)


def _not_enabled(log: Log, version: int, way_out: str) -> FeedUnavailable:
    return FeedUnavailable(
        f"change feed of {log.name}",
        expected=f"{_ENABLED} = true throughout the window",
        found=f"not enabled at version {version}",
        do=f"Enable it for later versions. {way_out}",
    )


def _require_change_files(log: Log, first: int, last: int, way_out: str) -> None:
    """Files that the feed is made of may have been vacuumed. On a local disk that is a `stat` a file."""
    if not log.store.is_local:
        return
    for version in range(first, last + 1):
        for path in log.feed_files(version):
            if not (log.store.path / log.name / path).exists():
                raise FeedUnavailable(
                    f"change feed of {log.name}, version {version}",
                    expected=f"the file {path}",
                    found="no such file: it was vacuumed",
                    do=way_out,
                )
