"""Calls with what they pass, defaults, texts that name attributes, and `__all__`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from codelake.extract.flow.facts import ANY, Facts, key_of, written
from codelake.extract.tree import Tree, names_of

_NAMING = {
    *(
        "getattr",
        "setattr",
        "hasattr",
        "delattr",
        "__getattribute__",
        "__setattr__",
        "__import__",
        "import_module",
        "attrgetter",
        "methodcaller",
    ),
    *("setdefault", "get", "pop"),
    *("open", "fdopen", "makefile"),
    *("eval", "exec"),
}
"""Functions of which the linker asks what text they were given: names of attributes and modules, keys, modes, code."""
_AGAIN = ("getattr", "setattr", "__getattribute__", "__setattr__")


def calls(tree: Tree, found: Facts) -> None:
    add = found.add
    asked: set[str] = set()
    naming = _NAMING | _named_again(tree)
    for call in tree.every(ast.Call):
        at = call.at
        add("call", at, call.func.at)
        is_known = True
        for number, value in enumerate(call.args):
            if value.__class__ is ast.Starred:
                is_known = False
                add("argument", at, value.value.at, "*")
            else:
                add("argument", at, value.at, str(number) if is_known else "?")
        for word in call.keywords:
            add("argument", at, word.value.at, "**" if word.arg is None else f"={word.arg}")
        name = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
        if name in naming:
            for value in (*call.args, *(word.value for word in call.keywords)):
                if _is_text(value):
                    add("text", value.at, value.at, written(value.value))
                elif value.__class__ is ast.Name:
                    asked.add(value.id)
    for node in tree.every(ast.Assign) if asked else ():
        if _is_text(node.value) and any(getattr(target, "id", None) in asked for target in node.targets):
            add("text", node.value.at, node.value.at, written(node.value.value))
    for node in tree.every(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda):
        args = node.args
        of_positional = zip_longest(reversed((*args.posonlyargs, *args.args)), reversed(args.defaults))
        for parameter, default in (*of_positional, *zip(args.kwonlyargs, args.kw_defaults, strict=False)):
            if parameter is not None and default is not None:
                add("default", parameter.at, default.at)


def _named_again(tree: Tree) -> set[str]:
    """Other names for such functions: `assign = object.__setattr__`, also of one that is bound."""
    found: set[str] = set()
    for node in tree.every(ast.Assign):
        value = node.value
        if value.__class__ is ast.Call and getattr(value.func, "attr", None) == "__get__":
            value = value.func.value
        name = getattr(value, "attr", None) or getattr(value, "id", None)
        if name in _AGAIN or name in found:
            found |= {target.id for target in node.targets if target.__class__ is ast.Name}
    return found


def exports(tree: Tree, found: Facts) -> None:
    """What a module's `__all__` lists, as far as it is written out."""
    scope_of = names_of(tree).scope_of
    for node in tree.every(ast.Assign, ast.AnnAssign, ast.AugAssign):
        targets = node.targets if node.__class__ is ast.Assign else [node.target]
        if scope_of[node.at] == 0 and any(_is_all(target) for target in targets) and node.value is not None:
            _export(node.value, found)
    for node in tree.every(ast.Call):
        function = node.func
        if scope_of[node.at] == 0 and function.__class__ is ast.Attribute and _is_all(function.value):
            for value in node.args:
                if function.attr == "remove" and _is_text(value):
                    found.add("unexport", 0, value.at, written(value.value))
                elif function.attr in ("append", "extend"):
                    _export(value, found)


def lookups(tree: Tree, found: Facts) -> None:
    """Parameters by which a function looks items up, and the constants that are passed to functions of these names."""
    scope_of, scope_nodes = names_of(tree).scope_of, names_of(tree).scope_nodes
    asked: dict[str, Any] = {}
    looking: dict[int, None] = {}
    for node in tree.every(ast.Subscript):
        function = scope_nodes[scope_of[node.at]]
        if node.slice.__class__ is ast.Name and function.__class__ in (ast.FunctionDef, ast.AsyncFunctionDef):
            args = function.args
            for one in (*args.posonlyargs, *args.args, *args.kwonlyargs):
                if one.arg == node.slice.id and node.ctx.__class__ is ast.Load:
                    looking[one.at] = None
                    asked[function.name] = args
    for at in looking:
        found.add("lookup", at, at)
    passed = [value for args in asked.values() for value in (*args.defaults, *args.kw_defaults) if value is not None]
    for call in tree.every(ast.Call) if asked else ():
        if (getattr(call.func, "id", None) or getattr(call.func, "attr", None)) in asked:
            passed += (*call.args, *(word.value for word in call.keywords))
    for value in passed:
        key = key_of(value)
        if key != ANY and value.__class__ is ast.Constant:
            found.add("constant", value.at, value.at, written(key))


def _is_text(node: Any) -> bool:
    return node.__class__ is ast.Constant and node.value.__class__ is str


def _is_all(node: Any) -> bool:
    return node.__class__ is ast.Name and node.id == "__all__"


def _export(node: Any, found: Facts) -> None:
    for part in _parts(node):
        if _is_text(part):
            found.add("export", 0, part.at, written(part.value))
        elif part.__class__ is ast.Attribute and part.attr == "__all__":
            found.add("export_of", 0, part.value.at)
        elif not _is_all(part):
            found.add("export", 0, part.at, ANY)


def _parts(node: Any) -> Iterator[Any]:
    """From left to right. Without recursion: a sum of thousands of lists is as deep as it is long."""
    todo = [node]
    while todo:
        node = todo.pop()
        if node.__class__ is ast.BinOp and node.op.__class__ is ast.Add:
            todo += (node.right, node.left)
        elif node.__class__ in (ast.List, ast.Tuple, ast.Set):
            todo += reversed(node.elts)
        elif node.__class__ is ast.Starred:
            todo.append(node.value)
        else:
            yield node
