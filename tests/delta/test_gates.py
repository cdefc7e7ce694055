from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelake.contracts import Check, Column, Reference, Table
from codelake.contracts.operations import COMMITS, QUALITY
from codelake.contracts.semantic import DIGEST, EDGE_ID, NODE_ID
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.record import record
from codelake.delta.scan import scan
from codelake.delta.write import commit
from codelake.errors import ContractBroken
from tests.delta.things import THINGS, Row, frame, new_run, stored, with_checks

SLOW = pytest.mark.slow
GOOD: list[Row] = [(1, "a", 10), (2, "b", 20)]


def seeded(lake: Lake, table: Table = THINGS) -> None:
    create_table(lake, table)
    commit(new_run(lake, "seed"), table, frame(lake, GOOD, table), mode="append")


def refused(lake: Lake, table: Table, rows: list[Row], mode: Any = "append", **options: Any) -> ContractBroken:
    """The commit is refused, and the table is as it was: rows, version and log."""
    before, version = stored(lake, table), lake.log(table.name).version
    with pytest.raises(ContractBroken) as caught:
        commit(new_run(lake), table, frame(lake, rows, table), mode=mode, **options)
    assert (stored(lake, table), lake.log(table.name).version) == (before, version)
    return caught.value


@pytest.mark.parametrize("mode", ["append", "overwrite", "replace", "merge"])
def test_a_rule_that_fails_refuses_in_every_mode(lake: Lake, mode: str) -> None:
    seeded(lake)
    broken: list[tuple[list[Row], str, str]] = [
        ([(None, "a", 1)], "id is not null", "id=None"),
        ([(3, None, 1)], "owner is not null", "id=3"),
        ([(3, "a", -1)], "size_positive", "id=3"),
        ([(3, "a", 1), (3, "a", 2)], "key (id) is unique", "id=3"),
    ]
    for rows, rule, row in broken:
        error = refused(lake, THINGS, [(9, "a", 1), *rows], mode, replacing=[("a",)] if mode == "replace" else ())
        assert [v.rule for v in error.violations] == [rule]
        assert row in str(error) and rule in str(error) and "Nothing was written" in str(error)


def test_every_broken_rule_is_named_with_its_rows_not_only_the_first(lake: Lake) -> None:
    seeded(lake)
    error = refused(lake, THINGS, [(3, "a", -1), (4, "a", -2), (5, None, 1), (6, "a", 1), (6, "a", 1)])
    assert {v.rule: v.n for v in error.violations} == {
        "owner is not null": 1,
        "size_positive": 2,
        "key (id) is unique": 2,
    }
    sizes = next(v for v in error.violations if v.rule == "size_positive")
    assert sorted(r["id"] for r in sizes.sample) == [3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("null", ["broken", "passes"])
def test_null_breaks_a_check_unless_it_says_otherwise(lake: Lake, null: Any) -> None:
    table = with_checks(Check("size_positive", "size > 0", null=null))
    seeded(lake, table)
    if null == "broken":
        assert refused(lake, table, [(3, "a", None)]).violations[0].rule == "size_positive"
    else:
        commit(new_run(lake), table, frame(lake, [(3, "a", None)]), mode="append")
        assert (3, "a", None) in stored(lake, table)


@pytest.mark.parametrize("mode", ["append", pytest.param("merge", marks=SLOW)])
def test_drop_leaves_out_what_breaks_and_says_so(lake: Lake, mode: Any) -> None:
    table = with_checks(Check("small", "size < 100", action="drop"))
    create_table(lake, QUALITY)
    create_table(lake, COMMITS)
    seeded(lake, table)
    run = new_run(lake)
    rows: list[Row] = [(3, "a", 500), (4, "a", 5), (5, "a", None)]
    done = commit(run, table, frame(lake, rows), mode=mode)
    assert stored(lake, table) == [(1, "a", 10), (2, "b", 20), (4, "a", 5)]
    assert done.gates == {"small": 2}
    record(run)
    quality = [(r.rule, r.action, r.entity_id, r.n) for r in scan(new_run(lake, "reader"), QUALITY).collect()]
    assert sorted(quality) == [("small", "drop", '{"id": 3}', 1), ("small", "drop", '{"id": 5}', 1)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "merge"])
