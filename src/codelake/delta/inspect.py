"""What there is to know of a table without reading a row: from its log, no JVM needed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from codelake.contracts.table import Table
from codelake.delta.drift import Drift, drift
from codelake.delta.entries import Commit
from codelake.delta.lake import Lake
from codelake.delta.layout import SORTED_BY
from codelake.delta.log import Log


@dataclass(frozen=True)
class TableFacts:
    name: str
    version: int
    n_rows: int | None
    n_files: int
    n_bytes: int
    features: tuple[str, ...]
    changed_at: datetime | None
    sorted_by: str
    has_contract: bool
    drift: tuple[Drift, ...]


def table_facts(lake: Lake, name: str, contract: Table | None, *, version: int | None = None) -> TableFacts:
    log = lake.log(name, version=version)
    commit = log.commit(log.version)
    return TableFacts(
        name=name,
        version=log.version,
        n_rows=log.n_rows,
        n_files=log.files.num_rows,
        n_bytes=log.n_bytes,
        features=log.protocol[2],
        changed_at=commit.timestamp if commit else None,
        sorted_by=log.properties.get(SORTED_BY, ""),
        has_contract=contract is not None,
        drift=drift(contract, log) if contract else (),
    )


def history(log: Log, limit: int) -> list[Commit]:
    """The newest commits first."""
    found: list[Commit] = []
    for version in reversed(log.versions):
        if version > log.version:
            continue
        if len(found) == limit:
            break
        commit = log.commit(version)
        if commit:
            found.append(commit)
    return found
