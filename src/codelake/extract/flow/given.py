"""Returns that are reached only where a parameter is given, or only where it is not: `if function is None: return ...`.

Of parameters whose default is None, and of those that hold the rest, as long as nothing else is stored in them. Tests
of statements count: their branches, and what is behind a branch that leaves; and of what is returned: `a if c else b`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codelake.extract.tree import Tree, names_of

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_OTHERWISE = {"+": "-", "-": "+", "?": "!", "!": "?"}
"""None or not, true or not."""
Said = list[str]


def conditions(tree: Tree) -> dict[int, str]:
    """By node of a `return`, or of a branch of what it returns: what holds there, as signs and names of parameters."""
    tests = list(_tests(tree))
    if not tests:
        return {}
    within: dict[int, Said] = {}
    behind: dict[tuple[int, str], list[tuple[int, Said]]] = {}
    for node, true, false in tests:
        if node.__class__ is ast.IfExp:
            within[node.body.at], within[node.orelse.at] = true, false
            continue
        for said, statements in ((true, node.body), (false, node.orelse)):
            for one in statements if said else ():
                within[one.at] = said
        said = false if node.body[-1].__class__ in _LEAVING else []
        if node.orelse and node.orelse[-1].__class__ in _LEAVING:
            said = true if not said else []
        if said:
            behind.setdefault((tree.parents[node.at], tree.fields[node.at]), []).append((node.at, said))
    found = {}
    for at in (one.at for node in tree.every(ast.Return) for one in (node, *branches(node))):
        holding = dict.fromkeys(_holding(tree, within, behind, at))
        if holding:
            found[at] = " ".join(sorted(holding))
    return found


def branches(node: Any) -> tuple[Any, ...]:
    """Of `return a if c else b`: what either is. None is no value that goes anywhere."""
    value = node.value
    if value.__class__ is not ast.IfExp:
        return ()
    found = value.body, value.orelse
    return () if any(one.__class__ is ast.Constant and one.value is None for one in found) else found


def _tests(tree: Tree) -> Iterator[tuple[Any, Said, Said]]:
    """Statements, and returned expressions, that test parameters, with what holds if so and if not."""
    names = names_of(tree)
    asked = []
    optional: dict[int, set[str]] = {}
    for node in (*tree.every(ast.If), *(one.value for one in tree.every(ast.Return) if branches(one))):
        true, false = _said(node.test)
        if true or false:
            scope = names.scope_of[node.at]
            if scope not in optional:
                optional[scope] = _optional(names.scope_nodes[scope])
            asked.append((node, scope, true, false))
    if not any(optional.values()):
        return
    tested = {name for every in optional.values() for name in every}
    for name in tree.every(ast.Name):
        if name.id in tested and name.ctx.__class__ is not ast.Load:
            optional.get(names.scope_of[name.at], set()).discard(name.id)
    for node, scope, true, false in asked:
        known = optional[scope]
        yield node, [one for one in true if one[1:] in known], [one for one in false if one[1:] in known]


def _optional(function: Any) -> set[str]:
    """Parameters of which it can be told whether they are given."""
    if function.__class__ not in (ast.FunctionDef, ast.AsyncFunctionDef):
        return set()
    args = function.args
    positional = [*args.posonlyargs, *args.args][-len(args.defaults) :] if args.defaults else []
    pairs = (*zip(positional, args.defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True))
    found = {one.arg for one, default in pairs if default.__class__ is ast.Constant and default.value is None}
    return found | {one.arg for one in (args.vararg, args.kwarg) if one is not None}


def _said(test: Any) -> tuple[Said, Said]:
    """What holds of names if a test is true, and if it is not."""
    kind = test.__class__
    if kind is ast.Name:
        return [f"?{test.id}"], [f"!{test.id}"]
    if kind is ast.UnaryOp and test.op.__class__ is ast.Not:
        true, false = _said(test.operand)
        return false, true
    if kind is ast.BoolOp:
        parts = [_said(value) for value in test.values]
        both = [one for part in parts for one in part[test.op.__class__ is ast.Or]]
        return (both, []) if test.op.__class__ is ast.And else ([], both)
    if kind is ast.Compare and len(test.ops) == 1 and test.left.__class__ is ast.Name:
        right, op = test.comparators[0], test.ops[0].__class__
        if right.__class__ is ast.Constant and right.value is None and op in (ast.Is, ast.IsNot):
            sign = "-" if op is ast.Is else "+"
            return [sign + test.left.id], [_OTHERWISE[sign] + test.left.id]
    return [], []


def _holding(tree: Tree, within: dict[int, Said], behind: Any, at: int) -> Iterator[str]:
    while at > 0 and tree.nodes[at].__class__ not in (ast.FunctionDef, ast.AsyncFunctionDef):
        yield from within.get(at, ())
        for before, said in behind.get((tree.parents[at], tree.fields[at]), ()):
            if before < at:
                yield from said
        at = tree.parents[at]
