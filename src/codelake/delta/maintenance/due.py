"""What a table is due for, by its contract's upkeep, and why. Reads logs and lists folders; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from codelake.contracts.table import Table
from codelake.delta.checks.stored import Stored
from codelake.delta.log import Log
from codelake.delta.maintenance.log_cleanup import expired_entries
from codelake.delta.maintenance.needed import needed, retention
from codelake.delta.maintenance.optimize import candidates
from codelake.delta.maintenance.vacuum import expired_files
from codelake.delta.run import Run


@dataclass(frozen=True)
class Due:
    table: str
    operation: str
    reason: str


def due(run: Run, table: Table) -> list[Due]:
    """In the order in which it is to be done."""
    lake = run.lake
    log = lake.log(table.name)
    since = datetime.now(UTC) - retention(lake, table.name)
    wanted = needed(run, table.name, since)
    stored = Stored(lake.store, table.name)
    found = []
    if reasons := list(optimize_reasons(log, table)):
        found.append(Due(table.name, "optimize", "; ".join(reasons)))
    if log.n_entries_since_checkpoint >= table.upkeep.checkpoint_entries:
        found.append(Due(table.name, "checkpoint", f"{log.n_entries_since_checkpoint} entries since the last one"))
    n_files = len(expired_files(stored, wanted, since))
    if n_files >= table.upkeep.vacuum_files:
        found.append(Due(table.name, "vacuum", f"{n_files} files that nothing needs"))
    n_entries = len(expired_entries(log, stored, wanted, since))
    if n_entries >= table.upkeep.cleanup_entries:
        found.append(Due(table.name, "cleanup-log", f"{n_entries} files of the log that nothing needs"))
    return found


def optimize_reasons(log: Log, table: Table) -> Iterator[str]:
    """Of the log alone."""
    small, n_vectors = candidates(log, table)
    if small >= table.upkeep.small_files:
        yield f"{small} files below {table.upkeep.small_bytes >> 20} MiB"
    if n_vectors >= table.upkeep.vector_files:
        yield f"{n_vectors} files with deletion vectors"
    stored_rows = sum(n or 0 for n in log.files.column("num_records").to_pylist()) if log.files.num_rows else 0
    deleted = stored_rows - (log.n_rows or 0)
    if deleted >= max(table.upkeep.deleted_rows, table.upkeep.deleted_share * stored_rows, 1):
        yield f"{deleted} of {stored_rows} rows are deleted by vectors"
