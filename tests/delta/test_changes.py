from __future__ import annotations

from dataclasses import replace

import pytest

from codelake.delta.changes import changes, changes_here, cursor, misread, window
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.write import commit
from codelake.errors import FeedUnavailable, PinUnavailable, UsageError
from tests.delta.things import COPY, THINGS, frame, new_run, stored

pytestmark = pytest.mark.slow


def feed(run: Run, after: int, until: int | None = None) -> list[tuple[str, int, int, str]]:
    rows = changes(run, THINGS, after=after, until=until).collect()
    return sorted((r._change_type, r._commit_version, r.id, r.owner) for r in rows)


def test_the_feed_of_every_commit_mode(lake: Lake) -> None:
    create_table(lake, THINGS)
    first = [(1, "a", 1), (2, "b", 2), (3, "c", 3)]
    commit(new_run(lake), THINGS, frame(lake, first), mode="append")  # 1
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1), (2, "B", 2), (4, "d", 4)]), mode="merge")  # 2
    commit(new_run(lake), THINGS, frame(lake, [(3, "c", 30)]), mode="replace", replacing=[("c",)])  # 3
    commit(new_run(lake), THINGS, mode="update", values={"owner": "'x'"}, where="id = 4")  # 4
    commit(new_run(lake), THINGS, mode="delete", where="id = 1")  # 5
    commit(new_run(lake), THINGS, frame(lake, [(9, "z", 9)]), mode="overwrite")  # 6
    run = new_run(lake)
    assert feed(run, 0, 1) == [("insert", 1, i, o) for i, o, _ in first]
    assert feed(run, 1, 2) == [
        ("insert", 2, 4, "d"),
        ("update_postimage", 2, 2, "B"),
        ("update_preimage", 2, 2, "b"),
    ]
    assert feed(run, 2, 3) == [("delete", 3, 3, "c"), ("insert", 3, 3, "c")]
    assert feed(run, 3, 4) == [("update_postimage", 4, 4, "x"), ("update_preimage", 4, 4, "d")]
    assert feed(run, 4, 5) == [("delete", 5, 1, "a")]
    assert feed(run, 5) == [
        ("delete", 6, 2, "B"),
        ("delete", 6, 3, "c"),
        ("delete", 6, 4, "x"),
        ("insert", 6, 9, "z"),
    ]
    assert len(feed(run, 0)) == 3 + 3 + 2 + 2 + 1 + 4
    assert [(r["from_version"], r["version"]) for r in run.rows["scans"]][:2] == [(1, 1), (2, 2)]


def test_the_feed_read_here_is_that_of_spark(lake: Lake) -> None:
    """A restore brings files back, and takes others away, with the deletion vectors that they had."""
    create_table(lake, THINGS)
    commit(new_run(lake), THINGS, frame(lake, [(n, "abcd"[n % 4], n + 1) for n in range(12)]), mode="append")
    commit(new_run(lake), THINGS, frame(lake, [(0, "a", 50)]), mode="replace", replacing=[("a",)])
    commit(new_run(lake), THINGS, mode="delete", where="id = 1")
    lake.log("things").delta_table.optimize.compact()
    commit(new_run(lake), THINGS, mode="delete", where="id = 2")
    lake.session.sql(f"RESTORE TABLE {lake.sql_name('things')} TO VERSION AS OF 3")
    newest = lake.log("things").version
    for after in (0, 2, newest - 1):
        run = new_run(lake)
        names = ("id", "owner", "size", "_change_type")
        by_spark = changes(run, THINGS, after=after).select(*names).collect()
        here = changes_here(run, THINGS, names[:3], after=after).to_pylist()
        assert sorted(map(tuple, by_spark)) == sorted(tuple(row.values()) for row in here) != []
    assert misread(lake.log("things"), 1, newest) == newest


def test_a_cursor_moves_only_with_the_downstream_commit(lake: Lake) -> None:
    create_table(lake, THINGS)
    create_table(lake, COPY)
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1)]), mode="append")

    def follow(run_id: str, *, dies: bool = False) -> None:
        run = new_run(lake, run_id, stage="follow")
        at = cursor(run, reader="follow", source=THINGS, into=COPY) or 0
        read = window(run, THINGS, after=at)
        if read.is_empty:
            return
        rows = changes(run, THINGS, after=read.after, until=read.until).where("_change_type = 'insert'")
        if dies:
            rows.count()
            return  # killed between read and commit
        commit(run, COPY, rows.select("id", "owner"), mode="merge", cursors={"things": read.until})

    follow("r1", dies=True)
    assert cursor(new_run(lake), reader="follow", source=THINGS, into=COPY) is None
    follow("r2")
    assert stored(lake, COPY) == [(1, "a")]
    commit(new_run(lake), THINGS, frame(lake, [(2, "b", 2)]), mode="append")
    commit(new_run(lake), COPY, lake.session.createDataFrame([(100, "by hand")], ["id", "owner"]), mode="append")
    assert cursor(new_run(lake), reader="follow", source=THINGS, into=COPY) == 1, "another commit carries it on"
    follow("r3", dies=True)
    follow("r4")
    follow("r5")
    assert stored(lake, COPY) == [(1, "a"), (100, "by hand"), (2, "b")]
    assert cursor(new_run(lake), reader="follow", source=THINGS, into=COPY) == 2
    assert cursor(new_run(lake), reader="other", source=THINGS, into=COPY) is None


def test_a_feed_that_cannot_be_read_in_full_says_so_before_anything_is_read(lake: Lake) -> None:
    without = replace(THINGS, features=("deletionVectors",))
    create_table(lake, without)
    commit(new_run(lake), without, frame(lake, [(1, "a", 1)]), mode="append")
    with pytest.raises(FeedUnavailable, match=r"not enabled at version 1.*Rebuild in full"):
        changes(new_run(lake), without, after=0)
    name = lake.sql_name("things")
    lake.session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    commit(new_run(lake), without, frame(lake, [(2, "b", 1)]), mode="append")
    with pytest.raises(FeedUnavailable, match=r"Rebuild in full"):
        changes(new_run(lake), without, after=0).collect()
    assert [r.id for r in changes(new_run(lake), without, after=2).collect()] == [2]
    with pytest.raises(PinUnavailable, match=r"up to 3"):
        changes(new_run(lake), without, after=0, until=9)
    with pytest.raises(UsageError, match=r"a window"):
        changes(new_run(lake), without, after=3)


def test_a_feed_whose_files_were_vacuumed(lake: Lake) -> None:
    table = replace(THINGS, retention_days=0)
    create_table(lake, table)
    commit(new_run(lake), table, frame(lake, [(1, "a", 1), (2, "b", 2)]), mode="append")
    commit(new_run(lake), table, mode="update", values={"owner": "'x'"}, where="id = 1")
    commit(new_run(lake), table, frame(lake, [(9, "z", 9)]), mode="overwrite")
    lake.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lake.session.sql(f"VACUUM {lake.sql_name('things')} RETAIN 0 HOURS").collect()
    lake.session.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    with pytest.raises(FeedUnavailable, match=r"vacuumed.*Rebuild in full"):
        changes(new_run(lake), table, after=1, until=2)
