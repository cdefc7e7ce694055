"""What a contract declares of files, read back from the files' own footers."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from codelake.contracts import Column, Layout, Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.layout import SORTED_BY, table_properties
from codelake.delta.write import commit
from codelake.errors import ContractBroken
from tests.delta.things import THINGS, new_run

pytestmark = pytest.mark.slow

WIDE = Table(
    "wide",
    "Rows with a little of everything.",
    (
        Column("id", "bigint", "k"),
        Column("name", "string", "n"),
        Column("kind", "string", "few values"),
        Column("text", "string", "not in the statistics"),
    ),
)
N = 20_000


def written(lake: Lake, layout: Layout) -> list[pq.ParquetFile]:
    table = replace(WIDE, layout=layout)
    create_table(lake, table)
    rows = lake.session.range(N).selectExpr(
        "(id * 7919) % 20000 AS id",
        "md5(string(id)) AS name",
        "concat('k', id % 5) AS kind",
        "sha2(string(id), 512) AS text",
    )
    commit(new_run(lake), table, rows.repartition(2), mode="append")
    paths = lake.log("wide").files.column("path").to_pylist()
    return [pq.ParquetFile(lake.store.path / "wide" / p) for p in paths]


def test_footers_show_bloom_filters_dictionaries_order_and_row_groups(lake: Lake) -> None:
    files = written(
        lake,
        Layout(
            sort_by=("kind", "id"),
            bloom=("name",),
            no_dictionary=("text",),
            stats=("id", "kind"),
            row_group_bytes=256 * 1024,
        ),
    )
    for file in files:
        group = file.metadata.row_group(0)
        by_name = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
        assert file.metadata.num_row_groups > 1
        assert all(
            file.metadata.row_group(i).total_byte_size < 4 * 256 * 1024 for i in range(file.metadata.num_row_groups)
        )
        assert by_name["kind"].has_dictionary_page and not by_name["text"].has_dictionary_page
        assert _has_bloom_filter(file, "name") and not _has_bloom_filter(file, "kind")
        assert {c.compression for c in by_name.values()} == {"ZSTD"}
        rows = file.read(["kind", "id"]).to_pylist()
        assert rows == sorted(rows, key=lambda r: (r["kind"], r["id"]))
    log = lake.log("wide")
    assert log.properties[SORTED_BY] == "kind,id"
    names = log.files.column_names
    assert "min.id" in names and "min.kind" in names and "min.text" not in names


def test_no_file_holds_more_rows_than_declared(lake: Lake) -> None:
    files = written(lake, Layout(file_rows=3_000))
    assert sum(f.metadata.num_rows for f in files) == N
    assert max(f.metadata.num_rows for f in files) <= 3_000 and len(files) >= 7


def test_files_are_packed_towards_the_target_size(lake: Lake) -> None:
    one = written(lake, Layout(file_bytes=64 * 1024 * 1024))
    assert len(one) == 1, "two tasks, one file: small ones are packed together"


def test_clustering_and_partitioning_reach_the_table(lake: Lake) -> None:
    create_table(lake, replace(WIDE, name="clustered", layout=Layout(cluster_by=("id",))))
    assert "clustering" in lake.log("clustered").protocol[2]
    create_table(lake, replace(WIDE, name="parted", layout=Layout(partition_by=("kind",))))
    assert lake.log("parted").partition_columns == ["kind"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("delta.dataSkipingStatsColumns", "delta.dataSkippingStatsColumns"),
        ("delta.targetFileSize", "property that Delta or Parquet knows"),
        ("parquet.bloom.filter.enable#name", "parquet.bloom.filter.enabled"),
        ("parquet.bloom.filter.enabled#nme", "one of the columns"),
        ("colour", "property that Delta or Parquet knows"),
    ],
)
def test_unknown_properties_are_refused(lake: Lake, name: str, near: str) -> None:
    table = replace(WIDE, properties={name: "true"})
    with pytest.raises(ContractBroken, match=near):
        create_table(lake, table)
    assert not lake.exists("wide")


def test_a_further_property_reaches_the_table(lake: Lake) -> None:
    table = replace(THINGS, properties={"parquet.page.size": "65536"})
    create_table(lake, table)
    assert lake.log("things").properties["parquet.page.size"] == "65536"
    assert table_properties(table)["parquet.page.size"] == "65536"


def _has_bloom_filter(file: pq.ParquetFile, name: str) -> bool:
    """pyarrow does not show it, but the writer leaves it between the column chunks and the footer."""
    raw = file.metadata.row_group(0)
    index = [raw.column(i).path_in_schema for i in range(raw.num_columns)].index(name)
    column = raw.column(index)
    return bool(getattr(column, "bloom_filter_offset", None))
