"""Rows of all tables, packed: one row with one binary column a table, each a stream of Arrow.

The graph of a file is ten times what its evidence is, and is read once for each table. As nested columns the JVM would
make rows of it before it stores it, and again when it reads it; packed, it only keeps bytes, which are compressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_EDGES, CPG_NODES, RENDERED

_SCHEMA = pa.schema([pa.field(table.name, pa.binary()) for table in RENDERED])
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
_SORTED_BY = {CPG_NODES.name: "node_id", CPG_EDGES.name: "src"}
"""What is looked up by them lies together: a reader skips the other pages of a file."""
_ROWS, _ROW_BYTES = 20_000, 1 << 10
"""Rows that the JVM is given at a time: some megabytes, and fewer rows where they have more bytes than that."""


def packed(rows: Mapping[str, Iterable[pa.RecordBatch]]) -> pa.RecordBatch:
    """From rows by table."""
    columns = []
    for table in RENDERED:
        found = [batch for batch in rows.get(table.name, ()) if batch.num_rows]
        stream = _stream(_sorted(pa.Table.from_batches(found, arrow_schema(table)), _SORTED_BY.get(table.name)))
        ends = pa.array([0, stream.size], pa.int32()).buffers()[1]
        columns.append(pa.Array.from_buffers(pa.binary(), 1, [None, ends, stream]))
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _sorted(rows: pa.Table, column: str | None) -> pa.Table:
    whole = rows.combine_chunks()
    return whole if column is None else whole.take(pc.sort_indices(whole.column(column)))


def _stream(rows: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    whole = rows.combine_chunks()
    at_once = min(_ROWS, max(1, _ROWS * _ROW_BYTES * whole.num_rows // max(whole.nbytes, 1)))
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        for batch in whole.to_batches(max_chunksize=at_once):
            writer.write_batch(batch)
    return sink.getvalue()


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From one of the columns, alone, to the rows of its table."""
    for batch in batches:
        for value in batch.column(0):
            with pa.ipc.open_stream(value.as_buffer()) as stream:
                yield from stream
