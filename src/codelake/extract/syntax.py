"""Syntax nodes: the tree itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codelake.extract.tree import Tree

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

# The identifier that a node of a kind carries.
_NAMED = {
    "Name": "id",
    "Attribute": "attr",
    "FunctionDef": "name",
    "AsyncFunctionDef": "name",
    "ClassDef": "name",
    "arg": "arg",
    "keyword": "arg",
    "alias": "name",
    "ExceptHandler": "name",
    "ImportFrom": "module",
    "MatchAs": "name",
    "MatchStar": "name",
    "MatchMapping": "rest",
    "TypeVar": "name",
    "TypeVarTuple": "name",
    "ParamSpec": "name",
}
_OPERATED = ("BinOp", "UnaryOp", "BoolOp", "AugAssign")


def nodes(tree: Tree) -> tuple[Rows, ...]:
    kinds = [node.__class__.__name__ for node in tree.nodes]
    names: list[str | None] = [None] * len(kinds)
    for kind, found in tree.of_kind.items():
        name = kind.__name__
        if attribute := _NAMED.get(name):
            for node in found:
                names[node.at] = getattr(node, attribute)
        elif name in ("Constant", "MatchSingleton"):
            for node in found:
                names[node.at] = node.value.__class__.__name__
        elif name in _OPERATED:
            for node in found:
                names[node.at] = node.op.__class__.__name__
        elif name == "Compare":
            for node in found:
                names[node.at] = " ".join(op.__class__.__name__ for op in node.ops)
        elif name in ("Global", "Nonlocal"):
            for node in found:
                names[node.at] = " ".join(node.names)
    return ((kinds, tree.fields, tree.parents, names, tree.starts, tree.ends, tree.start_lines, tree.end_lines),)


def dotted(node: Any) -> str | None:
    """`a.b.c` for a name or a chain of attributes of a name."""
    parts = []
    while node.__class__ is ast.Attribute:
        parts.append(node.attr)
        node = node.value
    if node.__class__ is not ast.Name:
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))
