"""What a check found: one fault of one table, with its place and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fault", "note"]


@dataclass(frozen=True)
class Finding:
    """`fault` is the name of the kind of fault; `place` is a file or entry below the table's folder.

    A note is worth knowing and hides no row, such as a file that no version of the table names.
    """

    table: str
    fault: str
    place: str
    expected: str
    found: str
    level: Level = "fault"
    do: str = "Restore it from a copy."
    set_aside: tuple[str, ...] = ()
    """Files that engines can do without: moving them out mends the table: codelake.delta.maintenance.repair."""

    def __str__(self) -> str:
        return f"{self.table}: {self.fault}: {self.place}: expected {self.expected}, found {self.found}. {self.do}"
