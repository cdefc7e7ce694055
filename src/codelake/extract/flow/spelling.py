"""Texts of which a part is known, or which are one of a few, in contents that look attributes up by such names:
`getattr(self, f'visit_{kind}')`, `for name in ('a', 'b'): getattr(self, name)`."""

from __future__ import annotations

import ast
import re
from typing import Any

from codelake.extract.flow.facts import ANY, Facts
from codelake.extract.tree import Tree

_PERCENT = re.compile(r"%(?:\(\w+\))?[sdri]")
_BRACES = re.compile(r"\{[^{}]*\}")
_FORM = re.compile(r"[A-Za-z_*][\w*]*")
_LEAST = 3
"""How many letters must be known."""
_MOST = 24
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_SPELLING = ("lower", "upper", "strip")


def spelled(tree: Tree, found: Facts) -> None:
    asks = (call for call in tree.every(ast.Call) if getattr(call.func, "id", None) == "getattr" and len(call.args) > 1)
    if all(call.args[1].__class__ is ast.Constant for call in asks):
        return
    for node in tree.every(ast.JoinedStr, ast.BinOp, ast.Call):
        if node.__class__ is ast.Call and getattr(node.func, "attr", None) in _SPELLING:
            found.add("respelled", node.at, node.func.value.at)
        form = _form(node)
        if ANY in form and _FORM.fullmatch(form) and len(form.replace(ANY, "")) >= _LEAST:
            found.add("like", node.at, node.at, form)
    for node in tree.every(ast.For, ast.comprehension):
        if node.target.__class__ is ast.Name and node.iter.__class__ in _DISPLAYS:
            _add_each(found, node.target.at, node.iter.elts)
    for node in tree.every(ast.IfExp):
        _add_each(found, node.at, [node.body, node.orelse])


def _add_each(found: Facts, at: int, every: list[Any]) -> None:
    if len(every) <= _MOST and all(_is_text(one) and one.value.isidentifier() for one in every):
        for one in every:
            found.add("like", at, one.at, one.value)


def _form(node: Any) -> str:
    """A text with a star for what is not known."""
    kind = node.__class__
    if kind is ast.Constant and node.value.__class__ is str:
        return node.value
    if kind is ast.JoinedStr:
        return _joined([_form(part) for part in node.values])
    if kind is ast.BinOp and node.op.__class__ is ast.Add:
        return _joined([_form(node.left), _form(node.right)])
    if kind is ast.BinOp and node.op.__class__ is ast.Mod and _is_text(node.left):
        return _joined([_PERCENT.sub(ANY, node.left.value)])
    if kind is ast.Call and getattr(node.func, "attr", None) == "format" and _is_text(node.func.value):
        return _joined([_BRACES.sub(ANY, node.func.value.value)])
    return ANY


def _is_text(node: Any) -> bool:
    return node.__class__ is ast.Constant and node.value.__class__ is str


def _joined(parts: list[str]) -> str:
    return re.sub(r"\*+", ANY, "".join(parts))
