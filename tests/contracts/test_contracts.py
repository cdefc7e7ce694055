from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from codelake.contracts import TABLES, Check, Column, Layout, Table
from codelake.contracts.arrow import arrow_schema, arrow_table
from codelake.contracts.docs import tables_page
from codelake.contracts.semantic import DIGEST, END_BYTE, NODE_ID, START_BYTE
from codelake.contracts.types import parse_type
from codelake.contracts.views import VIEWS
from codelake.delta.create import ddl
from codelake.delta.schema import spark_schema
from codelake.errors import ContractBroken, UsageError
from tests.delta.things import THINGS


def test_one_change_of_a_contract_changes_everything_that_is_derived_from_it() -> None:
    colour = Column("colour", "string", "how it looks", nullable=True)
    changed = replace(THINGS, columns=(*THINGS.columns, colour), checks=(Check("named", "colour <> ''"),))
    for derived in (spark_schema, arrow_schema):
        assert "colour" not in derived(THINGS).names
        assert "colour" in derived(changed).names
    assert "`colour` string COMMENT 'how it looks'" in ddl(changed, "t")
    assert "delta.constraints.named" in ddl(changed, "t")
    assert changed.record(id=1, owner="a", colour="red").colour == "red"
    assert "how it looks" in tables_page((changed,)) and "how it looks" not in tables_page((THINGS,))


def test_types_are_read_as_spark_writes_them_and_written_back_the_same(spark: SparkSession) -> None:
    text = "struct<name:string,spans:array<struct<a:int,b:bigint>>,seen:map<string,timestamp>>"
    assert str(parse_type(text)) == text
    wide = Table("wide", "x", (Column("c", text, "nested"),))
    assert spark_schema(wide)["c"].dataType.simpleString() == text
    assert spark.createDataFrame([], spark_schema(wide)).schema["c"].dataType.simpleString() == text


@pytest.mark.parametrize(
    "text",
    ["strin", "array<int", "array<int,int>", "map<int>", "struct<int>", "int int", "", "struct<a:int,>"],
)
def test_a_type_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="column type"):
        parse_type(text)


def test_a_semantic_type_brings_its_storage_type_and_its_checks() -> None:
    with pytest.raises(UsageError, match="node id"):
        Column("n", "bigint", "wrong storage", NODE_ID)
    spans = Table(
        "spans",
        "x",
        (
            Column("node_id", "string", "n", NODE_ID),
            Column("start_byte", "int", "s", START_BYTE),
            Column("end_byte", "int", "e", END_BYTE),
            Column("digest", "string", "d", DIGEST, nullable=True),
        ),
    )
    names = {c.name: c for c in spans.all_checks}
    assert names["start_byte_before_end_byte"].expression == "`start_byte` <= `end_byte`"
    assert names["digest_is_digest"].null == "passes" and names["node_id_is_node_id"].null == "broken"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"key": ("nope",)}, "nope"),
        ({"key": ("size",)}, "size"),
        ({"replace_by": ("size",)}, "size"),
        ({"layout": Layout(sort_by=("nope",))}, "sort_by"),
        ({"layout": Layout(partition_by=("owner",), cluster_by=("id",))}, "both"),
        ({"columns": (*THINGS.columns, THINGS.columns[0])}, "each column once"),
    ],
)
def test_a_contract_that_contradicts_itself_cannot_be_written(change: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        replace(THINGS, **change)


def test_records_are_typed() -> None:
    record = THINGS.record
    row = msgspec.convert({"id": 1, "owner": "a"}, record)
    assert (row.id, row.owner, row.size) == (1, "a", None)
    with pytest.raises(msgspec.ValidationError, match=r"\$\.id"):
        msgspec.convert({"id": "one", "owner": "a"}, record)


def test_arrow_rows_of_another_type_are_refused_by_column() -> None:
    with pytest.raises(ContractBroken, match="column size"):
        arrow_table(THINGS, [{"id": 1, "owner": "a", "size": "big"}])
    assert arrow_schema(THINGS).field("size").type == pa.int32()


def test_every_table_of_the_lake_has_a_meaning_for_each_column() -> None:
    for table in TABLES:
        assert table.meaning.endswith(".")
        assert all(c.meaning for c in table.columns), table.name


def test_a_name_is_that_of_one_table_or_view() -> None:
    names = [each.name for each in (*TABLES, *VIEWS)]
    assert [name for name, n in Counter(names).items() if n > 1] == []
