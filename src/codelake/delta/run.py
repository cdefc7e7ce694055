"""A run: the pins it reads at, and the rows that will say what it did.

Every table is pinned once per run. Whatever a run does to the lake leaves a row here, in memory; `record`
(codelake.delta.record) writes them at the end, one append per operations table.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from codelake.contracts.operations import SNAPSHOTS
from codelake.contracts.table import Table
from codelake.delta.features import check_protocol
from codelake.delta.lake import Lake
from codelake.delta.log import Log
from codelake.delta.moments import moment
from codelake.errors import PinUnavailable, UsageError

At = int | str | datetime | None
"""What a pin is resolved from: a version, a time (ISO 8601 text or datetime), or None for the newest."""


@dataclass(frozen=True)
class Pin:
    """The exact version of a table that a run reads."""

    table: str
    version: int
    table_uuid: str
    committed_at: datetime
    features: tuple[str, ...]


@dataclass(frozen=True)
class Txn:
    """What makes a commit idempotent: a stable application id and a version that grows with every run."""

    app: str
    version: int


@dataclass
class Run:
    lake: Lake
    run_id: str
    stage: str = ""
    pipeline: str = "lake"
    number: int = field(default_factory=lambda: time.time_ns() // 1_000)
    """Grows from run to run of a pipeline; a run that is submitted again has the number it had."""
    pins: dict[str, Pin] = field(default_factory=dict)
    logs: dict[tuple[str, int], Log] = field(default_factory=dict, repr=False)
    """Of versions that were pinned: what is known of one stays the same."""
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if not self.run_id:
            raise UsageError("run", expected="a run id", found="an empty one")

    def note(self, table: Table, **values: Any) -> None:
        """Keep a row of an operations table until the run is recorded."""
        with self._guard:
            self.rows.setdefault(table.name, []).append(
                {"run_id": self.run_id, "recorded_at": datetime.now(UTC), **values}
            )

    @property
    def txn(self) -> Txn:
        """For a stage's one commit to a table in this run."""
        return Txn(f"{self.pipeline}/{self.stage}", self.number)

    @property
    def pinned_versions(self) -> Mapping[str, int]:
        return {name: pin.version for name, pin in sorted(self.pins.items())}


def new_run_id() -> str:
    """Sorts by time, to the millisecond: small builds follow each other within a second."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}-{now.microsecond // 1000:03x}{uuid.uuid4().hex[:5]}"


def pin(run: Run, table: Table | str, *, at: At = None) -> Pin:
    """The version of the table that this run reads, resolved at the first call and the same ever after."""
    name = table if isinstance(table, str) else table.name
    if name in run.pins:
        found = run.pins[name]
        if isinstance(at, int) and at != found.version:
            raise UsageError(
                f"run {run.run_id}, table {name}",
                expected=f"the version it is pinned at, {found.version}",
                found=at,
                do="A run reads one version of a table; start another run for another version.",
            )
        return found
    log = resolved(run.lake, name, at)
    found = pinned(log)
    run.pins[name], run.logs[name, found.version] = found, log
    if any((row["table_name"], row["version"]) == (name, found.version) for row in run.rows.get(SNAPSHOTS.name, ())):
        return found  # pinned before, and again after others had published
    n_rows = log.n_rows
    protocol = check_protocol(log, write=False)
    run.note(
        SNAPSHOTS,
        table_name=name,
        version=found.version,
        committed_at=found.committed_at,
        asked="latest" if at is None else (f"version {at}" if isinstance(at, int) else f"time {at}"),
        table_uuid=found.table_uuid,
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        features=list(protocol.features),
        n_files=log.files.num_rows,
        n_bytes=log.n_bytes,
        n_rows=n_rows,
    )
    return found


def pinned_log(run: Run, table: Table | str) -> Log:
    """The log of the table at the version that the run reads."""
    found = pin(run, table)
    return run.logs[found.table, found.version]


def advance(run: Run, table: Table | str, version: int) -> Pin:
    """From here on the run reads what it has itself committed to the table."""
    name = table if isinstance(table, str) else table.name
    run.pins.pop(name, None)
    return pin(run, name, at=version)


def resolved(lake: Lake, name: str, at: At) -> Log:
    """The table's log, opened at what `at` means."""
    newest = lake.log(name)
    if at is None:
        return newest
    version = at if isinstance(at, int) else newest.at_time(_moment(at))
    if version > newest.version or version < 0:
        raise PinUnavailable(
            f"table {name}, version {version}",
            expected=f"a version up to {newest.version}",
            found="none such",
            do=f"`codelake tables {name}` lists them.",
        )
    return newest if version == newest.version else lake.log(name, version=version)


def pinned(log: Log) -> Pin:
    commit = log.commit(log.version)
    return Pin(
        table=log.name,
        version=log.version,
        table_uuid=log.table_uuid,
        committed_at=commit.timestamp if commit else datetime.fromtimestamp(0, UTC),
        features=log.protocol[2],
    )


def _moment(at: str | datetime) -> datetime:
    if isinstance(at, datetime):
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    if (said := moment(at)) is None:
        raise UsageError("time of a pin", expected="ISO 8601, such as 2026-01-31T12:00:00", found=at)
    return said
