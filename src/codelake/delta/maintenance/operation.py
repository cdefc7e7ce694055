"""The one function through which a table is looked after: it holds the table's lock, and leaves a row that says what
was done, why, and from which version to which."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from codelake.contracts.operations import MAINTENANCE
from codelake.delta.run import Run

ASKED = "asked"


@dataclass
class Maintained:
    """What an operation did to a table, or in a dry run would do."""

    table: str
    operation: str
    reason: str
    from_version: int
    version: int
    is_dry_run: bool
    options: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, int] = field(default_factory=dict)
    touched: list[str] = field(default_factory=list)
    """Files, as far as it is worth naming them; not part of the row."""


@contextmanager
def maintained(
    run: Run,
    name: str,
    operation: str,
    *,
    reason: str = ASKED,
    dry_run: bool = False,
    options: Mapping[str, str] | None = None,
) -> Iterator[Maintained]:
    """Around an operation, which fills in `metrics`. A dry run takes no lock and leaves no row."""
    started = time.monotonic()
    if dry_run:
        before = run.lake.log(name).version
        yield Maintained(name, operation, reason, before, before, True, dict(options or {}))
        return
    with run.lake.writing(name):
        before = run.lake.log(name).version
        done = Maintained(name, operation, reason, before, before, False, dict(options or {}))
        yield done
        done.version = run.lake.log(name).version
    run.note(
        MAINTENANCE,
        table_name=name,
        operation=operation,
        reason=reason,
        from_version=done.from_version,
        version=done.version,
        options=done.options,
        metrics=done.metrics,
        duration_ms=int((time.monotonic() - started) * 1000),
    )
