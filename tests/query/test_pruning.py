"""Point look-ups read the files that may have what is asked for, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import write_deltalake

from codelake.delta.reading import Reader
from codelake.delta.store import Store
from codelake.query.lake import Noted
from codelake.query.questions import callees, callers, find
from codelake.query.rows import Row, rows_of
from tests.query.conftest import Shop

LAID_OUT = {"cpg_nodes": "path", "cpg_edges": "path", "calls": "path", "cpg_edges_by_dst": "node_id"}
"""What a file of each table is a range of."""
_SCANNED = re.compile(r"files_opened=(\d+)")


class Counting:
    """Asks a lake without runs, and counts the files that are opened for it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.opened: list[tuple[str, int]] = []

    def ask(self, sql: str, *names: str) -> list[Row]:
        for name in names:
            self._reader.register(name)
        plan = self._reader.execute(f"EXPLAIN ANALYZE {sql}").read_all().column(1).to_pylist()
        self.opened.append((names[0], sum(map(int, _SCANNED.findall(" ".join(plan))))))
        return list(rows_of(self._reader.execute(sql).read_all()))

    def reads_whole(self, name: str) -> bool:
        return self._reader.reads_whole(name)


def parts(rows: pa.Table, column: str) -> Iterator[pa.Table]:
    for value in pc.unique(rows.column(column)).to_pylist():
        same = pc.equal(rows.column(column), value) if value else pc.is_null(rows.column(column))
        yield rows.filter(same)


@pytest.fixture(scope="module")
def spread(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The tables of the shop with a file for each path, or each target."""
    root = tmp_path_factory.mktemp("spread")
    for name, column in LAID_OUT.items():
        for part in parts(shop.open.table(name).to_arrow(), column):
            write_deltalake(root / name, part, mode="append")
    return Reader(Store(str(root)))


def n_files(reader: Reader, name: str) -> int:
    reader.register(name)
    return len(list(Path(reader.store.uri(name)).glob("*.parquet")))


def test_a_name_in_full(spread: Reader) -> None:
    asked = Counting(spread)
    assert len(find(asked, "shop.cart.Cart.total")) == 1
    [(table, n)] = asked.opened
    # A file of others may have names on both sides of it.
    assert table == "cpg_nodes" and 1 <= n <= 2 < n_files(spread, table)


def test_callers_and_callees(spread: Reader) -> None:
    for question, about in ((callers, "shop.cart.checkout"), (callees, "shop.cart.Cart.total")):
        asked = Counting(spread)
        answer = question(Noted(asked), about)
        places = {row["path"] for row in answer} - {None}
        assert places and asked.opened
        for table, n in asked.opened[1:]:
            assert n <= len(places) + 1 < n_files(spread, table), (table, asked.opened)
