"""The digest of rows: the same in whatever order, files and batches; another for whatever is another row."""

from __future__ import annotations

import pyarrow as pa
import pytest

from codelake.delta.digest import digest_of

ROWS = pa.table({"id": [1, 2, None], "name": ["a", "", None], "tags": [["x"], [], None], "at": [1.5, -0.0, None]})


def of(rows: pa.Table, size: int = 100) -> str:
    return str(digest_of(rows.to_batches(max_chunksize=size)))


def test_order_batches_and_columns_do_not_matter() -> None:
    whole = of(ROWS)
    assert of(ROWS, 1) == of(ROWS.take([2, 0, 1])) == of(ROWS.select(["at", "tags", "name", "id"])) == whole
    assert of(ROWS.append_column("more", pa.nulls(3, pa.string()))) == whole, "a column that was added"
    assert of(ROWS.set_column(0, "id", ROWS.column("id").cast(pa.int32()))) == whole


@pytest.mark.parametrize(
    "other",
    [
        ROWS.slice(1),
        pa.concat_tables([ROWS, ROWS.slice(0, 1)]),
        ROWS.set_column(0, "id", pa.array([2, 1, None])),
        ROWS.set_column(1, "name", pa.array(["a", None, None])),
        ROWS.set_column(2, "tags", pa.array([["x"], None, []])),
        ROWS.rename_columns(["id", "title", "tags", "at"]),
    ],
)
def test_other_rows(other: pa.Table) -> None:
    assert of(other) != of(ROWS)
