"""Syntax nodes: the tree itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from codelake.extract.tree import Tree, names_of

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
_TYPE_PARAMETERS = ("TypeVar", "TypeVarTuple", "ParamSpec")
MODULE = "<module>"
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
    places = tree.starts, tree.ends, tree.start_lines, tree.end_lines
    return ((kinds, tree.fields, tree.parents, names, *places, _labels(tree)),)


def _labels(tree: Tree) -> list[str | None]:
    """What has a name is named by it; of nodes of one kind at one place, all but the first are counted."""
    labels: list[str | None] = [None] * len(tree.nodes)
    names = names_of(tree)
    for at, scope in names.body_scope.items():
        if names.scope_kinds[scope] in ("class", "function", "lambda"):
            labels[at] = names.labels[scope]
    labels[0] = MODULE
    seen: set[str] = set()  # a tree that was recovered may have a parameter twice
    for node in tree.every(ast.arg):
        label = f"{names.labels[names.scope_of[node.at]]}({node.arg})"
        if label not in seen:
            seen.add(label)
            labels[node.at] = label
    for kind, found in tree.of_kind.items():
        if kind.__name__ in _TYPE_PARAMETERS:
            for node in found:
                owner = labels[tree.parents[node.at]] or names.labels[names.scope_of[node.at]]
                label = f"{owner}[{node.name}]"
                if label not in seen:
                    seen.add(label)
                    labels[node.at] = label
    _count_twins(tree, labels)
    return labels


def _count_twins(tree: Tree, labels: list[str | None]) -> None:
    """Before Python 3.12, all parts of an f-string have its place."""
    codes = np.zeros(len(labels), np.int64)
    numbers: dict[str, int] = {}  # by name: what could not be read is an Error, whether statement or expression
    for kind, found in tree.of_kind.items():
        codes[[node.at for node in found]] = numbers.setdefault(kind.__name__, len(numbers))
    keys = (tree.starts.astype(np.int64) << 36) | (tree.ends.astype(np.int64) << 8) | codes
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    same = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1]) + 1
    count, last = 0, -1
    for place in same.tolist():
        count = count + 1 if place == last + 1 else 1
        last = place
        at = int(order[place])
        if labels[at] is None:
            labels[at] = f"{tree.starts[at]}-{tree.ends[at]}:{tree.nodes[at].__class__.__name__}~{count}"


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
