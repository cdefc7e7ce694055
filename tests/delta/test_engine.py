"""Errors of the engine, told apart: real conflicts between real transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from codelake.delta.create import create_table
from codelake.delta.engine import engine_errors
from codelake.delta.lake import Lake
from codelake.delta.write import commit
from codelake.errors import Conflict, ConflictFinal, Unavailable
from tests.delta.things import THINGS, frame, new_run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("winner", "kind"),
    [
        ("UPDATE {t} SET size = 9 WHERE id = 1", Conflict),
        ("ALTER TABLE {t} ADD COLUMN colour string", ConflictFinal),
    ],
)
def test_conflicts_are_told_apart(lake: Lake, tmp_path: Path, winner: str, kind: type[Conflict]) -> None:
    """A slow commit is overtaken, without the lock: for changed rows one plans again, for a changed schema not."""
    create_table(lake, THINGS)
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1)]), mode="append")
    unlocked, caught = replace(lake, locking=False), []
    begun, overtook = tmp_path / "begun", tmp_path / "overtook"

    def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begun.touch()
        while not overtook.exists():
            time.sleep(0.05)
        yield from batches

    def overtaken() -> None:
        rows = frame(lake, [(1, "a", 2)])
        slow = rows.mapInArrow(slowly, rows.schema)
        try:
            commit(new_run(unlocked, "slow"), THINGS, slow, mode="replace", replacing=[("a",)])
        except Conflict as conflict:
            caught.append(conflict)

    thread = threading.Thread(target=overtaken)
    thread.start()
    try:
        while thread.is_alive() and not begun.exists():
            time.sleep(0.05)
        lake.session.newSession().sql(winner.format(t=lake.sql_name("things"))).collect()
    finally:
        overtook.touch()
        thread.join()
    assert [type(e) for e in caught] == [kind]
    assert "Nothing was written" in str(caught[0])
    assert lake.log("things").version == 2, "only the other's commit"


def test_an_error_that_nobody_foresaw_keeps_the_engines_own_words(lake: Lake) -> None:
    with pytest.raises(Unavailable, match=r"UNRESOLVED_COLUMN.*`nope`"), engine_errors("a question"):
        lake.session.sql("SELECT nope").collect()
