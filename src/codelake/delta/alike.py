"""Checks that Spark and deltalake read alike: only these may bind what deltalake writes.

Both get the same text. But of whole numbers one makes fractions where the other drops the rest, one compares names
without case, and each has ways of its own to compare a text with a number, to escape a letter and to cut a text. So:
comparisons between values of one kind, and the few functions that were tried in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import sqlglot
from sqlglot import exp

from codelake.contracts.table import Column, Table
from codelake.contracts.types import parse_type
from codelake.delta.expressions import Spark4

_NUMBER, _TEXT, _TRUTH = "number", "string", "boolean"
_KINDS = dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double"), _NUMBER)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_OTHERWISE_WRITTEN = frozenset('\\"')
"""A backslash escapes to Spark alone; what is in double quotes is a text to Spark and a name to deltalake."""


def are_read_alike(table: Table) -> bool:
    """The checks of a contract."""
    return all(_is_read_alike(check.sql, table.columns) for check in table.all_checks)


@cache
def _is_read_alike(sql: str, columns: Sequence[Column]) -> bool:
    if not _OTHERWISE_WRITTEN.isdisjoint(sql):
        return False
    kinds = {column.name: str(parse_type(column.type)) for column in columns}
    return _kind(sqlglot.parse_one(sql, dialect=Spark4), kinds) == _TRUTH


def _kind(node: exp.Expr, columns: dict[str, str]) -> str | None:
    """What an expression gives; None where that is not said here."""
    if isinstance(node, exp.Column):
        name = node.this
        is_exact = len(node.parts) == 1 and (name.quoted or name.name.islower())
        found = columns.get(name.name) if is_exact else None
        return _KINDS.get(found, found) if found else None
    if isinstance(node, exp.Literal):
        return _TEXT if node.is_string else _NUMBER
    if isinstance(node, exp.Boolean):
        return _TRUTH
    kinds = {_kind(one, columns) for one in node.iter_expressions() if not isinstance(one, exp.Null)}
    if len(kinds) != 1 or None in kinds:
        return None
    (kind,) = kinds
    if isinstance(node, (exp.Paren, exp.Coalesce)):
        return kind
    if isinstance(node, (*_COMPARED, exp.Is)) or (isinstance(node, (exp.And, exp.Or, exp.Not)) and kind == _TRUTH):
        return _TRUTH
    if kind != _TEXT:
        return None
    if isinstance(node, exp.Like):
        return _TRUTH
    if isinstance(node, exp.Length):
        return _NUMBER
    is_btrim = isinstance(node, exp.Anonymous) and node.name.lower() == "btrim"
    return _TEXT if is_btrim or (isinstance(node, exp.Trim) and node.expression is None) else None
