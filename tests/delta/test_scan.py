from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyspark.sql import functions as F

from codelake.contracts import Column, Table
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import pin
from codelake.delta.scan import scan
from codelake.delta.write import commit
from codelake.errors import ContractBroken, PinUnavailable, QueryRefused, UsageError
from tests.delta.things import THINGS, frame, new_run, stored


def seeded(lake: Lake, table: Table = THINGS) -> None:
    create_table(lake, table)
    commit(new_run(lake, "s1"), table, frame(lake, [(1, "a", 1), (2, "b", 2)]), mode="append")


@pytest.mark.slow
def test_a_pinned_read_is_the_same_whatever_happens_meanwhile(lake: Lake) -> None:
    seeded(lake)
    run = new_run(lake)
    before = sorted(scan(run, THINGS).collect())
    commit(new_run(lake, "other"), THINGS, frame(lake, [(3, "c", 3)]), mode="append")
    assert sorted(scan(run, THINGS).collect()) == before, "a write"
    name = lake.sql_name("things")
    lake.session.sql(f"OPTIMIZE {name}").collect()
    assert sorted(scan(run, THINGS).collect()) == before, "an optimize"
    lake.session.sql(f"ALTER TABLE {name} ADD COLUMN colour string").collect()
    lake.session.sql(f"DELETE FROM {name} WHERE id = 1").collect()
    assert sorted(scan(run, THINGS).collect()) == before, "a change of schema and a delete"
    assert run.pinned_versions == {"things": 1}
    assert [r["version"] for r in run.rows["scans"]] == [1, 1, 1, 1] and len(run.rows["snapshots"]) == 1
    with pytest.raises(UsageError, match="pinned at, 1"):
        pin(run, THINGS, at=0)


def test_pins_from_a_version_and_from_a_time(lake: Lake) -> None:
    seeded(lake)
    moment = datetime.now(UTC)
    commit(new_run(lake, "s2"), THINGS, frame(lake, [(3, "c", 3)]), mode="append")
    assert scan(new_run(lake, "v"), THINGS, at=1).count() == 2
    assert scan(new_run(lake, "t"), THINGS, at=moment.isoformat()).count() == 2
    assert scan(new_run(lake, "n"), THINGS).count() == 3
    with pytest.raises(PinUnavailable, match="up to 2"):
        scan(new_run(lake, "x"), THINGS, at=9)
    with pytest.raises(PinUnavailable, match="nothing committed by then"):
        scan(new_run(lake, "y"), THINGS, at="2001-01-01T00:00:00")
    with pytest.raises(UsageError, match="ISO 8601"):
        scan(new_run(lake, "z"), THINGS, at="yesterday")


@pytest.mark.slow
def test_a_pin_whose_files_are_gone_says_what_can_be_done(lake: Lake) -> None:
    table = replace(THINGS, retention_days=0)
    seeded(lake, table)
    commit(new_run(lake, "s2"), table, frame(lake, [(9, "z", 9)]), mode="overwrite")
    lake.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lake.session.sql(f"VACUUM {lake.sql_name('things')} RETAIN 0 HOURS").collect()
    lake.session.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    with pytest.raises(PinUnavailable, match=r"version 1, file .* vacuumed: read a newer one \(the newest is"):
        scan(new_run(lake), table, at=1)


def test_old_versions_read_into_todays_contract(lake: Lake) -> None:
    old = Table(
        "things",
        "Old.",
        (
            Column("id", "int", "k"),
            Column("holder", "string", "o", nullable=True),
            Column("weight", "string", "w"),
        ),
    )
    create_table(lake, old)
    rows = lake.session.createDataFrame([(1, "a", "12"), (2, None, "13")], "id int, holder string, weight string")
    commit(new_run(lake, "s1"), old, rows, mode="append")
    today = Table(
        "things",
        "Today.",
        (
            Column("id", "bigint", "k"),
            Column("owner", "string", "o", nullable=True, was=("keeper", "holder")),
            Column("weight", "int", "w"),
            Column("colour", "string", "c", default="'grey'"),
            Column("note", "string", "n", nullable=True),
        ),
        key=("id",),
    )
    run = new_run(lake)
    read = scan(run, today)
    assert read.schema.simpleString() == "struct<id:bigint,owner:string,weight:int,colour:string,note:string>"
    assert sorted(map(tuple, read.collect())) == [(1, "a", 12, "grey", None), (2, None, 13, "grey", None)]
    assert run.rows["scans"][0]["options"] == {
        "cast.id": "int to bigint",
        "rename.owner": "holder",
        "cast.weight": "string to int",
        "default.colour": "'grey'",
        "default.note": "NULL",
    }
    strict = replace(today, columns=(*today.columns[:3], Column("colour", "string", "c")))
    with pytest.raises(ContractBroken, match="the columns colour, or a default"):
        scan(new_run(lake, "r2"), strict)


@pytest.mark.slow
def test_projections_files_and_origin(lake: Lake) -> None:
    seeded(lake)
    commit(new_run(lake, "s2"), THINGS, frame(lake, [(3, "c", 3)]), mode="append")
    run = new_run(lake)
    rows = scan(run, THINGS, where="size >= 2", project={"double": "size * 2", "who": "upper(owner)"}, origin="file")
    found = {(r.double, r.who): r.file for r in rows.collect()}
    assert sorted(found) == [(4, "B"), (6, "C")]
    paths = set(lake.log("things").files.column("path").to_pylist())
    assert set(found.values()) <= paths
    only = scan(run, THINGS, files=[found[(6, "C")]])
    assert [r.id for r in only.collect()] == [3]
    with pytest.raises(UsageError, match="files of that version"):
        scan(run, THINGS, files=["part-nope.parquet"])
    options = run.rows["scans"][0]["options"]
    assert options["project.double"] == "size * 2" and options["origin"] == "file"
    assert run.rows["scans"][0]["filter"] == "size >= 2"


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("sise + 1", 0, "size"),
        ("size; DROP TABLE things", 4, ""),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("size +", 6, ""), ("size + (SELECT 1)", 7, ""), ("upper(ownr)", 6, "owner"))
        ),
    ],
)
def test_a_projection_that_cannot_be_is_refused_with_its_place(lake: Lake, text: str, place: int, word: str) -> None:
    seeded(lake)
    with pytest.raises(QueryRefused) as caught:
        scan(new_run(lake), THINGS, project={"x": text})
    assert caught.value.text == text and abs(caught.value.place - place) <= 2
    assert word in str(caught.value) and "^" in str(caught.value)


def test_semantic_types_travel_with_the_columns(lake: Lake) -> None:
    from codelake.contracts.semantic import NODE_ID, SEMANTIC_KEY

    nodes = Table("nodes", "Nodes.", (Column("node_id", "string", "n", NODE_ID),))
    create_table(lake, nodes)
    read = scan(new_run(lake), nodes)
    kept = read.select(F.col("node_id").alias("src")).where("src <> 'x'")
    assert kept.schema["src"].metadata == {SEMANTIC_KEY: "node id"}


def test_stored_is_what_scan_reads(lake: Lake) -> None:
    seeded(lake)
    assert sorted(map(tuple, scan(new_run(lake), THINGS).collect())) == stored(lake)
