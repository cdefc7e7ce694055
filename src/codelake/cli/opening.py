"""The lake that the settings name: opened for its logs alone, or with a Spark session that works on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from codelake.cli.options import settings
from codelake.errors import NotFound

# deltalake, Arrow and Spark take longer to import than most commands to run: only who opens a lake loads them.
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from codelake.delta.lake import Lake, Starting
    from codelake.delta.store import Store
    from codelake.pipeline.progress import Progress
    from codelake.settings import Settings


def lake_without_session() -> Lake:
    from codelake.delta.lake import open_lake

    return open_lake(_store(), lock_timeout=settings().lock_timeout)


def require_table(lake: Lake, name: str) -> None:
    there = lake.table_names()
    if name not in there:
        raise NotFound(f"table {name}", expected=f"one of {', '.join(there)}", found="no such table")


@contextmanager
def lake_with_session() -> Iterator[Lake]:
    from codelake.delta.lake import open_lake
    from codelake.session import opened

    store = _store()
    open_lake(store)  # a lake that is not there is said before a session starts
    with opened(settings(), store.hadoop_conf()) as spark:
        yield open_lake(store, spark, lock_timeout=settings().lock_timeout)


def session_when_asked(
    until: ExitStack, current: Settings, store: Store, progress: Progress | None = None, *, thorough: bool = False
) -> Starting:
    """A session that is started when something asks for it, and ended with `until`. Many builds need none."""
    from codelake.delta.lake import Starting
    from codelake.session import opened

    def start() -> SparkSession:
        if progress is not None:
            progress.stage("session")
        return until.enter_context(opened(current, store.hadoop_conf(), thorough=thorough))

    return Starting(start)


def _store() -> Store:
    from codelake.delta.store import Store

    current = settings()
    return Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
