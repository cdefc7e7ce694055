"""Errors of the engine, told apart: real conflicts between real transactions."""

from __future__ import annotations

import threading
import time

import pytest

from codelake.delta.create import create_table
from codelake.delta.engine import ENGINE_ERRORS, engine_errors, translated
from codelake.delta.lake import Lake
from codelake.delta.write import commit
from codelake.errors import Conflict, ConflictFinal, Unavailable
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
        session = lake.session.newSession()
        session.udf.register("nap", lambda: time.sleep(4) or 2, "int")
        try:
            session.sql(f"UPDATE {name} SET size = nap() WHERE id = 1").collect()
        except ENGINE_ERRORS as error:
            caught.append(translated("update of things", error))

    thread = threading.Thread(target=slow)
    thread.start()
    time.sleep(2)
    lake.session.newSession().sql(winner.format(t=name)).collect()
    thread.join()
    assert [type(e) for e in caught] == [kind], caught
    assert "Nothing was written" in str(caught[0])


def test_an_error_that_nobody_foresaw_keeps_the_engines_own_words(lake: Lake) -> None:
    with pytest.raises(Unavailable, match=r"UNRESOLVED_COLUMN.*`nope`"), engine_errors("a question"):
        lake.session.sql("SELECT nope").collect()
