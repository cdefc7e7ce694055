"""How values move between expressions: one function a group of constructs."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.flow.facts import ANY, Facts, key_of, written
from codelake.extract.flow.given import branches, conditions
from codelake.extract.tree import Tree, names_of

_DISPLAYS = {
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.Dict: "dict",
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
    ast.JoinedStr: "str",
}
_CONSTANTS = (str, bytes, int, float, complex, bool)
# Fields in which a constant is looked at and goes nowhere; but what a number and a float give is a float.
_LOOKED_AT = ("keys", "slice", "comparators", "right", "format_spec")


def made(tree: Tree, found: Facts) -> None:
    """What an expression makes of a builtin type."""
    fields, parents, nodes = tree.fields, tree.parents, tree.nodes
    for node in tree.every(ast.Constant):
        at = node.at
        if node.value.__class__ not in _CONSTANTS or fields[at] in _LOOKED_AT:
            if fields[at] == "right" and node.value.__class__ in (float, complex):
                found.add("make", at, at, node.value.__class__.__name__)
            continue
        if nodes[parents[at]].__class__ not in (ast.Expr, ast.JoinedStr, ast.Compare, ast.MatchValue):
            found.add("make", at, at, node.value.__class__.__name__)
    for kind, name in _DISPLAYS.items():
        for node in tree.every(kind):
            if getattr(node, "ctx", None).__class__ is not ast.Store:
                found.add("make", node.at, node.at, name)


def assignments(tree: Tree, found: Facts) -> None:
    for node in tree.every(ast.Assign):
        for target in node.targets:
            found.store(target, node.value.at)
    for node in tree.every(ast.AnnAssign):
        if node.target.__class__ is ast.Attribute:  # the annotation fills the target's slot too
            found.store(node.target, node.target.at)
            if node.value is not None:
                found.add("copy", node.target.at, node.value.at)
        elif node.value is not None:
            found.store(node.target, node.value.at)
    for node in tree.every(ast.AugAssign):
        found.add("operand", node.at, node.value.at)
        if node.target.__class__ is not ast.Name:  # what a name held before is found where names are
            found.add("operate", node.at, node.target.at, "i" + node.op.__class__.__name__)
            _load(node.target, found)
        found.store(node.target, node.at)
    for node in tree.every(ast.NamedExpr):
        found.add("copy", node.at, node.value.at)
        found.store(node.target, node.value.at)


def constants(tree: Tree, found: Facts) -> None:
    """Names of modules and classes that stand for constants, which may be keys."""
    scope_of, kinds = names_of(tree).scope_of, names_of(tree).scope_kinds
    for node in tree.every(ast.Assign):
        if node.value.__class__ is ast.Constant and kinds[scope_of[node.at]] in ("module", "class"):
            key = key_of(node.value)
            if key != ANY:
                found.add("constant", node.value.at, node.value.at, written(key))


def loops(tree: Tree, found: Facts) -> None:
    for kind, word in ((ast.For, "iterate"), (ast.AsyncFor, "aiterate")):
        for node in tree.every(kind):
            found.add(word, node.target.at, node.iter.at)
            found.fill(node.target)
    for node in tree.every(ast.comprehension):
        found.add("aiterate" if node.is_async else "iterate", node.target.at, node.iter.at)
        found.fill(node.target)
    for node in tree.every(ast.ListComp, ast.SetComp, ast.GeneratorExp):
        found.add("element", node.at, node.elt.at, ANY)
    for node in tree.every(ast.DictComp):
        found.add("key", node.at, node.key.at)
        found.add("element", node.at, node.value.at, ANY)


def containers(tree: Tree, found: Facts) -> None:
    for kind in (ast.List, ast.Tuple, ast.Set):
        for node in tree.every(kind):
            if kind is not ast.Set and node.ctx.__class__ is not ast.Load:
                continue
            seen_star = False
            for number, item in enumerate(node.elts):
                if item.__class__ is ast.Starred:
                    found.add("elements_of", node.at, item.value.at)
                    seen_star = True
                else:
                    found.add("element", node.at, item.at, ANY if seen_star or kind is ast.Set else str(number))
    for node in tree.every(ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found.add("elements_of", node.at, value.at)
            else:
                found.add("element", node.at, value.at, key_of(key))
                if key.__class__ is not ast.Constant:
                    found.add("key", node.at, key.at)


def operators(tree: Tree, found: Facts) -> None:
    add = found.add
    for node in tree.every(ast.BinOp):
        add("operate", node.at, node.left.at, node.op.__class__.__name__)
        add("operand", node.at, node.right.at)
    for node in tree.every(ast.UnaryOp):
        add("operate", node.at, node.operand.at, node.op.__class__.__name__)
    for node in tree.every(ast.Compare):
        left = node.left.at
        for op, right in zip(node.ops, node.comparators, strict=True):
            add("compare", node.at, left, op.__class__.__name__)
            add("operand", node.at, right.at)
            left = right.at
    for node in tree.every(ast.BoolOp):
        for value in node.values:
            add("copy", node.at, value.at)
    for node in tree.every(ast.IfExp):
        add("copy", node.at, node.body.at)
        add("copy", node.at, node.orelse.at)
    for node in tree.every(ast.FormattedValue):
        add("format", node.at, node.value.at)


def accesses(tree: Tree, found: Facts) -> None:
    for node in tree.every(ast.Attribute):
        if node.ctx.__class__ is ast.Load:
            found.add("load_attribute", node.at, node.value.at, found.attribute(node.at, node.attr))
    for node in tree.every(ast.Subscript):
        if node.ctx.__class__ is ast.Load:
            found.add("load_item", node.at, node.value.at, key_of(node.slice))
            if node.slice.__class__ is ast.Name:
                found.add("index", node.at, node.slice.at)


def _load(target: Any, found: Facts) -> None:
    """The target of an augmented assignment is read before it is written."""
    if target.__class__ is ast.Attribute:
        found.add("load_attribute", target.at, target.value.at, found.attribute(target.at, target.attr))
    elif target.__class__ is ast.Subscript:
        found.add("load_item", target.at, target.value.at, key_of(target.slice))


def functions(tree: Tree, found: Facts) -> None:
    names = names_of(tree)
    scope_of, scope_nodes = names.scope_of, names.scope_nodes
    given = conditions(tree)
    for node in tree.every(ast.Return):
        each = [one for one in branches(node) if one.at in given]
        for value in branches(node) if each else (node.value,):
            if value is not None:
                at = value.at if each else node.at
                found.add("return", scope_nodes[scope_of[node.at]].at, value.at, given.get(at))
    for kind, word in (
        (ast.Yield, "yield"),
        (ast.YieldFrom, "yield_from"),
        (ast.Raise, "raise"),
    ):
        for node in tree.every(kind):
            value = node.exc if kind is ast.Raise else node.value
            if value is not None:
                found.add(word, scope_nodes[scope_of[node.at]].at, value.at)
    for node in tree.every(ast.Yield):
        found.add("sent", node.at, scope_nodes[scope_of[node.at]].at)
    for node in tree.every(ast.YieldFrom, ast.Await):
        found.add("await", node.at, node.value.at)
    for node in tree.every(ast.Lambda):
        found.add("return", node.at, node.body.at)


def classes(tree: Tree, found: Facts) -> None:
    for node in tree.every(ast.ClassDef):
        for number, base in enumerate(node.bases):
            if base.__class__ is ast.Starred:
                found.add("base", node.at, base.value.at, ANY)
            else:
                found.add("base", node.at, base.at, str(number))
        for keyword in node.keywords:
            found.add("class_keyword", node.at, keyword.value.at, keyword.arg or ANY)
    for node in tree.every(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        for number, decorator in enumerate(node.decorator_list):
            found.add("decorate", node.at, decorator.at, str(number))


def others(tree: Tree, found: Facts) -> None:
    for kind, word in ((ast.With, "enter"), (ast.AsyncWith, "aenter")):
        for node in tree.every(kind):
            for item in node.items:
                found.add(word, item.at, item.context_expr.at)
                if item.optional_vars is not None:
                    found.store(item.optional_vars, item.at)
    for node in tree.every(ast.ExceptHandler):
        if node.type is not None and node.name is not None:
            found.add("catch", node.at, node.type.at)
    for node in tree.every(ast.Match):
        for case in node.cases:
            found.add("copy", case.pattern.at, node.subject.at)
            found.match(case.pattern)


def asked(tree: Tree, found: Facts) -> None:
    """What is asked whether it is true, and what is deleted."""
    tests = [node.test for node in tree.every(ast.If, ast.While, ast.IfExp, ast.Assert)]
    tests += [node.operand for node in tree.every(ast.UnaryOp) if node.op.__class__ is ast.Not]
    tests += [value for node in tree.every(ast.BoolOp) for value in node.values[:-1]]
    for test in tests:
        if test.__class__ not in (ast.Compare, ast.Constant, ast.BoolOp) and not _is_not(test):
            found.add("test", test.at, test.at)
    for node in tree.every(ast.Delete):
        for target in node.targets:
            if target.__class__ is ast.Attribute:
                found.add("delete_attribute", target.at, target.value.at, found.attribute(target.at, target.attr))
            elif target.__class__ is ast.Subscript:
                found.add("delete_item", target.at, target.value.at)


def _is_not(node: Any) -> bool:
    return node.__class__ is ast.UnaryOp and node.op.__class__ is ast.Not
