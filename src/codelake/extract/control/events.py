"""Events: what each step does to the names of its own scope, in the order in which it is done.

Only names matter that their scope stores: locals of a function, in cells or not, and what a module or class body
binds. A name that is looked up in another scope is joined by its symbol, not here; but a walrus in a comprehension
stores in the scope around, which may or may not have come to it when the comprehension is evaluated.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from codelake.extract.control.branching import evaluated
from codelake.extract.control.graph import Control
from codelake.extract.names.scopes import Names
from codelake.extract.tree import Tree

LOAD, STORE, MAYBE, DELETE = range(4)
"""MAYBE: a store that may not have been done. What was stored before may still hold."""

Event = tuple[int, int, int, int]
"""Node, what is done, symbol, and a reference (LOAD, DELETE) or the number of the definition of its symbol."""

_OWN = frozenset(("local", "cell"))
_CAPTURES = frozenset((ast.MatchAs, ast.MatchStar, ast.MatchMapping))
_BIND_LAST = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


@dataclass(slots=True)
class Events:
    definitions: dict[int, list[int]] = field(default_factory=dict)
    """By symbol, the references that store it."""
    steps: dict[int, list[Event]] = field(default_factory=dict)
    """By step; one without events is missing."""
    parameters: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By scope, what is stored before the first step: symbols and numbers of definitions."""
    deleted: set[int] = field(default_factory=set)
    """Symbols with a DELETE."""


def events(tree: Tree, names: Names, control: Control) -> Events:
    found = Events()
    stores = _stores(tree, names, found.definitions)
    if stores:
        storing = _place(tree, names, control, stores, found)
        for step, is_nested in storing.items():
            if len(found.steps[step]) > 1:
                node = tree.nodes[control.step_nodes[step]]
                found.steps[step] = _ordered(tree, node, found.steps[step], is_nested)
    return found


def _stores(tree: Tree, names: Names, definitions: dict[int, list[int]]) -> dict[int, tuple[int, int, int]]:
    """For each reference that stores: what it does, to which symbol, and its number. Fills in `definitions`."""
    stores: dict[int, tuple[int, int, int]] = {}
    captured: set[tuple[int, int]] = set()
    symbols, bindings, scopes = names.reference_symbols, names.symbol_bindings, names.symbol_scopes
    for at, reference in names.stores.items():
        symbol = symbols[reference]
        if symbol is None:
            continue
        what = STORE
        if bindings[symbol] not in _OWN and scopes[symbol]:
            symbol = _stored_around(names, symbol)
            if symbol < 0:
                continue
            what = MAYBE
        elif tree.nodes[at].__class__ in _CAPTURES:
            case = at
            while tree.fields[case] != "pattern" or tree.nodes[tree.parents[case]].__class__ in _CAPTURES:
                case = tree.parents[case]
            # Alternatives of a pattern capture the same names, and one of them is the one.
            what = MAYBE if (case, symbol) in captured else STORE
            captured.add((case, symbol))
        numbers = definitions.setdefault(symbol, [])
        stores[reference] = what, symbol, len(numbers)
        numbers.append(reference)
    return stores


def _stored_around(names: Names, symbol: int) -> int:
    """The symbol that a walrus in a comprehension stores, if it is one of the scope around; else -1."""
    scope = names.symbol_scopes[symbol]
    target = names.symbol_targets[symbol]
    if names.scope_kinds[scope] != "comprehension" or target is None:
        return -1
    while names.scope_kinds[scope] == "comprehension":
        scope = names.scope_parents[scope]
    return target if names.symbol_scopes[target] == scope else -1


def _place(
    tree: Tree, names: Names, control: Control, stores: dict[int, tuple[int, int, int]], found: Events
) -> dict[int, bool]:
    """Gives events to steps. Returns the steps that store, and whether one of their stores is a walrus's."""
    nodes, parents = tree.nodes, tree.parents
    scope_of, symbol_scopes, definitions = names.scope_of, names.symbol_scopes, found.definitions
    step_scopes = list(map(control.block_scopes.__getitem__, control.step_blocks))
    step_of = [-1] * len(nodes)
    again: dict[int, int] = {}
    for step, at in enumerate(control.step_nodes):
        if step_of[at] < 0:
            step_of[at] = step
        else:
            again[at] = step  # a pattern, that matches first and then captures
    steps = found.steps
    storing: dict[int, bool] = {}
    rows = zip(names.reference_nodes, names.reference_symbols, names.reference_contexts, strict=True)
    for reference, (at, symbol, context) in enumerate(rows):
        place = at
        above = None
        if context == "store":
            if reference not in stores:
                continue
            what, symbol, number = stores[reference]
            scope = symbol_scopes[symbol]
            above = nodes[parents[at]].__class__
            if above is ast.arguments:
                found.parameters.setdefault(scope, []).append((symbol, number))
                continue
            if above is ast.AugAssign:
                place = parents[at]  # the target may be a step that loads
            elif at in again:
                steps.setdefault(again[at], []).append((at, what, symbol, number))
                continue
        else:
            if symbol is None or symbol not in definitions:
                continue
            scope = symbol_scopes[symbol]
            if scope != scope_of[at] or context == "declare":
                continue
            what, number = LOAD, reference
            if context == "delete":
                what = DELETE
                found.deleted.add(symbol)
        step = step_of[place]
        while (step < 0 or step_scopes[step] != scope) and place > 0:
            place = parents[place]
            step = step_of[place]
            if nodes[place].__class__ in _CAPTURES and place in names.stores and place not in again:
                step = -1  # captures only: what is within is evaluated before
        if place == 0:
            continue  # not of a step: in a frame of its own, for type parameters
        if step in steps:
            steps[step].append((at, what, symbol, number))
        else:
            steps[step] = [(at, what, symbol, number)]
        if above is not None or what == DELETE:
            storing[step] = above is ast.NamedExpr or storing.get(step, False)
    return storing


def _ordered(tree: Tree, node: Any, found: list[Event], has_walrus: bool) -> list[Event]:
    """The events of a step, from preorder to the order of evaluation."""
    if has_walrus:
        ranks: dict[int, int] = {}
        _rank(node, ranks)
        found = sorted(found, key=lambda event: _rank_of(tree, event[0], ranks))
    kind = node.__class__
    if kind is ast.AugAssign:
        target = node.target.at
        return sorted(found, key=lambda event: event[0] == target and event[1] == STORE)
    if has_walrus:
        return found
    if kind is ast.Assign or (kind is ast.AnnAssign and node.value is not None):
        value = node.value.at
        return [e for e in found if e[0] >= value] + [e for e in found if e[0] < value]
    if kind in _BIND_LAST:
        return found[1:] + found[:1] if found[0][0] == node.at else found
    return found


def _rank(node: Any, ranks: dict[int, int]) -> None:
    for part in evaluated(node):
        _rank(part, ranks)
    kind = node.__class__
    at = node.target.at if kind is ast.NamedExpr else node.at
    ranks[at] = len(ranks)


def _rank_of(tree: Tree, at: int, ranks: dict[int, int]) -> int:
    """Of what a comprehension evaluates in its own frame: that of the comprehension."""
    while at not in ranks:
        at = tree.parents[at]
        if at < 0:
            return len(ranks)
    return ranks[at]