def test_warn_writes_what_breaks_and_says_so(lake: Lake, mode: Any) -> None:
    table = with_checks(Check("small", "size < 100", action="warn", null="passes"))
    seeded(lake, table)
    run = new_run(lake)
    done = commit(run, table, frame(lake, [(3, "a", 500), (4, "a", None)]), mode=mode)
    assert (3, "a", 500) in stored(lake, table)
    assert done.gates == {"small": 1}
    assert [(r["rule"], r["action"], r["n"]) for r in run.rows["quality"]] == [("small", "warn", 1)]


@SLOW
def test_rows_of_a_refused_commit_reach_the_quality_table(lake: Lake) -> None:
    create_table(lake, QUALITY)
    seeded(lake)
    run = new_run(lake)
    with pytest.raises(ContractBroken):
        commit(run, THINGS, frame(lake, [(i, "a", -1) for i in range(10, 18)]), mode="append")
    record(run)
    rows = scan(new_run(lake, "reader"), QUALITY).collect()
    assert len(rows) == 6 and sum(r.n for r in rows) == 8
    assert {(r.run_id, r.table_name, r.rule, r.action) for r in rows} == {("run-1", "things", "size_positive", "fail")}


@SLOW
def test_a_key_is_unique_in_the_whole_table(lake: Lake) -> None:
    seeded(lake)
    assert "id=1" in str(refused(lake, THINGS, [(1, "z", 1)]))
    replaced = refused(lake, THINGS, [(2, "a", 1)], "replace", replacing=[("a",)])
    assert "id=2" in str(replaced)
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 11)]), mode="replace", replacing=[("a",)])
    assert stored(lake) == [(1, "a", 11), (2, "b", 20)]


def test_a_key_of_scope_write_compares_only_rows_written_together(lake: Lake) -> None:
    table = replace(THINGS, key_scope="write")
    seeded(lake, table)
    commit(new_run(lake), table, frame(lake, [(1, "z", 1)]), mode="append")
    assert len(stored(lake, table)) == 3
    refused(lake, table, [(7, "z", 1), (7, "z", 2)])


@SLOW
def test_the_tables_own_constraints_hold_like_the_contracts(lake: Lake) -> None:
    seeded(lake)
    lake.session.sql(f"ALTER TABLE {lake.sql_name('things')} ADD CONSTRAINT owner_short CHECK (length(owner) < 3)")
    error = refused(lake, THINGS, [(3, "long", 1)])
    assert [v.rule for v in error.violations] == ["owner_short (the table's own)"]
    owner = replace(THINGS.columns[1], nullable=True)
    loose = replace(THINGS, columns=(THINGS.columns[0], owner, THINGS.columns[2]), replace_by=())
    assert refused(lake, loose, [(3, None, 1)]).violations[0].rule == "owner is not null"


@pytest.mark.slow
def test_a_contracts_check_holds_on_a_table_that_was_made_without_it(lake: Lake) -> None:
    seeded(lake)
    stricter = with_checks(*THINGS.checks, Check("even", "id % 2 = 0"))
    assert refused(lake, stricter, [(3, "a", 1)]).violations[0].rule == "even"


def test_update_is_gated_before_it_runs(lake: Lake) -> None:
    seeded(lake)
    before = stored(lake)
    with pytest.raises(ContractBroken, match="size_positive: 1 row"):
        commit(new_run(lake), THINGS, mode="update", values={"size": "size - 15"}, where="true")
    assert stored(lake) == before
    with pytest.raises(ContractBroken, match="key"):
        commit(new_run(lake), THINGS, mode="update", values={"id": "id + 1"}, where="true")


