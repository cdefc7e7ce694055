"""Every name that a question may use: tables and views alike, each with its columns. Whether a name is stored or
follows from others is known here and nowhere else."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NamedTuple

from codelake.contracts import OPERATIONS, TABLES
from codelake.contracts.views import VIEWS
from codelake.errors import NotFound


class Known(NamedTuple):
    name: str
    meaning: str
    columns: tuple[str, ...]
    sql: str = ""
    """Of a view: what it selects."""
    needs: tuple[str, ...] = ()
    """Of a view: the names in its text."""
    is_operations: bool = False
    """Tells what was done to the lake: it is read as it is now, whatever run is asked for."""


def _known() -> dict[str, Known]:
    operations = {table.name for table in OPERATIONS}
    tables = [Known(t.name, t.meaning, t.column_names, is_operations=t.name in operations) for t in TABLES]
    names = {table.name for table in tables} | {view.name for view in VIEWS}
    views = []
    for view in VIEWS:
        sql = view.embedded_sql
        needs = tuple(sorted((names - {view.name}) & set(re.findall(r"\w+", sql))))
        views.append(Known(view.name, view.meaning, view.columns, sql, needs))
    return {known.name: known for known in (*tables, *views)}


CATALOGUE = _known()


def known(name: str) -> Known:
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = get_close_matches(name, CATALOGUE, 3)
    raise NotFound(
        f"table {name}",
        expected=f"one of {', '.join(sorted(CATALOGUE))}",
        found="no such name",
        do=f"Did you mean {' or '.join(near)}?" if near else "",
    )
