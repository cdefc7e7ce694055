from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelake.contracts import Column, Layout, Table
from codelake.contracts.operations import COMMITS, SCANS, SNAPSHOTS
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.modes import replace_condition
from codelake.delta.planned import commit_planned
from codelake.delta.record import record
from codelake.delta.run import pin
from codelake.delta.scan import scan
from codelake.delta.write import commit
from codelake.errors import Conflict, ConflictFinal, UsageError
from tests.delta.things import THINGS, Row, frame, new_run, stored

MODES: list[tuple[str, dict[str, Any], list[Row], dict[str, int]]] = [
    ("append", {}, [(1, "a", 1), (2, "b", 2), (7, "c", 7)], {"numOutputRows": 1}),
    (
        "merge",
        {},
        [(1, "a", 1), (2, "b", 2), (7, "c", 7)],
        {"numTargetRowsInserted": 1, "numTargetRowsUpdated": 0},
    ),
    ("replace", {"replacing": [("c",)]}, [(1, "a", 1), (2, "b", 2), (7, "c", 7)], {"numOutputRows": 1}),
    ("overwrite", {}, [(7, "c", 7)], {"numOutputRows": 1}),
    (
        "update",
        {"values": {"size": "size + 1"}, "where": "id = 1"},
        [(1, "a", 2), (2, "b", 2)],
        {"numUpdatedRows": 1},
    ),
    ("delete", {"where": "owner = 'b'"}, [(1, "a", 1)], {"numDeletedRows": 1}),
]


@pytest.mark.parametrize(
    ("mode", "options", "after", "metrics"),
    [pytest.param(*m, id=m[0], marks=() if m[0] == "merge" else pytest.mark.slow) for m in MODES],
)
def test_each_mode_returns_its_own_version_and_metrics_though_another_commits_in_between(
    lake: Lake,
    monkeypatch: pytest.MonkeyPatch,
    mode: Any,
    options: dict[str, Any],
    after: list[Row],
    metrics: dict[str, int],
) -> None:
    create_table(lake, THINGS)
    commit(new_run(lake, "seed"), THINGS, frame(lake, [(1, "a", 1), (2, "b", 2)]), mode="append")
    from codelake.delta import write

    real = write._write

    def then_another_commits(*arguments: Any) -> None:
        """Somebody else, without our lock, right after our commit and before we ask which one was ours."""
        real(*arguments)
        lake.session.sql(
            f"ALTER TABLE {lake.sql_name('things')} SET TBLPROPERTIES ('delta.checkpointInterval' = '900')"
        )

    monkeypatch.setattr(write, "_write", then_another_commits)
    rows = None if mode in ("update", "delete") else frame(lake, [(7, "c", 7)])
    done = commit(new_run(lake), THINGS, rows, mode=mode, **options)
    assert done.version == 2 and lake.log("things").version == 3
    assert {k: done.metrics[k] for k in metrics} == metrics
    assert stored(lake, version=2) == after
    made = lake.log("things").commit(2)
    assert made is not None and made.own["run_id"] == "run-1" and made.own["mode"] == mode


@pytest.mark.slow
def test_a_commit_carries_run_stage_fingerprint_and_pins_and_so_does_its_row(lake: Lake) -> None:
    for table in (COMMITS, SCANS, SNAPSHOTS, THINGS):
        create_table(lake, table)
    source = Table("source", "Source.", (Column("id", "bigint", "k"),), key=("id",))
    create_table(lake, source)
    commit(new_run(lake, "s"), source, lake.session.range(3), mode="append")
    run = new_run(lake, stage="copy")
    rows = scan(run, source).selectExpr("id", "'a' AS owner", "1 AS size")
    done = commit(run, THINGS, rows, mode="append", fingerprint="f00", cursors={"source": 1}, txn=run.txn)
    own = lake.log("things").commit(done.version).own  # type: ignore[union-attr]
    assert (own["run_id"], own["stage"], own["fingerprint"], own["pins"]) == (
        "run-1",
        "copy",
        "f00",
        {"source": 1},
    )
    record(run)
    reader = new_run(lake, "reader")
    [row] = scan(reader, COMMITS, where="table_name = 'things'").collect()
    assert (row.version, row.stage, row.fingerprint, row.pins, row.mode) == (
        done.version,
        "copy",
        "f00",
        {"source": 1},
        "append",
    )
    assert row.metrics["numOutputRows"] == 3 and row.n_attempts == 1 and not row.is_repeat
    [snapshot] = scan(reader, SNAPSHOTS).collect()
    assert (snapshot.table_name, snapshot.version, snapshot.asked, snapshot.n_rows) == (
        "source",
        1,
        "latest",
        3,
    )
    assert "deletionVectors" in snapshot.features


@pytest.mark.slow
def test_operations_are_written_in_one_append_per_table_and_once(lake: Lake) -> None:
    for table in (COMMITS, THINGS):
        create_table(lake, table)
    run = new_run(lake)
    for i in range(3):
        commit(run, THINGS, frame(lake, [(i, "a", 1)]), mode="append")
    kept = {name: list(rows) for name, rows in run.rows.items()}
    assert record(run) == {"commits": 1}
    run.rows = kept
    assert record(run) == {"commits": 1}
    assert lake.log("commits").version == 1 and len(stored(lake, "commits")) == 3


