"""What a test says of a name or an attribute: `isinstance(x, C)`, and the class patterns of `match`.

A test holds in regions: a branch, the operands behind it, the statements behind an `assert` or behind a branch that
leaves. A load in a region is narrowed if the definitions that reach it are those that reached the test.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from codelake.extract.flow.facts import Facts
from codelake.extract.flow.paths import path_of
from codelake.extract.tree import Tree, names_of

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Module)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TESTED = {"isinstance": "narrow", "issubclass": "narrow_class"}


class _Said(NamedTuple):
    """A path is an instance of one of these classes."""

    kind: str
    root: int
    """Node of the name that the path begins with, in the test."""
    path: str
    classes: list[Any]


def narrowed(tree: Tree, found: Facts) -> None:
    tests = _Tests(tree)
    if not tests.paths:
        return
    roots = {path.partition(".")[0].partition("[")[0] for path in tests.paths}
    for name in tree.every(ast.Name):
        if name.id in roots and name.ctx.__class__ is ast.Load:
            tests.narrow(name, found)


class _Tests:
    """All that tests say, by the regions in which they hold."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.nodes: dict[tuple[int, str], _Said] = {}
        """By node and path: it holds below."""
        self.lists: dict[tuple[int, str, str], list[tuple[int, _Said]]] = {}
        """By list of statements and path: it holds from a node on."""
        self.paths: set[str] = set()
        self._definitions: dict[int, frozenset[int]] | None = None
        self._stored: dict[str, list[int]] = {}
        if any(name.id in _TESTED for name in tree.every(ast.Name)):
            self._add_tests()
        for node in tree.every(ast.Match):
            for case in node.cases:
                for one in _matched(node.subject, case.pattern):
                    self._hold(one, case.body)
        if self.paths:
            self._index()

    def _add_tests(self) -> None:
        tree = self.tree
        for node in tree.every(ast.If, ast.While, ast.IfExp):
            for one in _said(node.test, True):
                self._hold(one, node.body)
            for one in _said(node.test, False):
                if node.__class__ is not ast.While:
                    self._hold(one, node.orelse)
                if node.__class__ is ast.If and node.body[-1].__class__ in _LEAVING:
                    self._hold_behind(one, node)
        for node in tree.every(ast.Assert):
            for one in _said(node.test, True):
                self._hold_behind(one, node)
        for node in tree.every(ast.BoolOp):
            for number, value in enumerate(node.values[:-1]):
                for one in _said(value, node.op.__class__ is ast.And):
                    self._hold(one, node.values[number + 1 :])
        for node in tree.every(*_COMPREHENSIONS):
            results = [node.key, node.value] if node.__class__ is ast.DictComp else [node.elt]
            for test in (test for part in node.generators for test in part.ifs):
                for one in _said(test, True):
                    self._hold(one, results)

    def _hold(self, one: _Said, where: Any) -> None:
        for node in where if where.__class__ is list else (where,):
            self.nodes[node.at, one.path] = one
        self.paths.add(one.path)

    def _hold_behind(self, one: _Said, statement: Any) -> None:
        at = statement.at
        key = self.tree.parents[at], self.tree.fields[at], one.path
        self.lists.setdefault(key, []).append((at, one))
        self.paths.add(one.path)

    def _index(self) -> None:
        for behind in self.lists.values():
            behind.sort(key=lambda one: one[0])
        for node in self.tree.every(ast.Attribute, ast.Subscript):
            if node.ctx.__class__ is not ast.Load and (path := path_of(node)) is not None:
                self._stored.setdefault(path[1], []).append(node.at)

    def narrow(self, name: Any, found: Facts) -> None:
        """The longest path from a name that tests speak of."""
        nodes, parents = self.tree.nodes, self.tree.parents
        at = name.at
        while True:
            path = path_of(nodes[at])
            if path is None:
                return
            if path[1] in self.paths and nodes[at].ctx.__class__ is ast.Load:
                said = self._holding(at, path[1])
                if said is not None and self._is_same(said, name.at, at):
                    for one in said.classes:
                        found.add(said.kind, at, one.at)
            above = nodes[parents[at]]
            if above.__class__ not in (ast.Attribute, ast.Subscript) or above.value.at != at:
                return
            at = parents[at]

    def _holding(self, at: int, path: str) -> _Said | None:
        tree = self.tree
        while True:
            said = self.nodes.get((at, path))
            if said is not None:
                return said
            behind = self.lists.get((tree.parents[at], tree.fields[at], path))
            if behind is not None:
                place = bisect_right(behind, at - 1, key=lambda one: one[0])
                if place:
                    return behind[place - 1][1]
            if tree.nodes[at].__class__ in _SCOPES:
                return None
            at = tree.parents[at]

    def _is_same(self, said: _Said, root: int, at: int) -> bool:
        if self._definitions is None:
            self._definitions = _reaching(self.tree)
        if self._definitions.get(root) != self._definitions.get(said.root):
            return False
        return not any(said.root < stored < at for stored in self._stored.get(said.path, ()))


def _reaching(tree: Tree) -> dict[int, frozenset[int]]:
    """By node of a name: the definitions that reach it."""
    names = names_of(tree)
    found: dict[int, list[int]] = {}
    for definition, use in zip(*tree.reaches, strict=True):
        found.setdefault(names.reference_nodes[use], []).append(definition)
    return {at: frozenset(definitions) for at, definitions in found.items()}


def _said(test: Any, outcome: bool) -> list[_Said]:
    """What holds if a test has this outcome."""
    kind = test.__class__
    if kind is ast.UnaryOp and test.op.__class__ is ast.Not:
        return _said(test.operand, not outcome)
    if kind is ast.BoolOp:
        parts = [_said(value, outcome) for value in test.values]
        if (test.op.__class__ is ast.And) == outcome:
            return [one for part in parts for one in part]
        return _joined(parts)
    if kind is ast.Call and outcome and test.func.__class__ is ast.Name and test.func.id in _TESTED:
        path = path_of(test.args[0]) if len(test.args) == 2 and not test.keywords else None
        if path is not None:
            return [_Said(_TESTED[test.func.id], path[0].at, path[1], list(_classes(test.args[1])))]
    return []


def _joined(parts: list[list[_Said]]) -> list[_Said]:
    """Where one of several holds: what they say of one path together."""
    if not all(len(part) == 1 for part in parts) or len({(part[0].kind, part[0].path) for part in parts}) > 1:
        return []
    return [parts[0][0]._replace(classes=[one for part in parts for one in part[0].classes])]


def _classes(node: Any) -> Iterator[Any]:
    if node.__class__ in (ast.Tuple, ast.List):
        for each in node.elts:
            yield from _classes(each)
    elif node.__class__ is ast.BinOp and node.op.__class__ is ast.BitOr:
        yield from _classes(node.left)
        yield from _classes(node.right)
    elif node.__class__ is not ast.Starred:
        yield node


def _matched(subject: Any, pattern: Any) -> list[_Said]:
    path = path_of(subject)
    while pattern.__class__ is ast.MatchAs and pattern.pattern is not None:
        pattern = pattern.pattern
    parts = pattern.patterns if pattern.__class__ is ast.MatchOr else [pattern]
    if path is None or any(part.__class__ is not ast.MatchClass for part in parts):
        return []
    return [_Said("narrow", path[0].at, path[1], [part.cls for part in parts])]
