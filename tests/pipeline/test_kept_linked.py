"""A repository that stays linked between the builds of a session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codelake.delta.lake import Lake
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline import open_units
from codelake.pipeline.build import build
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.lakes import PreparedLake
from tests.properties.edits import write
from tests.properties.test_incremental import check, wait_until_ready
from tests.test_pipes import interrupted_when


class Session:
    def __init__(self, lake: Lake, folder: Path, units: OpenUnits) -> None:
        self.lake, self.folder, self.units = lake, folder, units

    def append(self, path: str, text: str) -> None:
        with (self.folder / path).open("a") as out:
            out.write(text)

    def build(self, units: OpenUnits | None = None) -> list[str]:
        """Why linking did what it did."""
        reading = Reading(open_sources([str(self.folder)]), Progress())
        done: dict[str, Any] = build(self.lake, reading, limits=Limits(), open_units=units)
        return next(stage["why"] for stage in done["stages"] if stage["stage"] == "link")

    def built_after(self, path: str, text: str) -> list[str]:
        self.append(path, text)
        wait_until_ready(self.units)
        return self.build(self.units)


@pytest.fixture
def session(prepared_lake: PreparedLake, tmp_path: Path) -> Iterator[Session]:
    write(tmp_path / "shop")
    with OpenUnits() as units:
        found = Session(prepared_lake(tmp_path / "lake"), tmp_path / "shop", units)
        assert not any("stayed linked" in why for why in found.build(units))
        yield found


def test_a_comment_beside_another_edit_is_in_the_lake(
    session: Session, prepared_lake: PreparedLake, tmp_path: Path
) -> None:
    """The process that keeps the repository linked says nothing of a file in which linking sees nothing new."""
    session.append("shop/tax.py", "# said\n")
    assert any("stayed" in why for why in session.built_after("shop/basket.py", "\n\ndef more(x):\n    return x\n"))
    anew = Session(prepared_lake(tmp_path / "anew"), session.folder, session.units)
    anew.build()
    check(session.lake, anew.lake, "a comment beside another edit")


def test_what_an_edit_changes_is_all_that_is_looked_at(
    session: Session, prepared_lake: PreparedLake, tmp_path: Path
) -> None:
    more = "\n\ndef more(items):\n    return total(items).show()\n"
    assert "shop stayed linked: 2 file(s) looked at" in session.built_after("shop/basket.py", more)

    # built by somebody else in between: what the process last said is not what the lake has
    session.append("shop/tax.py", "\n\ndef none():\n    return taxed(Money(0))\n")
    session.build()
    assert "shop stayed linked: 8 file(s) looked at" in session.built_after("shop/tax.py", "    again = none()\n")

    # a class is looked up by its name, so all is linked anew; as it is where the process is gone, or files come
    assert not any("stayed" in why for why in session.built_after("shop/tax.py", "\nclass Rate(Money):\n    pass\n"))
    wait_until_ready(session.units)
    (unit,) = session.units.units.values()
    os.kill(unit.pid, signal.SIGKILL)
    os.waitid(os.P_PID, unit.pid, os.WEXITED | os.WNOWAIT)
    assert not any("stayed" in why for why in session.built_after("shop/tax.py", "\nrate = Rate(1)\n"))
    (session.folder / "shop" / "new.py").write_text("from .tax import taxed, rate\ntaxed(rate)\n")
    assert not any("stayed" in why for why in session.build(session.units))
    assert any("stayed" in why for why in session.built_after("shop/new.py", "rate.show()\n"))

    anew = Session(prepared_lake(tmp_path / "anew"), session.folder, session.units)
    anew.build()
    check(session.lake, anew.lake, "kept linked")


def test_what_another_build_took_back_is_asked_for_again(session: Session) -> None:
    path = session.folder / "shop" / "tax.py"
    before = path.read_text()
    session.built_after("shop/tax.py", "\n\ndef none():\n    return taxed(Money(0))\n")
    after = path.read_text()
    path.write_text(before)
    session.build()
    path.write_text(after)
    assert "shop stayed linked: 8 file(s) looked at" in session.built_after("shop/tax.py", "")


def test_an_answer_that_nobody_waited_for_is_not_taken_for_another(
    session: Session, prepared_lake: PreparedLake, tmp_path: Path
) -> None:
    path = session.folder / "shop" / "tax.py"
    before = path.read_text()
    session.append("shop/tax.py", "\n\ndef none():\n    return taxed(Money(0))\n")
    wait_until_ready(session.units)
    (unit,) = session.units.units.values()
    os.kill(unit.pid, signal.SIGSTOP)
    with interrupted_when(lambda: unit.version is None):
        session.build(session.units)
    with suppress(ProcessLookupError):
        os.kill(unit.pid, signal.SIGCONT)  # now it would answer
    path.write_text(before)
    session.build(session.units)
    session.built_after("shop/basket.py", "\n\ndef more(items):\n    return total(items).show()\n")
    anew = Session(prepared_lake(tmp_path / "anew"), session.folder, session.units)
    anew.build()
    check(session.lake, anew.lake, "interrupted")


def test_a_process_that_ends_while_it_is_given_its_rows_is_done_without(
    prepared_lake: PreparedLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_units, "_SERVE", "codelake.ids")  # a module that reads nothing
    write(tmp_path / "shop")
    with OpenUnits() as units:
        Session(prepared_lake(tmp_path / "lake"), tmp_path / "shop", units).build(units)
        assert units.units == {}
