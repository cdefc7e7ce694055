"""A Parquet dataset: its files with their footers and partition values, and those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from codelake.errors import NotFound

_ENDINGS = (".parquet", ".parq", ".pq")
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class SourceFile:
    path: str
    """Below the source, with / between folders."""
    n_bytes: int
    modified_at: datetime
    partition: dict[str, str | None] = field(default_factory=dict)
    schema: pa.Schema | None = None
    n_rows: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Source:
    root: Path
    files: tuple[SourceFile, ...]

    def open(self, file: SourceFile) -> pq.ParquetFile:
        return pq.ParquetFile(self.root / file.path if self.root.is_dir() else self.root)

    @property
    def unreadable(self) -> list[SourceFile]:
        return [file for file in self.files if file.problem]


def open_source(root: Path) -> Source:
    """A folder with all below it, or a single file. Names with `_` or `.` in front are not data, as Spark has it."""
    if not root.exists():
        raise NotFound(f"Parquet dataset {root}", expected="a folder or a file", found="nothing")
    if root.is_file():
        return Source(root, (_file(root, root.name),))
    paths = sorted(p for p in root.rglob("*") if p.is_file() and p.suffix in _ENDINGS)
    names = [p.relative_to(root) for p in paths]
    found = [_file(root / n, n.as_posix()) for n in names if not any(_is_hidden(part) for part in n.parts)]
    if not found:
        raise NotFound(f"Parquet dataset {root}", expected=f"files that end with {', '.join(_ENDINGS)}", found="none")
    # in the order they came, so that what comes later forms later batches
    return Source(root, tuple(sorted(found, key=lambda f: (f.modified_at, f.path))))


def _file(path: Path, name: str) -> SourceFile:
    stat = path.stat()
    base = {
        "path": name,
        "n_bytes": stat.st_size,
        "modified_at": datetime.fromtimestamp(stat.st_mtime_ns // 1000 / 1_000_000, UTC),
        "partition": dict(_partition(name)),
    }
    try:
        parquet = pq.ParquetFile(path)
        return SourceFile(**base, schema=parquet.schema_arrow, n_rows=parquet.metadata.num_rows)  # type: ignore[arg-type]
    except (ValueError, OSError, NotImplementedError) as error:
        return SourceFile(**base, problem=str(error).splitlines()[0])  # type: ignore[arg-type]


def _partition(name: str) -> Iterator[tuple[str, str | None]]:
    for part in name.split("/")[:-1]:
        key, equals, value = part.partition("=")
        if equals:
            yield unquote(key), None if value == _NULL else unquote(value)


def _is_hidden(part: str) -> bool:
    return part.startswith((".", "_")) and "=" not in part
