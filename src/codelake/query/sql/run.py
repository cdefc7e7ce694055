"""A text from outside, run within limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codelake.errors import EngineFailed, QueryRefused
from codelake.query.answer import LISTED, SHOWN, Converted, drawn, listed
from codelake.query.engine import Engine
from codelake.query.sql.dialect import ENGINE
from codelake.query.sql.statement import FUNCTIONS, Statement, statement

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, repr=False)
class SqlAnswer(Converted):
    """Rows of any shape, as Arrow; other forms follow from it."""

    table: pyarrow.Table
    statement: Statement
    is_cut: bool
    """There were more rows than the limit."""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(self.table.to_pylist(maps_as_pydicts="strict"))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_arrow(self) -> pyarrow.Table:
        return self.table

    def __repr__(self) -> str:
        """For Python sessions."""
        return "\n".join((listed(self.columns, self._first(LISTED), len(self)), *self._cut))

    def _repr_html_(self) -> str:
        """For notebooks."""
        parts = [*self._cut, *([f"the first {SHOWN} of {len(self):,} rows"] if len(self) > SHOWN else [])]
        return drawn("", self.columns, self._first(SHOWN), note="; ".join(parts))

    @property
    def _cut(self) -> list[str]:
        return [f"only the first {len(self):,} rows were read"] if self.is_cut else []

    def _first(self, n: int) -> list[dict[str, Any]]:
        return list(self.table.slice(0, n).to_pylist(maps_as_pydicts="strict"))


def functions(engine: Engine) -> dict[str, set[str]]:
    """Every function of the engine, with its kinds: SCALAR, AGGREGATE, WINDOW, TABLE."""
    found: dict[str, set[str]] = {}
    for row in engine.ask(FUNCTIONS):
        found.setdefault(row["name"], set()).add(row["kind"])
    return found


def checked(engine: Engine, text: str, *, dialect: str = ENGINE) -> Statement:
    return statement(text, functions(engine), dialect=dialect)


def run(engine: Engine, text: str, *, dialect: str = ENGINE) -> SqlAnswer:
    allowed = checked(engine, text, dialect=dialect)
    return _run(engine, allowed, allowed.sql)


def explain(engine: Engine, text: str, *, dialect: str = ENGINE) -> SqlAnswer:
    """How the engine would run it: its logical and its physical plan."""
    allowed = checked(engine, text, dialect=dialect)
    return _run(engine, allowed, f"EXPLAIN {allowed.sql}")


def _run(engine: Engine, allowed: Statement, sql: str) -> SqlAnswer:
    try:
        found = engine.result(sql, allowed.tables)
    except EngineFailed as error:
        raise QueryRefused(f"the engine refuses it: {error.what}", text=allowed.text, place=0) from error
    return SqlAnswer(found.table, allowed, found.is_cut)
