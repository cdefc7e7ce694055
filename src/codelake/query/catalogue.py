"""Every name that a question may use: tables and views alike, each with its columns. Whether a name is stored or
follows from others is known here and nowhere else."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NamedTuple

from codelake.contracts import OPERATIONS, TABLES, Table
from codelake.contracts.views import VIEWS
from codelake.errors import NotFound
from codelake.query.published import BEFORE

_NESTED = ("array", "map", "struct")
_CHANGES = "_changes"


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
    before: str = ""
    """The table that this name means in an earlier run."""


def _known() -> dict[str, Known]:
    operations = {table.name for table in OPERATIONS}
    tables = [Known(t.name, t.meaning, t.column_names, is_operations=t.name in operations) for t in TABLES]
    compared = [each for t in TABLES if t.name not in operations for each in _compared(t)]
    names = {table.name for table in tables} | {view.name for view in VIEWS}
    views = []
    for view in VIEWS:
        sql = view.embedded_sql
        needs = tuple(sorted((names - {view.name}) & set(re.findall(r"\w+", sql))))
        views.append(Known(view.name, view.meaning, view.columns, sql, needs))
    return {known.name: known for known in (*tables, *views, *compared)}


def _compared(table: Table) -> list[Known]:
    """The table in an earlier run; and, if its rows have a key, what changed since, as a change feed would say."""
    then = f"{BEFORE}{table.name}"
    earlier = Known(then, f"{table.name} in the earlier run that --since names.", table.column_names, before=table.name)
    if not table.key:
        return [earlier]
    same = " AND ".join(f"t.{name} = o.{name}" for name in table.key)
    values = [c.name for c in table.columns if c.name not in table.key and not c.type.startswith(_NESTED)]
    differs = " OR ".join(f"(t.{name} IS DISTINCT FROM o.{name})" for name in values) or "false"
    columns = ", ".join(f"t.{name}" for name in table.column_names)
    parts = (
        ("insert", table.name, f"LEFT ANTI JOIN {then} o ON {same}"),
        ("delete", then, f"LEFT ANTI JOIN {table.name} o ON {same}"),
        ("update_preimage", then, f"JOIN {table.name} o ON {same} WHERE {differs}"),
        ("update_postimage", table.name, f"JOIN {then} o ON {same} WHERE {differs}"),
    )
    sql = " UNION ALL ".join(f"SELECT {columns}, '{kind}' AS _change_type FROM {of} t {how}" for kind, of, how in parts)
    meaning = f"What changed in {table.name} since the earlier run that --since names."
    return [
        earlier,
        Known(f"{table.name}{_CHANGES}", meaning, (*table.column_names, "_change_type"), sql, (table.name, then)),
    ]


CATALOGUE = _known()
USUAL = [name for name in CATALOGUE if not name.startswith(BEFORE) and not name.endswith(_CHANGES)]
"""Those that need no earlier run: what is meant by a name that there is not."""


def known(name: str) -> Known:
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = get_close_matches(name, USUAL, 3)
    raise NotFound(
        f"table {name}",
        expected=f"one of {', '.join(sorted(USUAL))}",
        found="no such name",
        do=f"Did you mean {' or '.join(near)}?" if near else "",
    )
