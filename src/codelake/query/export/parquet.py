"""Parquet: nodes.parquet and edges.parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from codelake.query.export.part import EDGE_COLUMNS, NODE_COLUMNS, Part
from codelake.query.rows import Row

_AT_ONCE = 32_768
"""Rows of a row group; the next ones are read while these are still held."""
_TYPES = {"start_line": "int32", "end_line": "int32", "start_byte": "int32", "end_byte": "int32", "confidence": "float"}


def write(out: Path, part: Part) -> None:
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "nodes.parquet", NODE_COLUMNS, part.nodes())
    _write(out / "edges.parquet", EDGE_COLUMNS, part.edges())


def _write(file: Path, columns: Sequence[str], rows: Iterator[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.type_for_alias(_TYPES.get(name, "string"))) for name in columns])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while some := list(islice(rows, _AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(some, schema=schema))
