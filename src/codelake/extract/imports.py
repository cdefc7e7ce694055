"""Imports, one a name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codelake.extract.syntax import dotted
from codelake.extract.tree import Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

_CONDITIONS = (ast.If, ast.Try, getattr(ast, "TryStar", ast.Try), ast.While, ast.For, ast.Match)
_TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING")


def imports(tree: Tree) -> tuple[Rows, ...]:
    names = names_of(tree)
    rows: list[tuple[Any, ...]] = []
    for statement in tree.every(ast.Import, ast.ImportFrom):
        is_conditional, is_type_checking = _conditions(tree, statement)
        scope = names.scope_of[statement.at]
        is_from = statement.__class__ is ast.ImportFrom
        for alias in statement.names:
            rows.append(
                (
                    alias.at,
                    statement.at,
                    scope,
                    (statement.level or 0) if is_from else 0,
                    statement.module if is_from else alias.name,
                    alias.name if is_from else None,
                    alias.asname,
                    is_conditional,
                    is_type_checking,
                )
            )
    return (tuple(zip(*rows, strict=True)) if rows else ((),) * 9,)


def _conditions(tree: Tree, node: Any) -> tuple[bool, bool]:
    """Whether a statement of a scope runs under some condition, and whether only type checkers see it run."""
    is_conditional = False
    while True:
        at = node.at
        if at == 0:
            return is_conditional, False
        node = tree.nodes[tree.parents[at]]
        kind = node.__class__
        if kind is ast.If and tree.fields[at] == "body" and dotted(node.test) in _TYPE_CHECKING:
            return True, True
        if kind in _CONDITIONS:
            is_conditional = True
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            return is_conditional, False