@SLOW
@pytest.mark.parametrize("action", ["fail", "drop", "warn"])
def test_references_with_each_action(lake: Lake, action: Any) -> None:
    owners = Table("owners", "Owners.", (Column("name", "string", "their name"),), key=("name",))
    create_table(lake, owners)
    commit(new_run(lake, "o"), owners, lake.session.createDataFrame([("a",), ("b",)], ["name"]), mode="append")
    table = replace(THINGS, references=(Reference(("owner",), "owners", ("name",), action),))
    seeded(lake, table)
    rule = "owner -> owners(name)"
    if action == "fail":
        assert refused(lake, table, [(3, "nobody", 1)]).violations[0].rule == rule
        return
    done = commit(new_run(lake), table, frame(lake, [(3, "nobody", 1), (4, "a", 1)]), mode="append")
    assert done.gates == {rule: 1}
    assert len(stored(lake, table)) == (3 if action == "drop" else 4)


def test_rows_of_another_shape_are_refused_column_by_column(lake: Lake) -> None:
    seeded(lake)
    wrong = lake.session.createDataFrame([("x", 1, 2)], ["id", "extra", "size"])
    with pytest.raises(ContractBroken) as caught:
        commit(new_run(lake), THINGS, wrong, mode="append")
    text = str(caught.value)
    for part in (
        "id: expected bigint, found string",
        "owner: missing",
        "extra: not in the contract",
        "size: expected int",
    ):
        assert part in text


@pytest.mark.slow
def test_a_column_of_one_meaning_cannot_feed_one_of_another(lake: Lake) -> None:
    nodes = Table(
        "nodes",
        "Nodes.",
        (Column("node_id", "string", "n", NODE_ID), Column("digest", "string", "d", DIGEST)),
    )
    edges = Table("edges", "Edges.", (Column("edge_id", "string", "e", EDGE_ID), Column("src", "string", "s", NODE_ID)))
    create_table(lake, nodes)
    create_table(lake, edges)
    rows = lake.session.createDataFrame([("n1", "0" * 64)], ["node_id", "digest"])
    commit(new_run(lake, "n"), nodes, rows, mode="append")
    run = new_run(lake)
    read = scan(run, nodes)
    swapped = read.select(read.node_id.alias("edge_id"), read.digest.alias("src"))
    with pytest.raises(ContractBroken, match="edge_id is fed by a node id; src is fed by a digest"):
        commit(run, edges, swapped, mode="append")
    right = read.selectExpr("concat('CALLS|', node_id) AS edge_id", "node_id AS src")
    commit(run, edges, right, mode="append")
    assert stored(lake, edges) == [("CALLS|n1", "n1")]


def test_semantic_types_are_checked_when_rows_are_written(lake: Lake) -> None:
    blobs = Table("blobs", "Blobs.", (Column("digest", "string", "d", DIGEST),))
    create_table(lake, blobs)
    for digest, fits in (("0" * 63, False), ("G" * 64, False), ("0" * 64, True)):
        rows = lake.session.createDataFrame([(digest,)], ["digest"])
        if fits:
            commit(new_run(lake), blobs, rows, mode="append")
            assert stored(lake, blobs) == [(digest,)]
        else:
            with pytest.raises(ContractBroken, match="digest_is_digest"):
                commit(new_run(lake), blobs, rows, mode="append")


@pytest.mark.slow
def test_rows_that_are_all_dropped_make_no_version_and_are_still_told_of(lake: Lake) -> None:
    table = with_checks(Check("small", "size < 100", action="drop"))
    seeded(lake, table)
    run = new_run(lake)
    done = commit(run, table, frame(lake, [(3, "a", 500)]), mode="append")
    assert (done.is_empty, done.version, done.gates) == (True, 1, {"small": 1})
    assert [r["entity_id"] for r in run.rows["quality"]] == ['{"id": 3}']
