"""Parquet datasets into Delta tables: odd schemas, corrupt files, loads that are killed, and loads that go on."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from codelake.delta.digest import embedded_digest
from codelake.delta.lake import Lake
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.migration.columns import contract_of, type_of
from codelake.delta.migration.load import Loaded, load, to_do
from codelake.delta.migration.source import open_source
from codelake.delta.run import Run, Txn
from codelake.delta.write import commit
from codelake.errors import ContractBroken, Damaged, NotFound, UsageError
from codelake.pipeline.restoring import restore_one
from tests.delta.things import stored

ODD = pa.table(
    {
        "id": pa.array([1, 2], pa.uint32()),
        "big": pa.array([1, 2**64 - 1], pa.uint64()),
        "name": pa.array(["a", None]).dictionary_encode(),
        "price": pa.array([Decimal("1.20"), None], pa.decimal128(9, 2)),
        "day": pa.array([date(2026, 1, 1), None]),
        "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("ns", "UTC")),
        "local": pa.array([datetime(2026, 1, 1), None], pa.timestamp("us")),
        "tags": pa.array([["x"], []], pa.list_(pa.large_string())),
        "place": pa.array([{"x": 1, "names": ["p"]}, None]),
        "counts": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32())),
        "raw": pa.array([b"\x00", None], pa.large_binary()),
        "nothing": pa.nulls(2),
    }
)


def write(folder: Path, name: str, rows: pa.Table, moment: int = 1) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    os.utime(path, (1_700_000_000 + moment,) * 2)
    return path


def ids(first: int, n: int = 3, **more: Any) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + n), pa.int64()), **more})


def loaded(lake: Lake, folder: Path, name: str = "imported", **how: Any) -> Loaded:
    source = open_source(folder)
    return load(Run(lake, "load", stage="import", pipeline="import"), source, contract_of(source, name), **how)


# without Spark -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (pa.uint8(), "smallint"),
        (pa.float16(), "float"),
        (pa.date64(), "date"),
        (pa.list_(pa.struct({"a": pa.decimal128(38, 3)})), "array<struct<a:decimal(38,3)>>"),
        (pa.map_(pa.string(), pa.null()), "map<string,string>"),
        (pa.binary(16), "binary"),
    ],
)
def test_types(type_: pa.DataType, text: str) -> None:
    assert type_of(type_) == text


@pytest.mark.parametrize("type_", [pa.time64("us"), pa.duration("s"), pa.struct([]), pa.decimal256(50, 2)])
def test_types_that_no_table_has(type_: pa.DataType) -> None:
    with pytest.raises(ValueError, match=r".+"):
        type_of(type_)


def test_files_that_differ(tmp_path: Path) -> None:
    write(tmp_path, "a.parquet", pa.table({"id": pa.array([1], pa.int32()), "x": pa.nulls(1)}))
    write(tmp_path, "b.parquet", pa.table({"id": pa.array([1], pa.int64()), "x": [1.5], "more": ["m"]}))
    found = {c.name: c.type for c in contract_of(open_source(tmp_path), "t").columns}
    assert found == {"id": "bigint", "x": "double", "more": "string"}
    write(tmp_path, "c.parquet", pa.table({"id": ["text"]}))
    with pytest.raises(ContractBroken, match=r"c.parquet, id: string, elsewhere bigint"):
        contract_of(open_source(tmp_path), "t")


def test_names_that_no_table_has(tmp_path: Path) -> None:
    write(tmp_path, "a.parquet", pa.table({"a b": [1], "Id": [1], "id": [1]}))
    with pytest.raises(ContractBroken, match=r"'a b'.*the same name as Id"):
        contract_of(open_source(tmp_path), "t")


def test_partitions_are_columns_and_hidden_files_are_none(tmp_path: Path) -> None:
    write(tmp_path, "year=2026/kind=a%20b/x.parquet", ids(1))
    write(tmp_path, "year=2027/kind=__HIVE_DEFAULT_PARTITION__/x.parquet", ids(2))
    write(tmp_path, "_temporary/x.parquet", ids(3))
    source = open_source(tmp_path)
    assert [file.partition for file in source.files] == [
        {"year": "2026", "kind": "a b"},
        {"year": "2027", "kind": None},
    ]
    assert [c.type for c in contract_of(source, "t").columns] == ["bigint", "bigint", "string"]
    with pytest.raises(NotFound):
        open_source(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="none"):
        open_source(tmp_path / "empty")
    with pytest.raises(UsageError, match=r"one of the columns id, year, kind; found month"):
        contract_of(source, "t", partition_by=("year", "month"))
    (tmp_path / "empty/a.parquet").write_bytes(b"no")
    with pytest.raises(Damaged, match=r"a file that can be read; found a.parquet"):
        contract_of(open_source(tmp_path / "empty"), "t")


# with Spark --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_odd_columns_in_partitions(lake: Lake, tmp_path: Path) -> None:
    write(tmp_path / "odd", "p=1/a.parquet", ODD)
    done = loaded(lake, tmp_path / "odd")
    assert (done.n_files, done.n_rows, done.version) == (1, 2, 1)
    assert done.digest == str(embedded_digest(lake.log("imported")))
    first = stored(lake, "imported")[0]
    assert first[:4] == (1, Decimal(1), "a", Decimal("1.20")) and first[-1] == 1
    assert first[8].names == ["p"] and first[9] == {"a": 1}


@pytest.mark.slow
def test_a_thousand_files_of_which_some_are_corrupt(lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    for i in range(1000):
        write(folder, f"{i:04}.parquet", ids(i * 3))
    (folder / "0500.parquet").write_bytes(b"PAR1 nothing PAR1")
    raw = bytearray((folder / "0700.parquet").read_bytes())
    raw[4:24] = bytes(20)  # the page, not the footer
    (folder / "0700.parquet").write_bytes(raw)
    with pytest.raises(Damaged, match=r"1 file.s. cannot be read; found 0500.parquet"):
        loaded(lake, folder)
    assert not lake.exists("imported")
    done = loaded(lake, folder, skip_corrupt=True)
    assert {one["path"] for one in done.corrupt} == {"0500.parquet", "0700.parquet"}
    assert (done.n_files, done.n_rows, done.n_batches) == (998, 2994, 2)
    assert lake.session.read.format("delta").load(lake.uri("imported")).distinct().count() == 2994


@pytest.mark.slow
def test_a_load_goes_on(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "grows"
    write(folder, "a.parquet", ids(1), 1)
    assert loaded(lake, folder).n_files == 1
    write(folder, "b.parquet", ids(4), 2)
    done = loaded(lake, folder)
    assert (done.n_files, done.n_known, lake.log("imported").n_rows) == (1, 1, 6)
    write(folder, "c.parquet", ids(7, more=["x", "y", "z"]), 3)
    done = loaded(lake, folder)
    assert (done.n_files, done.n_known, lake.log("imported").n_rows) == (1, 2, 9)
    assert stored(lake, "imported")[-1] == (9, "z") and stored(lake, "imported")[0] == (1, None)
    write(folder, "a.parquet", ids(100), 4)
    done = loaded(lake, folder)
    assert (done.n_files, done.changed, lake.log("imported").n_rows) == (0, ["a.parquet"], 9)
    doubled, table = Run(lake, "doubled"), contract_of(open_source(folder), "imported")
    rows = lake.session.createDataFrame([(9, "z")], "id bigint, more string")
    commit(doubled, table, rows, mode="append", txn=Txn(f"import/{folder.absolute()}", 99))
    with pytest.raises(Damaged, match=r"rows with the digest 9-\w+, as the files have; found 10-"):
        loaded(lake, folder)


@pytest.mark.slow
def test_a_table_that_cannot_hold_the_dataset_is_refused(lake: Lake, tmp_path: Path) -> None:
    write(tmp_path / "small", "a.parquet", pa.table({"id": pa.array([1], pa.int32()), "kind": ["a"]}))
    source = open_source(tmp_path / "small")
    run = Run(lake, "load", stage="import", pipeline="import")
    load(run, source, contract_of(source, "imported", partition_by=("kind",)))
    assert loaded(lake, tmp_path / "small").n_known == 1, "its partitions are known"
    for other, how, says in (
        (pa.table({"id": [2**40], "kind": ["a"]}), {}, "retyped id: expected bigint, found int"),
        (
            pa.table({"id": pa.array([2], pa.int16()), "kind": ["a"]}),
            {"partition_by": ("id",)},
            "expected id, found kind",
        ),
    ):
        write(tmp_path / "other", "b.parquet", other)
        found = open_source(tmp_path / "other")
        with pytest.raises(ContractBroken, match=says):
            to_do(lake, found, contract_of(found, "imported", **how))
    assert loaded(lake, tmp_path / "other").n_rows == 1, "a narrower type fits"


@pytest.mark.slow
def test_a_table_that_was_deleted_is_loaded_anew(lake: Lake, tmp_path: Path) -> None:
    write(tmp_path / "data", "a.parquet", ids(0))
    assert loaded(lake, tmp_path / "data").n_files == 1
    shutil.rmtree(lake.store.path / "imported")
    again = loaded(lake, tmp_path / "data")
    assert (again.n_files, again.n_known, again.is_verified, lake.log("imported").n_rows) == (1, 0, True, 3)


@pytest.mark.slow
def test_what_a_restore_has_undone_is_loaded_again(lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "undone"
    write(folder, "a.parquet", ids(0))
    assert loaded(lake, folder).is_verified
    write(folder, "b.parquet", ids(3))
    both = loaded(lake, folder)
    restore_one(lake, contract_of(open_source(folder), "imported"), 1)
    assert lake.log("imported").n_rows == 3
    again = loaded(lake, folder)
    assert (again.n_files, again.n_known, again.is_verified) == (1, 1, True)
    assert again.digest == both.digest == str(embedded_digest(lake.log("imported")))
    restore_one(lake, contract_of(open_source(folder), "imported"), both.version)
    assert loaded(lake, folder).n_files == 0, "it was brought back"
    optimize(Run(lake, "optimize"), contract_of(open_source(folder), "imported"))
    assert loaded(lake, folder).is_verified, "no row changed"
    lake.session.sql(f"DELETE FROM {lake.sql_name('imported')} WHERE id = 0")
    assert not loaded(lake, folder).is_verified, "it is not what the files have any more, and others are to blame"
