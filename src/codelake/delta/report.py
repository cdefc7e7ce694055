"""What a scan will read, said before it runs: candidates, what was pruned, bytes and rows."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow as pa

from codelake.delta.log import Log
from codelake.delta.skipping.candidates import candidates


@dataclass(frozen=True)
class ScanReport:
    table_name: str
    version: int
    filter: str | None
    n_files: int
    n_candidates: int
    n_pruned: int
    n_bytes: int
    """Bytes of the candidates."""
    n_rows: int | None
    """Rows of the candidates less deleted ones; None where a file does not say."""
    candidates: tuple[str, ...]
    """Paths as the log has them, relative to the table."""


def scan_report(log: Log, filter: str | None, *, zone: str = "UTC") -> ScanReport:
    """Which files a read of `log`'s version with `filter` touches. `zone` is the session's time zone."""
    files = log.files
    if filter is None:
        kept = [True] * files.num_rows
    else:
        kept = candidates(
            files,
            filter,
            log.fields,
            partition_columns=log.partition_columns,
            properties=log.properties,
            zone=zone,
        )
    chosen = files.filter(pa.array(kept, pa.bool_()))
    paths = tuple(chosen.column("path").to_pylist())
    sizes = chosen.column("size_bytes").to_pylist()
    return ScanReport(
        table_name=log.name,
        version=log.version,
        filter=filter,
        n_files=files.num_rows,
        n_candidates=len(paths),
        n_pruned=files.num_rows - len(paths),
        n_bytes=sum(sizes),
        n_rows=_n_rows(log, paths, chosen.column("num_records").to_pylist()),
        candidates=paths,
    )


def _n_rows(log: Log, paths: tuple[str, ...], records: list[int | None]) -> int | None:
    """Statistics count the rows in a file, deleted ones too."""
    total = 0
    for n in records:
        if n is None:
            return None
        total += n
    deleted = _deleted(log)
    return total - sum(deleted.get(_file_name(path), 0) for path in paths)


def _deleted(log: Log) -> dict[str, int]:
    """Rows that deletion vectors take away, by file name: the two sides escape paths differently."""
    if "deletionVectors" not in log.protocol[2]:
        return {}
    return {
        _file_name(row["filepath"]): len(row["selection_vector"]) - sum(row["selection_vector"])
        for row in log.deletion_vectors.to_pylist()
    }


def _file_name(path: str) -> str:
    return unquote(path.rsplit("/", 1)[-1])
