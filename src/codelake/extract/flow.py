"""Flow facts: how values move between the nodes of a content, before anything is solved.

A slot is a node: what an expression gives, what a target is given. `docs/flow-facts.md` lists the kinds.
What other columns say is not said again: a load's value comes from `reaches` and `symbols`, a call from `calls`
and `arguments`, a default from `parameters`, an imported value from `imports`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codelake.extract.tree import Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

ANY = "*"
"""The key where it is not a constant."""
_MAX_KEY = 100
_MAX_INDEX = 1 << 63
"""Python refuses to write out integers of thousands of digits."""


class _Facts:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.kinds: list[str] = []
        self.dsts: list[int] = []
        self.srcs: list[int] = []
        self.keys: list[str | None] = []

    def add(self, kind: str, dst: int, src: int, key: str | None = None) -> None:
        self.kinds.append(kind)
        self.dsts.append(dst)
        self.srcs.append(src)
        self.keys.append(key)

    def store(self, target: Any, src: int) -> None:
        """A value goes into a target of an assignment."""
        kind = target.__class__
        if kind is ast.Attribute:
            self.add("store_attribute", target.value.at, src, target.attr)
        elif kind is ast.Subscript:
            self.add("store_item", target.value.at, src, _key(target.slice))
        else:
            self.add("copy", target.at, src)
            self.unpack(target)

    def unpack(self, target: Any) -> None:
        """A value is in a target; if that is a tuple or a list, its items go on."""
        if target.__class__ is not ast.Tuple and target.__class__ is not ast.List:
            return
        for number, item in enumerate(target.elts):
            if item.__class__ is ast.Starred:
                self.add("unpack_rest", item.value.at, target.at, str(number))
                item = item.value
            else:
                self.add("unpack", item.at, target.at, str(number))
            if item.__class__ is ast.Attribute or item.__class__ is ast.Subscript:
                self.store(item, item.at)
            else:
                self.unpack(item)

    def fill(self, target: Any) -> None:
        """A value came into the slot of a target by itself (of a loop, of `with`); pass it on."""
        if target.__class__ is ast.Attribute or target.__class__ is ast.Subscript:
            self.store(target, target.at)
        else:
            self.unpack(target)

    def match(self, pattern: Any) -> None:
        """A pattern's slot is what it is matched with; pass it on to the patterns in it."""
        at, kind = pattern.at, pattern.__class__
        if kind is ast.MatchAs and pattern.pattern is not None:
            self.add("copy", pattern.pattern.at, at)
            self.match(pattern.pattern)
        elif kind is ast.MatchOr:
            for each in pattern.patterns:
                self.add("copy", each.at, at)
                self.match(each)
        elif kind is ast.MatchSequence:
            for number, each in enumerate(pattern.patterns):
                is_rest = each.__class__ is ast.MatchStar
                self.add("unpack_rest" if is_rest else "unpack", each.at, at, str(number))
                self.match(each)
        elif kind is ast.MatchMapping:
            for key, each in zip(pattern.keys, pattern.patterns, strict=True):
                self.add("load_item", each.at, at, _key(key))
                self.match(each)
        elif kind is ast.MatchClass:
            self.add("narrow", at, pattern.cls.at)
            for number, each in enumerate(pattern.patterns):
                self.add("match_argument", each.at, at, str(number))
                self.match(each)
            for name, each in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                self.add("load_attribute", each.at, at, name)
                self.match(each)


def _key(node: Any) -> str:
    """A constant key as Python writes it; `:` for a slice; ANY for what is not known."""
    kind = node.__class__
    if kind is ast.Constant:
        value = node.value
        if value.__class__ in (str, bytes):
            return repr(value) if len(value) <= _MAX_KEY else ANY
        return repr(value) if value.__class__ in (int, bool) and value < _MAX_INDEX else ANY
    if kind is ast.UnaryOp and node.op.__class__ is ast.USub and node.operand.__class__ is ast.Constant:
        return f"-{_key(node.operand)}" if node.operand.value.__class__ is int else ANY
    return ":" if kind is ast.Slice else ANY


def facts(tree: Tree) -> tuple[Rows, ...]:
    found = _Facts(tree)
    for part in (_assignments, _loops, _containers, _operators, _accesses, _functions, _classes, _others):
        part(tree, found)
    return ((found.kinds, found.dsts, found.srcs, found.keys),)


def _assignments(tree: Tree, found: _Facts) -> None:
    for node in tree.every(ast.Assign):
        for target in node.targets:
            found.store(target, node.value.at)
    for node in tree.every(ast.AnnAssign):
        if node.value is not None:
            found.store(node.target, node.value.at)
    for node in tree.every(ast.AugAssign):
        found.add("operate", node.at, node.target.at, "i" + node.op.__class__.__name__)
        found.add("operand", node.at, node.value.at)
        if node.target.__class__ is not ast.Name:
            _load(node.target, found)
        found.store(node.target, node.at)
    for node in tree.every(ast.NamedExpr):
        found.add("copy", node.at, node.value.at)
        found.store(node.target, node.value.at)


def _loops(tree: Tree, found: _Facts) -> None:
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


def _containers(tree: Tree, found: _Facts) -> None:
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
                found.add("element", node.at, value.at, _key(key))
                if key.__class__ is not ast.Constant:
                    found.add("key", node.at, key.at)


def _operators(tree: Tree, found: _Facts) -> None:
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


def _accesses(tree: Tree, found: _Facts) -> None:
    for node in tree.every(ast.Attribute):
        if node.ctx.__class__ is ast.Load:
            found.add("load_attribute", node.at, node.value.at, node.attr)
    for node in tree.every(ast.Subscript):
        if node.ctx.__class__ is ast.Load:
            found.add("load_item", node.at, node.value.at, _key(node.slice))


def _load(target: Any, found: _Facts) -> None:
    """The target of an augmented assignment is read before it is written."""
    if target.__class__ is ast.Attribute:
        found.add("load_attribute", target.at, target.value.at, target.attr)
    elif target.__class__ is ast.Subscript:
        found.add("load_item", target.at, target.value.at, _key(target.slice))


def _functions(tree: Tree, found: _Facts) -> None:
    names = names_of(tree)
    scope_of, scope_nodes = names.scope_of, names.scope_nodes
    for kind, word in (
        (ast.Return, "return"),
        (ast.Yield, "yield"),
        (ast.YieldFrom, "yield_from"),
        (ast.Raise, "raise"),
    ):
        for node in tree.every(kind):
            value = node.exc if kind is ast.Raise else node.value
            if value is not None:
                found.add(word, scope_nodes[scope_of[node.at]].at, value.at)
    for node in tree.every(ast.YieldFrom, ast.Await):
        found.add("await", node.at, node.value.at)
    for node in tree.every(ast.Lambda):
        found.add("return", node.at, node.body.at)


def _classes(tree: Tree, found: _Facts) -> None:
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


def _others(tree: Tree, found: _Facts) -> None:
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
