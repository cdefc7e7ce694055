"""Evidence and links of a file are one row again, wherever batches end."""

from __future__ import annotations

import pyarrow as pa
import pytest

from codelake.graph.render.joined import joined

SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("file_id", pa.string()),
        ("nodes", pa.list_(pa.int32())),
        ("link_edges", pa.list_(pa.int32())),
    ]
)
ROWS = [
    {"path": "a", "file_id": "r:a", "nodes": [1, 2], "link_edges": None},
    {"path": "a", "file_id": None, "nodes": None, "link_edges": [7]},
    {"path": "b", "file_id": "r:b", "nodes": [3], "link_edges": None},
    {"path": "c", "file_id": "r:c", "nodes": [], "link_edges": None},
    {"path": "c", "file_id": None, "nodes": None, "link_edges": [8, 9]},
]
JOINED = [("a", [1, 2], [7]), ("b", [3], None), ("c", [], [8, 9])]
"""Of `b` no links are known."""


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_batch_may_end_between_the_two_rows_of_a_file(size: int) -> None:
    batches = [pa.RecordBatch.from_pylist(ROWS[at : at + size], SCHEMA) for at in range(0, len(ROWS), size)]
    found = [row for batch in joined(batches) for row in batch.to_pylist()]
    assert [(row["path"], row["nodes"], row["link_edges"]) for row in found] == JOINED
    assert [row["file_id"] for row in found] == ["r:a", "r:b", "r:c"]


def test_of_nothing_comes_nothing() -> None:
    assert list(joined([])) == []
