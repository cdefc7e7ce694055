"""Python repositories as a code property graph in a lake of Delta tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from codelake.query.engine import Limits
    from codelake.query.lake import OpenLake

__version__ = "0.1.0"


def open(
    root: str | Path | None = None,
    *,
    at: str | datetime | None = None,
    since: str | datetime | None = None,
    limits: Limits | None = None,
) -> OpenLake:
    """A lake for questions, at its last published run or at the one that `at` means. Spark is not loaded.

    `root` is a folder or URI; without it, what the settings say. `at` is a run, its number (-1: the last), a git
    revision that was built, TABLE=VERSION or a time. `since`, of the same forms, is an earlier run to compare with in
    SQL. `limits` bounds what one text of SQL may take.
    """
    # Only here: `import codelake` is done by everything, and a store is reached as the settings say.
    from codelake.delta.store import Store
    from codelake.query.lake import OpenLake
    from codelake.settings import load

    said = load({"lake": None if root is None else str(root)})
    store = Store(said.lake, options=said.store, log_options=said.log_store, local_only=said.local_only)
    return OpenLake(store, at=at, since=since, limits=limits)
