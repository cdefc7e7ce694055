"""Access paths: a name with attributes and constant keys behind it, such as `self.parts['a']`.

Within a list of statements, what was last stored under constant keys is known where it is loaded again, until something
else may have got hold of the container.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codelake.extract.flow.facts import ANY, Facts, key_of
from codelake.extract.tree import Tree

_SIMPLE = (ast.Assign, ast.Expr, ast.Return, ast.Assert, ast.AnnAssign)
"""Statements that are followed; any other ends what is known."""


def path_of(node: Any) -> tuple[Any, str] | None:
    """The name that a path begins with, and the path as text."""
    parts: list[str] = []
    while True:
        kind = node.__class__
        if kind is ast.Name:
            return node, node.id + "".join(reversed(parts))
        if kind is ast.Attribute:
            parts.append(f".{node.attr}")
        elif kind is ast.Subscript and node.slice.__class__ is not ast.Slice and (key := key_of(node.slice)) != ANY:
            parts.append(f"[{key}]")
        else:
            return None
        node = node.value


def known_items(tree: Tree, found: Facts) -> None:
    seen: set[tuple[int, str]] = set()
    for target in tree.every(ast.Subscript):
        statement = tree.parents[target.at]
        if target.ctx.__class__ is ast.Store and tree.nodes[statement].__class__ is ast.Assign:
            seen.add((tree.parents[statement], tree.fields[statement]))
    for call in tree.every(ast.Expr):
        if _updated(call) is not None:
            seen.add((tree.parents[call.at], tree.fields[call.at]))
    for parent, field in sorted(seen):
        _follow(tree, getattr(tree.nodes[parent], field), found)


def _follow(tree: Tree, statements: list[Any], found: Facts) -> None:
    held: dict[str, int] = {}
    for statement in statements:
        if statement.__class__ not in _SIMPLE:
            held.clear()
            continue
        if held:
            _load(tree, statement, held, found)
        for path, value in _stores(statement):
            for other in [one for one in held if _may_be(one, path)]:
                del held[other]
            if value is not None and path.endswith("]"):
                held[path] = value.at


def _stores(statement: Any) -> Iterator[tuple[str, Any]]:
    """Paths that a statement stores, with their values where those are known."""
    if statement.__class__ is ast.Assign:
        for target in statement.targets:
            for part in ast.walk(target) if target.__class__ in (ast.Tuple, ast.List) else (target,):
                path = path_of(part)
                if path is not None:
                    yield path[1], statement.value if part is target else None
    updated = _updated(statement)
    if updated is not None:
        yield from updated


def _updated(statement: Any) -> list[tuple[str, Any]] | None:
    """What `d.update({'k': v})` stores."""
    call = statement.value if statement.__class__ is ast.Expr else None
    if call.__class__ is not ast.Call or call.func.__class__ is not ast.Attribute or call.func.attr != "update":
        return None
    path = path_of(call.func.value)
    if path is None or len(call.args) > 1 or any(one.__class__ is not ast.Dict for one in call.args):
        return None
    pairs = [(key_of(key), v) for one in call.args for key, v in zip(one.keys, one.values, strict=True)]
    pairs += [(ANY if word.arg is None else repr(word.arg), word.value) for word in call.keywords]
    return None if any(key == ANY for key, _ in pairs) else [(f"{path[1]}[{key}]", value) for key, value in pairs]


def _may_be(path: str, other: str) -> bool:
    """Whether a store to the one may change what is known of the other: it begins with it, or ends alike."""
    return path.startswith(other) or path.rpartition("[")[2] == other.rpartition("[")[2]


def _load(tree: Tree, statement: Any, held: dict[str, int], found: Facts) -> None:
    """Loads of what is known. What is used in any other way may be changed."""
    nodes, parents = tree.nodes, tree.parents
    for at in range(statement.at + 1, len(nodes)):
        if parents[at] < statement.at:
            break
        if nodes[at].__class__ is not ast.Name:
            continue
        name, text, longest = nodes[at].id, nodes[at].id, at
        whole = at
        while (above := _longer(nodes, parents, whole)) is not None:
            whole, text = above, (path_of(nodes[above]) or ("", text))[1]
            if text in held and nodes[whole].ctx.__class__ is ast.Load:
                found.add("known", whole, held[text])
                longest = whole
        if longest == at and not _is_stored(nodes[whole]) and not _is_update(nodes, parents, at):
            for path in [one for one in held if one == name or one.startswith((f"{name}[", f"{name}."))]:
                del held[path]


def _longer(nodes: list[Any], parents: list[int], at: int) -> int | None:
    """The path that a path is the beginning of."""
    above = nodes[parents[at]]
    is_longer = (
        above.__class__ in (ast.Attribute, ast.Subscript) and above.value.at == at and path_of(above) is not None
    )
    return parents[at] if is_longer else None


def _is_stored(node: Any) -> bool:
    return getattr(node, "ctx", None).__class__ is ast.Store


def _is_update(nodes: list[Any], parents: list[int], at: int) -> bool:
    """Whether a name is what an `update` of known items is called on."""
    while at > 0 and nodes[at].__class__ is not ast.Expr:
        at = parents[at]
    return _updated(nodes[at]) is not None
