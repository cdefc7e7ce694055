"""A snapshot of a table, copied out of the lake as Parquet files or as a Delta table, with a manifest that says what
was copied. Whoever has the copy can verify it without the lake."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, convert_to_deltalake

from codelake.delta.digest import Digest, digest_of, embedded_digest
from codelake.delta.embedded import batches
from codelake.delta.log import Log
from codelake.delta.plain import plain_schema
from codelake.errors import Damaged, NotFound, Refused

Format = Literal["parquet", "delta"]
MANIFEST = "_export.json"
_FILE_ROWS = 1_000_000


@dataclass(frozen=True)
class Exported:
    table: str
    version: int
    table_uuid: str
    format: str
    exported_at: str
    n_rows: int
    digest: str
    schema: list[dict[str, Any]]
    """The columns as Delta's log spells them."""
    files: list[dict[str, Any]]
    """path, n_rows, n_bytes and sha256 of each data file."""


def export_table(log: Log, target: Path, *, format: Format = "parquet") -> Exported:
    """Into a folder that is not there yet. It appears when all of it is written."""
    if target.exists():
        raise Refused(f"export of {log.name}", expected="a folder that is not there yet", found=target)
    log.require_files()
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
    partial.mkdir(parents=True)
    files = list(_written(log, partial))
    if format == "delta":
        convert_to_deltalake(str(partial))
    found = _digest(partial, format)
    stored = embedded_digest(log)
    if found != stored:
        raise Damaged(f"export of {log.name}, version {log.version}", expected=f"digest {stored}", found=found)
    done = Exported(
        table=log.name,
        version=log.version,
        table_uuid=log.table_uuid,
        format=format,
        exported_at=datetime.now(UTC).isoformat(),
        n_rows=found.n_rows,
        digest=str(found),
        schema=log.fields,
        files=files,
    )
    (partial / MANIFEST).write_text(json.dumps(asdict(done), indent=2))
    partial.rename(target)
    return done


def verify_export(target: Path) -> Exported:
    """Every file is there as it was written, and the rows have the digest that the table's had."""
    try:
        said = Exported(**json.loads((target / MANIFEST).read_text()))
        sums = {str(file["path"]): str(file["sha256"]) for file in said.files}
    except FileNotFoundError as error:
        raise NotFound(f"export {target}", expected=f"a folder with {MANIFEST}", found="none") from error
    except (ValueError, TypeError, KeyError) as error:
        raise Damaged(f"export {target}, {MANIFEST}", expected="a manifest", found=error) from error
    for name, expected in sums.items():
        path = target / name
        found = _sha256(path) if path.is_file() else "no such file"
        if found != expected:
            raise Damaged(f"export {target}, {name}", expected=f"sha256 {expected}", found=found)
    digest = _digest(target, said.format)
    if str(digest) != said.digest:
        raise Damaged(f"export {target}", expected=f"rows with the digest {said.digest}", found=digest)
    return said


def _written(log: Log, folder: Path) -> Iterator[dict[str, Any]]:
    schema: pa.Schema | None = None
    writer: pq.ParquetWriter | None = None
    path, n_rows, n_files = folder, 0, 0
    for batch in batches({"rows": log.delta_table}, "SELECT * FROM rows"):
        schema = schema or plain_schema(batch.schema)
        if writer is None:
            path, n_rows, n_files = folder / f"part-{n_files:05}.zstd.parquet", 0, n_files + 1
            writer = pq.ParquetWriter(path, schema, compression="zstd")
        writer.write_batch(batch.cast(schema))
        n_rows += batch.num_rows
        if n_rows >= _FILE_ROWS:
            writer.close()
            writer = None
            yield _file(folder, path, n_rows)
    if writer is not None:
        writer.close()
        yield _file(folder, path, n_rows)
    elif n_files == 0:  # a table without rows still has columns
        path = folder / "part-00000.zstd.parquet"
        pq.write_table(pa.schema(log.delta_table.schema().to_arrow()).empty_table(), path, compression="zstd")
        yield _file(folder, path, 0)


def _file(folder: Path, path: Path, n_rows: int) -> dict[str, Any]:
    return {
        "path": str(path.relative_to(folder)),
        "n_rows": n_rows,
        "n_bytes": path.stat().st_size,
        "sha256": _sha256(path),
    }


def _digest(folder: Path, format: str) -> Digest:
    if format == "delta":
        return digest_of(batches({"rows": DeltaTable(folder)}, "SELECT * FROM rows"))
    return digest_of(b for path in sorted(folder.glob("*.parquet")) for b in pq.ParquetFile(path).iter_batches())


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
