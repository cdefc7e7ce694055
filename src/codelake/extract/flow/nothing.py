"""Where None comes from: it is written, or the end of a function is reached."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.flow.facts import Facts
from codelake.extract.tree import Tree, names_of

_KEEPING = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Lambda)
"""What keeps or gives back a value that is written in it."""
_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def nothing(tree: Tree, found: Facts) -> None:
    names = names_of(tree)
    for node in tree.every(ast.Constant):
        if node.value is None:
            at = _chosen(tree, node.at)
            is_default = tree.fields[at] in ("defaults", "kw_defaults")
            if is_default or (
                tree.nodes[tree.parents[at]].__class__ in _KEEPING and tree.fields[at] in ("value", "body")
            ):
                found.add("none", at, at)
    ending = {node.at for node in tree.every(ast.FunctionDef, ast.AsyncFunctionDef) if _ends(node.body)}
    for node in tree.every(ast.Return):
        if node.value is None:
            ending.add(names.scope_nodes[names.scope_of[node.at]].at)
    for at in sorted(ending):
        found.add("ends", at, at)


def _chosen(tree: Tree, at: int) -> int:
    """What an expression is chosen by, if it is a branch: `x if c else None`."""
    while tree.nodes[tree.parents[at]].__class__ is ast.IfExp and tree.fields[at] != "test":
        at = tree.parents[at]
    return at


def _ends(body: list[Any]) -> bool:
    """Whether what is behind some statements may be reached."""
    return all(map(_goes_on, body))


def _goes_on(node: Any) -> bool:
    kind = node.__class__
    if kind in (ast.Return, ast.Raise, ast.Continue, ast.Break):
        return False
    if kind is ast.If:
        return _ends(node.body) or _ends(node.orelse)
    if kind in (ast.With, ast.AsyncWith):
        return _ends(node.body)
    if kind in (ast.Try, ast.TryStar):
        is_through = _ends([*node.body, *node.orelse]) or any(_ends(one.body) for one in node.handlers)
        return is_through and _ends(node.finalbody)
    if kind is ast.While and node.test.__class__ is ast.Constant and node.test.value:
        return _breaks(node.body)
    if kind is ast.Match:
        last = node.cases[-1]
        is_whole = last.guard is None and last.pattern.__class__ is ast.MatchAs and last.pattern.pattern is None
        return not is_whole or any(_ends(case.body) for case in node.cases)
    return True


def _breaks(body: list[Any]) -> bool:
    """Whether a loop is left by a `break` of its own."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if node.__class__ is ast.Break:
            return True
        if node.__class__ in (ast.For, ast.AsyncFor, ast.While):
            todo += node.orelse
        elif node.__class__ not in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            todo += (one for one in ast.iter_child_nodes(node) if isinstance(one, _STATEMENTS))
    return False
