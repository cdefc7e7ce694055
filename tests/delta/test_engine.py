"""Errors of the engine, told apart: real conflicts between real transactions."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from codelake.delta.create import create_table
from codelake.delta.engine import ENGINE_ERRORS, translated
from codelake.delta.lake import Lake
from codelake.delta.write import commit
from codelake.errors import Conflict, ConflictFinal
from tests.delta.things import THINGS, frame, new_run


@pytest.mark.parametrize(
    ("winner", "kind"),
    [
        ("UPDATE {t} SET size = 9 WHERE id = 1", Conflict),
        ("ALTER TABLE {t} ADD COLUMN colour string", ConflictFinal),
    ],
)
def test_conflicts_are_told_apart(lake: Lake, winner: str, kind: type[Conflict]) -> None:
    """A slow update is overtaken by another commit: rows are planned again, a changed schema is not."""
    create_table(lake, THINGS)
    commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1)]), mode="append")
    name, caught = lake.sql_name("things"), []

    def slow() -> None:
        pause = "CASE WHEN reflect('java.util.concurrent.locks.LockSupport', 'parkNanos', 4000000000L) IS NULL THEN 2 ELSE 2 END"
        try:
            lake.session.newSession().sql(f"UPDATE {name} SET size = {pause} WHERE id = 1").collect()
        except ENGINE_ERRORS as error:
            caught.append(translated("update of things", error))

    thread = threading.Thread(target=slow)
    thread.start()
    threading.Event().wait(1.5)
    lake.session.newSession().sql(winner.format(t=name)).collect()
    thread.join()
    assert [type(e) for e in caught] == [kind]
    assert "Nothing was written" in str(caught[0])


def test_an_unknown_error_keeps_the_engines_own_words() -> None:
    class Odd(ENGINE_ERRORS[0]):  # type: ignore[misc,valid-type]
        def __str__(self) -> str:
            return "something [NEW_ERROR] odd"

        def getCondition(self) -> Any:
            return None

    assert "NEW_ERROR" in str(translated("scan", Odd()))
