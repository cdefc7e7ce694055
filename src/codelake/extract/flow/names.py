"""What names give: within a scope the definitions that reach the place, across scopes the name's symbol."""

from __future__ import annotations

import ast

from codelake.extract.flow.facts import Facts
from codelake.extract.names.symbols import BOUND, GLOBAL, IMPORT, PARAMETER
from codelake.extract.tree import Tree, names_of


def symbol_slot(symbol: int) -> int:
    return -1 - symbol


def loads(tree: Tree, found: Facts) -> None:
    names = names_of(tree)
    nodes, symbols, contexts = names.reference_nodes, names.reference_symbols, names.reference_contexts
    targets, flags = names.symbol_targets, names.symbol_flags
    add = found.add
    shared = {
        target
        for symbol, context in zip(symbols, contexts, strict=True)
        if context == "store" and symbol is not None and (target := targets[symbol]) != symbol
    }
    reaching: dict[int, list[int]] = {}
    for definition, use in zip(*tree.reaches, strict=True):
        reaching.setdefault(use, []).append(definition)
    augmented = {node.target.at: node for node in tree.every(ast.AugAssign) if node.target.__class__ is ast.Name}
    for reference, (at, symbol, context) in enumerate(zip(nodes, symbols, contexts, strict=True)):
        if symbol is None or (context != "load" and context != "store"):
            continue
        target = targets[symbol]
        if context == "store":
            if target is not None and target != symbol:
                add("copy", symbol_slot(target), at)
        elif at in augmented:
            before = [nodes[one] for one in reaching.get(reference, ())]
            before += [symbol_slot(symbol)] if symbol in shared else []
            for slot in before or [symbol_slot(symbol if target is None else target)]:
                add("operate", augmented[at].at, slot, "i" + augmented[at].op.__class__.__name__)
        elif target is None:
            add("global", at, at, names.symbol_names[symbol])
        elif target != symbol:
            add("copy", at, symbol_slot(target), names.symbol_names[symbol] if flags[target] & IMPORT else None)
        else:
            definitions = reaching.get(reference, ())
            key = names.symbol_names[symbol] if flags[symbol] & IMPORT else None
            for definition in definitions:
                add("copy", at, nodes[definition], key)
            if symbol in shared:
                add("copy", at, symbol_slot(symbol))
            elif not definitions:
                if names.scope_kinds[names.symbol_scopes[symbol]] == "class":
                    add("global", at, at, names.symbol_names[symbol])
                else:
                    add("copy", at, symbol_slot(symbol))


def bindings(tree: Tree, found: Facts) -> None:
    """What symbols hold for those who look from elsewhere. Of a module or class: what still holds at its end. Of a
    function: whatever is stored. An annotation without a value holds what linking makes of the annotation."""
    names = names_of(tree)
    leaving: dict[int, list[int]] = {}
    for reference in tree.leaving:
        symbol = names.reference_symbols[reference]
        if symbol is not None:
            leaving.setdefault(symbol, []).append(names.reference_nodes[reference])
    stores: dict[int, list[int]] = {}
    declared: dict[int, list[int]] = {}
    rows = zip(names.reference_nodes, names.reference_symbols, names.reference_contexts, strict=True)
    for at, symbol, context in rows:
        if symbol is not None and names.symbol_targets[symbol] == symbol and context in ("store", "declare"):
            (stores if context == "store" else declared).setdefault(symbol, []).append(at)
    seen = {slot for slot in found.srcs if slot < 0}
    for symbol, scope in enumerate(names.symbol_scopes):
        flags = names.symbol_flags[symbol]
        if names.symbol_targets[symbol] != symbol or not flags & (BOUND | GLOBAL):
            continue
        slot = symbol_slot(symbol)
        if not flags & PARAMETER:
            found.add("bind", slot, names.scope_nodes[scope].at, names.symbol_names[symbol])
        elif slot not in seen:
            continue
        stored = stores.get(symbol, [])
        if len(stored) > 1 and names.scope_kinds[scope] in ("module", "class"):
            stored = leaving.get(symbol, [])
        for at in (*stored, *declared.get(symbol, ())):
            found.add("copy", slot, at)


def stores(tree: Tree, found: Facts) -> None:
    """Each place where a name is stored that is stored more than once; a parameter is so from the beginning."""
    names = names_of(tree)
    places: dict[int, list[int]] = {}
    rows = zip(names.reference_nodes, names.reference_symbols, names.reference_contexts, strict=True)
    for at, symbol, context in rows:
        target = None if symbol is None else names.symbol_targets[symbol]
        if context == "store" and target is not None and tree.nodes[at].__class__ is ast.Name:
            places.setdefault(target, []).append(at)
    for symbol, every in places.items():
        if len(every) > 1 or names.symbol_flags[symbol] & PARAMETER:
            for at in every:
                found.add("store", at, symbol_slot(symbol), names.symbol_names[symbol])