@pytest.mark.slow
def test_merge_leaves_rows_alone_that_did_not_change_and_deletes_what_is_named(lake: Lake) -> None:
    create_table(lake, THINGS)
    commit(
        new_run(lake, "seed"),
        THINGS,
        frame(lake, [(1, "a", 1), (2, "a", 2), (3, "a", 3), (4, "b", 4)]),
        mode="append",
    )
    rows = frame(lake, [(1, "a", 1), (2, "a", 20), (5, "a", None)])
    done = commit(new_run(lake), THINGS, rows, mode="merge", delete_unmatched="t.owner = 'a'")
    assert stored(lake) == [(1, "a", 1), (2, "a", 20), (4, "b", 4), (5, "a", None)]
    assert (done.metrics["numTargetRowsUpdated"], done.metrics["numTargetRowsInserted"]) == (1, 1)
    assert done.metrics["numTargetRowsDeleted"] == 1


@pytest.mark.slow
def test_replace_takes_away_what_the_source_no_longer_has_and_refuses_strays(lake: Lake) -> None:
    create_table(lake, THINGS)
    commit(new_run(lake, "seed"), THINGS, frame(lake, [(1, "a", 1), (2, "it's", 2), (3, "c", 3)]), mode="append")
    commit(new_run(lake), THINGS, frame(lake, [(9, "a", 9)]), mode="replace", replacing=[("a",), ("it's",)])
    assert stored(lake) == [(3, "c", 3), (9, "a", 9)]
    commit(new_run(lake), THINGS, frame(lake, [(9, "a", 9)]).where("false"), mode="replace", replacing=[("a",)])
    assert stored(lake) == [(3, "c", 3)]


def test_an_empty_append_makes_no_version(lake: Lake) -> None:
    create_table(lake, THINGS)
    done = commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1)]).where("false"), mode="append")
    assert done.is_empty and done.version == 0 == lake.log("things").version


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"mode": "append"}, "rows"),
        ({"mode": "delete"}, "where"),
        ({"mode": "update", "where": "true"}, "values"),
        ({"mode": "replace", "rows": True}, "replace"),
    ],
)
def test_a_commit_that_is_asked_for_wrongly_says_what_is_missing(
    lake: Lake, options: dict[str, Any], word: str
) -> None:
    create_table(lake, THINGS)
    rows = frame(lake, [(1, "a", 1)]) if options.pop("rows", None) else None
    with pytest.raises(UsageError, match=word):
        commit(new_run(lake), THINGS, rows, **options)


def test_append_only_is_kept(lake: Lake) -> None:
    table = replace(THINGS, append_only=True, layout=Layout())
    create_table(lake, table)
    with pytest.raises(UsageError, match="append_only"):
        commit(new_run(lake), table, mode="delete", where="true")


@pytest.mark.slow
def test_a_conflict_is_planned_again_from_a_new_pin_and_counted(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lock, somebody else rewrites the same rows while our update runs."""
    create_table(lake, THINGS)
    commit(new_run(lake, "seed"), THINGS, frame(lake, [(1, "a", 1)]), mode="append")
    from codelake.delta import write

    real, planned = write._write, []

    def overtaken(request: Any, gate: Any, own: Any) -> None:
        if len(planned) == 1:
            lake.session.sql(f"UPDATE {lake.sql_name('things')} SET size = 5 WHERE id = 1").collect()
            raise Conflict("commit to things")
        real(request, gate, own)

    monkeypatch.setattr(write, "_write", overtaken)
    run = new_run(lake)

    def plan(run: Any) -> Any:
        planned.append(pin(run, THINGS).version)
        return scan(run, THINGS).selectExpr("id", "owner", "size * 10 AS size")

    done = commit_planned(run, THINGS, plan, mode="merge")
    assert planned == [1, 2] and done.n_attempts == 2
    assert stored(lake) == [(1, "a", 50)]
    assert run.rows["commits"][-1]["n_attempts"] == 2


def test_a_later_run_of_the_same_application_is_not_undone_by_an_earlier_one(lake: Lake) -> None:
    create_table(lake, THINGS)
    late, early = new_run(lake, "late", number=2), new_run(lake, "early", number=1)
    commit(late, THINGS, frame(lake, [(2, "a", 2)]), mode="append", txn=late.txn)
    with pytest.raises(ConflictFinal, match="later run"):
        commit(early, THINGS, frame(lake, [(1, "a", 1)]), mode="append", txn=early.txn)
    assert stored(lake) == [(2, "a", 2)]


def test_replacing_by_the_first_of_the_columns_replaces_all_that_has_it() -> None:
    table = replace(THINGS, replace_by=("owner", "id"))
    assert replace_condition(table, [("a",), ("b",)]) == "(`owner` IN ('a', 'b'))"
    assert replace_condition(table, [("a",), ("b", 1)]) == "((`owner` IN ('a')) OR (`owner` = 'b' AND `id` IN (1)))"
    with pytest.raises(UsageError, match="1 to 2"):
        replace_condition(table, [()])
