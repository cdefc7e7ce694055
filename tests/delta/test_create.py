from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelake.contracts import Check, Column, Layout, Table
from codelake.delta.create import create_table, evolve
from codelake.delta.drift import drift
from codelake.delta.lake import Lake
from codelake.delta.scan import scan
from codelake.delta.write import commit
from codelake.errors import ContractBroken
from tests.delta.things import THINGS, frame, new_run, stored

BASE = THINGS.columns
COLOUR = Column("colour", "string", "c", nullable=True)
MAPPED = ("deletionVectors", "changeDataFeed", "columnMapping")


def kinds(table: Table, lake: Lake) -> list[tuple[str, str, str, str]]:
    return [(d.kind, d.name, d.expected, d.found) for d in drift(table, lake.log(table.name))]


def test_a_creation_that_was_cut_short_is_done_again(lake: Lake) -> None:
    """Delta makes the folder of the log, then a hidden file, then the commit."""
    log = lake.store.path / THINGS.name / "_delta_log"
    (log / "_staged_commits").mkdir(parents=True)
    (log / f".{0:020}.json.5f0c.tmp").touch()
    assert not lake.exists(THINGS.name) and lake.table_names() == []
    create_table(lake, THINGS)
    assert lake.log(THINGS.name).version == 0


def test_drift_column_by_column(lake: Lake) -> None:
    create_table(lake, replace(THINGS, layout=Layout(partition_by=("owner",))))
    contract = replace(THINGS, layout=Layout(partition_by=("owner",)))
    assert kinds(contract, lake) == []
    cases: list[tuple[dict[str, Any], tuple[str, str, str, str]]] = [
        ({"columns": (*BASE, COLOUR)}, ("missing column", "colour", "string", "no such column")),
        ({"columns": BASE[:2], "checks": ()}, ("extra column", "size", "no such column", "int")),
        ({"columns": (*BASE[:2], replace(BASE[2], type="bigint"))}, ("retyped", "size", "bigint", "int")),
        (
            {"columns": (*BASE[:2], replace(BASE[2], nullable=False))},
            ("nullable", "size", "NOT NULL", "nullable"),
        ),
        (
            {
                "columns": (*BASE[:2], Column("weight", "int", "w", nullable=True, was=("size",))),
                "checks": (),
            },
            ("renamed", "weight", "weight", "size"),
        ),
        ({"layout": Layout()}, ("partitioning", "partition_by", "none", "owner")),
        (
            {"retention_days": 7},
            ("property", "delta.logRetentionDuration", "interval 7 days", "interval 30 days"),
        ),
        (
            {"checks": (Check("size_positive", "size > 1"),)},
            ("check", "size_positive", "coalesce((size > 1), false)", "coalesce((size > 0), true)"),
        ),
    ]
    for change, expected in cases:
        assert expected in kinds(replace(contract, **change), lake), change
    with pytest.raises(ContractBroken, match=r"missing column colour"):
        create_table(lake, replace(contract, columns=(*BASE, COLOUR)))


@pytest.mark.slow
def test_a_table_is_brought_to_its_contract_without_rewriting_rows(lake: Lake) -> None:
    first = replace(THINGS, features=MAPPED)
    create_table(lake, first, allow_features=("columnMapping",))
    commit(new_run(lake), first, frame(lake, [(1, "a", 1)]), mode="append")
    weight = Column("weight", "int", "w", nullable=True, was=("size",))
    second = replace(first, columns=(*BASE[:2], weight, COLOUR), checks=(Check("heavy", "weight > 0", null="passes"),))
    lake.session.sql(f"ALTER TABLE {lake.sql_name('things')} DROP CONSTRAINT size_positive")
    done = evolve(lake, second)
    assert sorted(d.kind for d in done) == ["check", "missing column", "renamed"]
    assert kinds(second, lake) == []
    assert sorted(map(tuple, scan(new_run(lake), second).collect())) == [(1, "a", 1, None)]
    third = replace(second, columns=(*BASE[:2], weight))
    with pytest.raises(ContractBroken, match=r"asked for"):
        evolve(lake, third)
    evolve(lake, third, drop_columns=True)
    assert kinds(third, lake) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"columns": (*BASE[:2], replace(BASE[2], type="bigint"))}, "needs a rewrite"),
        ({"columns": (*BASE[:2], replace(BASE[2], nullable=False))}, "may hold NULL"),
        ({"columns": (*BASE, replace(COLOUR, nullable=False))}, "make it nullable"),
        ({"columns": BASE[:2], "checks": ()}, "columnMapping"),
        ({"layout": Layout(partition_by=("owner",))}, "needs a rewrite"),
        ({"checks": (Check("size_positive", "size > 1"),)}, "another rule of that name"),
    ],
)
def test_what_cannot_be_changed_in_place_is_refused_and_nothing_is_changed(
    lake: Lake, change: dict[str, Any], why: str
) -> None:
    create_table(lake, THINGS)
    with pytest.raises(ContractBroken, match=why):
        evolve(lake, replace(THINGS, **change))
    assert lake.log("things").version == 0


@pytest.mark.slow
def test_schema_modes(lake: Lake) -> None:
    create_table(lake, THINGS)
    wider = lake.session.sql("SELECT 1L AS id, 'a' AS owner, 1 AS size, 'red' AS colour")
    with pytest.raises(ContractBroken, match=r"colour: not in the contract"):
        commit(new_run(lake), THINGS, wider, mode="append")
    merging = replace(THINGS, schema_mode="merge")
    commit(new_run(lake), merging, wider, mode="append")
    assert stored(lake) == [(1, "a", 1, "red")]
    more = lake.session.sql("SELECT 2L AS id, 'b' AS owner, 2 AS size, 'blue' AS colour, 7 AS year")
    commit(new_run(lake), merging, more, mode="merge")
    assert stored(lake) == [(1, "a", 1, "red", None), (2, "b", 2, "blue", 7)]
    retyped = replace(THINGS, schema_mode="overwrite", columns=(*BASE[:2], replace(BASE[2], type="string")), checks=())
    lake.session.sql(f"ALTER TABLE {lake.sql_name('things')} DROP CONSTRAINT size_positive")
    rows = lake.session.sql("SELECT 3L AS id, 'c' AS owner, 'big' AS size")
    commit(new_run(lake), retyped, rows, mode="overwrite")
    assert stored(lake) == [(3, "c", "big")]
    with pytest.raises(
        ContractBroken, match=r"DELTA_FAILED_TO_MERGE_FIELDS|DELTA_MERGE_INCOMPATIBLE|rows of another shape"
    ):
        commit(new_run(lake), replace(merging, key=(), replace_by=()), frame(lake, [(4, "d", 4)]), mode="append")
