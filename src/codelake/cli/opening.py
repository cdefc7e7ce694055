"""The lake that the settings name: opened for its logs alone, or with a Spark session that works on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codelake.cli.options import settings

# deltalake, Arrow and Spark take longer to import than most commands to run: only who opens a lake loads them.
if TYPE_CHECKING:
    from codelake.delta.lake import Lake
    from codelake.delta.store import Store


def lake_without_session() -> Lake:
    from codelake.delta.lake import open_lake

    return open_lake(_store(), lock_timeout=settings().lock_timeout)


@contextmanager
def lake_with_session() -> Iterator[Lake]:
    from codelake.delta.lake import open_lake
    from codelake.session import opened

    store = _store()
    open_lake(store)  # a lake that is not there is said before a session starts
    with opened(settings(), store.hadoop_conf()) as spark:
        yield open_lake(store, spark, lock_timeout=settings().lock_timeout)


def _store() -> Store:
    from codelake.delta.store import Store

    current = settings()
    return Store(current.lake, options=current.store, log_options=current.log_store, local_only=current.local_only)
