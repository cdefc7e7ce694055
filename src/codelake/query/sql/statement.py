"""A text that may run: what it reads, and how the engine is told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from codelake.errors import QueryRefused
from codelake.query.sql.dialect import ENGINE, DataFusion, dialect_of
from codelake.query.sql.lineage import lineage
from codelake.query.sql.names import qualified, refuse_functions, tables_of
from codelake.query.sql.parsing import parsed

FUNCTIONS = "SELECT DISTINCT routine_name AS name, function_type AS kind FROM information_schema.routines"
"""The engine's own catalogue."""


@dataclass(frozen=True)
class Statement:
    text: str
    """As it was given."""
    sql: str
    """As the engine gets it, rendered from the tree: comments and whatever else the tree does not have are gone."""
    tables: tuple[str, ...]
    tree: exp.Query
    whole: exp.Query
    """With every column's table."""

    @property
    def fingerprint(self) -> str:
        """The same for texts that differ only in layout, comments, case of names, dialect or aliases of tables."""
        canonical = self.whole.sql(dialect=DataFusion(), comments=False, normalize=True, identify=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def lineage(self) -> dict[str, Any]:
        return lineage(self.tree)


def statement(text: str, functions: Mapping[str, set[str]], *, dialect: str = ENGINE) -> Statement:
    """Parsed, checked and rendered, or refused."""
    tree = parsed(text, dialect_of(dialect))
    try:
        if dialect != ENGINE:
            tree = _translated(text, tree)
        tables = tables_of(text, tree)
        refuse_functions(text, tree, functions)
        whole = qualified(text, tree)
        sql = tree.sql(dialect=DataFusion(), comments=False)
    except RecursionError as error:
        raise QueryRefused("the text is nested too deeply", text=text, place=0) from error
    except (SqlglotError, AttributeError, TypeError, ValueError, IndexError, KeyError, AssertionError) as error:
        # sqlglot fails so on some texts that parse and mean nothing.
        raise QueryRefused("the text is not understood", text=text, place=0) from error
    return Statement(text, sql, tables, tree, whole)


def _translated(text: str, tree: exp.Query) -> exp.Query:
    """In the engine's words. Places in the text are those of the names, which stay; of anything else none is known."""
    rendered = tree.sql(dialect=DataFusion(), comments=False)
    again = parsed(rendered, DataFusion())
    marks = {node.name: node.meta["start"] for node in tree.find_all(exp.Identifier) if "start" in node.meta}
    for node in again.walk():
        node.meta.pop("start", None)
        if isinstance(node, exp.Identifier) and node.name in marks:
            node.meta["start"] = marks[node.name]
    return again
