"""Evidence and links of a file, which come as rows behind each other, as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

_OF_LINKS = "link_"


def joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of links have no `file_id`. A batch may end between the two rows of a file."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        rows = pa.concat_batches([*waiting, batch])
        n = rows.num_rows - int(rows.num_rows > 0 and bool(_is_evidence(rows)[-1]))
        waiting = [rows.slice(n)]
        yield _joined(rows.slice(0, n))
    yield from map(_joined, waiting)


def _joined(rows: pa.RecordBatch) -> pa.RecordBatch:
    is_evidence = _is_evidence(rows)
    of_evidence = np.flatnonzero(is_evidence)
    behind = of_evidence + 1
    has_links = np.append(~is_evidence, False)[behind]
    of_links = pa.array(behind, pa.int64(), mask=~has_links)
    columns = [
        column.take(of_links) if name.startswith(_OF_LINKS) else column.take(pa.array(of_evidence))
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _is_evidence(rows: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = rows.column("file_id").is_valid().to_numpy(zero_copy_only=False)
    return found
