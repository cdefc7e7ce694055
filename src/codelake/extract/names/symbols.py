"""Symbols: what a scope's names mean. References: where they, attributes and items are loaded, stored or deleted.

Two steps, as in CPython's symtable: one pass over the nodes notes in which ways each scope uses each name, then
each symbol is bound: to its own scope, to an enclosing function or to the module. Nothing here refuses a tree:
what the compiler would (a `nonlocal` without a function around) is bound as if it were not written.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from codelake.extract.tree import Tree

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows
    from codelake.extract.names.scopes import Names

USE, LOCAL, PARAMETER, IMPORT, ANNOTATED, GLOBAL, NONLOCAL, NAMESPACE = (1 << i for i in range(8))
BOUND = LOCAL | PARAMETER | IMPORT
_FLAGS = (USE, LOCAL, PARAMETER, IMPORT, ANNOTATED, GLOBAL | NONLOCAL, NAMESPACE)
"""In the order of the columns of `symbols`."""

# Nodes that bind the name in a field of theirs. By name of class: before Python 3.12 the last three come from
# recovered trees only, as classes of codelake's own.
_BINDERS = {
    "FunctionDef": ("name", LOCAL | NAMESPACE),
    "AsyncFunctionDef": ("name", LOCAL | NAMESPACE),
    "ClassDef": ("name", LOCAL | NAMESPACE),
    "arg": ("arg", PARAMETER),
    "alias": ("asname", IMPORT),
    "ExceptHandler": ("name", LOCAL),
    "MatchAs": ("name", LOCAL),
    "MatchStar": ("name", LOCAL),
    "MatchMapping": ("rest", LOCAL),
    "TypeVar": ("name", LOCAL),
    "TypeVarTuple": ("name", LOCAL),
    "ParamSpec": ("name", LOCAL),
}


def mangled(private: str, name: str) -> str:
    """A name as it is known within the body of a class."""
    if private and name[:2] == "__" and name[-2:] != "__":
        return f"_{private}{name}"
    return name


def bind(tree: Tree, names: Names) -> tuple[Rows, Rows]:
    """Fills in symbols and references, and returns the rows of `symbols` and of `references`."""
    _add_declarations(tree, names)
    _add_references(tree, names)
    _add_walruses(tree, names)
    _bind(tree, names)
    _add_coroutines(tree, names)
    for reference, name in names.later:
        names.reference_symbols[reference] = names.symbol_in(names.scope_of[names.reference_nodes[reference]], name)
    flags = np.array(names.symbol_flags, np.int32)
    symbols = (
        names.symbol_scopes,
        names.symbol_names,
        names.symbol_bindings,
        names.symbol_targets,
        *((flags & flag) != 0 for flag in _FLAGS),
    )
    return symbols, (names.reference_nodes, names.reference_symbols, names.reference_contexts)


def _add(names: Names, scope: int, name: str, flag: int) -> int:
    """The symbol of a name in a scope, which is used in one more way."""
    table = names.tables[scope]
    symbol = table.get(name)
    if symbol is None:
        symbol = table[name] = len(names.symbol_flags)
        names.symbol_flags.append(flag)
        names.symbol_names.append(name)
        names.symbol_scopes.append(scope)
    else:
        names.symbol_flags[symbol] |= flag
    return symbol


def _add_declarations(tree: Tree, names: Names) -> None:
    for kind, flag in ((ast.Global, GLOBAL), (ast.Nonlocal, NONLOCAL)):
        for node in tree.every(kind):
            scope = names.scope_of[node.at]
            for written in node.names:
                name = mangled(names.privates[scope], written)
                _add(names, scope, name, flag)
                if flag == GLOBAL:
                    _add(names, 0, name, GLOBAL)


def _add_references(tree: Tree, names: Names) -> None:
    scope_of, tables, privates, unevaluated = names.scope_of, names.tables, names.privates, names.unevaluated
    flags, symbol_names, symbol_scopes = names.symbol_flags, names.symbol_names, names.symbol_scopes
    nodes, symbols, contexts = names.reference_nodes, names.reference_symbols, names.reference_contexts
    loads, stores, later = names.loads, names.stores, names.later
    binders = {kind: _BINDERS[kind.__name__] for kind in tree.of_kind if kind.__name__ in _BINDERS}
    augmented = {n.target.at for n in tree.every(ast.AugAssign)}
    annotated = {n.target.at: n for n in tree.every(ast.AnnAssign)}
    name_kind, attribute_kind, item_kind = ast.Name, ast.Attribute, ast.Subscript
    load_kind, store_kind = ast.Load, ast.Store
    symbol: int | None
    n = 0
    for at, node in enumerate(tree.nodes):
        kind = node.__class__
        if kind is name_kind:
            name = node.id
            scope = scope_of[at]
            context = node.ctx.__class__
            flag = USE if context is load_kind else LOCAL
            if at in annotated:
                flag = LOCAL | ANNOTATED if annotated[at].simple else LOCAL if annotated[at].value else 0
            if at in unevaluated or not flag:
                later.append((n, name))
                symbol = None
            else:
                if name[:2] == "__":
                    name = mangled(privates[scope], name)
                table = tables[scope]
                symbol = table.get(name)
                if symbol is None:
                    symbol = table[name] = len(flags)
                    flags.append(flag)
                    symbol_names.append(name)
                    symbol_scopes.append(scope)
                else:
                    flags[symbol] |= flag
        elif kind is attribute_kind or kind is item_kind:
            symbol = None
            context = node.ctx.__class__
        elif kind in binders:
            field, flag = binders[kind]
            name = getattr(node, field)
            if flag == IMPORT and name is None:
                name = node.name.partition(".")[0]
                if name == "*":
                    continue
            if name is None:
                continue
            scope = scope_of[at]
            symbol = _add(names, scope, mangled(privates[scope], name), flag)
            context = store_kind
        else:
            continue
        nodes.append(at)
        symbols.append(symbol)
        if context is load_kind:
            loads[at] = n
            contexts.append("load")
        elif context is store_kind:
            if at in augmented:
                loads[at] = n
                contexts.append("load")
                n += 1
                nodes.append(at)
                symbols.append(symbol)
            elif at in annotated and annotated[at].value is None:
                names.declares[at] = n
                contexts.append("declare")
                n += 1
                continue
            stores[at] = n
            contexts.append("store")
        else:
            names.deletes[at] = n
            contexts.append("delete")
        n += 1


def _add_walruses(tree: Tree, names: Names) -> None:
    """A walrus in a comprehension binds in what the comprehension is in, past other comprehensions."""
    for node in tree.every(ast.NamedExpr):
        scope = outer = names.scope_of[node.at]
        while names.scope_kinds[outer] == "comprehension":
            outer = names.scope_parents[outer]
        if outer == scope or names.scope_kinds[outer] == "class" or node.target.at in names.unevaluated:
            continue
        name = mangled(names.privates[scope], node.target.id)
        if outer == 0 or names.symbol_flags[_add(names, outer, name, LOCAL)] & GLOBAL:
            _add(names, scope, name, GLOBAL)
            _add(names, 0, name, GLOBAL)
        else:
            _add(names, scope, name, NONLOCAL)


def _bind(tree: Tree, names: Names) -> None:
    kinds, tables = names.scope_kinds, names.tables
    flags, symbol_names, symbol_scopes = names.symbol_flags, names.symbol_names, names.symbol_scopes
    for scope in range(1, len(kinds)):
        # Whatever looks up `super` in a function may call it without arguments.
        symbol = tables[scope].get("super")
        if symbol is not None and kinds[scope] != "class" and flags[symbol] & USE:
            _add(names, scope, "__class__", USE)
    _drop_lost_nonlocals(tree, names)
    n = len(flags)
    bindings = names.symbol_bindings = ["local"] * n
    targets = names.symbol_targets = list(range(n))
    module, enclosing = tables[0], names.enclosing
    of_module = BOUND | GLOBAL
    for symbol in range(n):
        flag = flags[symbol]
        if flag & GLOBAL:
            bindings[symbol] = "global_explicit"
            targets[symbol] = module[symbol_names[symbol]]
        elif flag & NONLOCAL or not flag & BOUND:
            name, scope = symbol_names[symbol], symbol_scopes[symbol]
            if (enclosing[scope] > 0 or name == "__class__") and (owner := _owner(names, scope, name)) is not None:
                bindings[symbol] = "free"
                targets[symbol] = owner if owner >= 0 else None
                _pass_through(names, scope, name, owner)
                continue
            bindings[symbol] = "global_implicit"
            found = module.get(name)
            targets[symbol] = found if found is not None and flags[found] & of_module else None
    _bind_to_classes(names)


def _owner(names: Names, scope: int, name: str) -> int | None:
    """The symbol of the nearest function around a scope that binds a name; -1 for the class around it, which is
    `__class__` in what its body defines."""
    is_class_cell = name == "__class__"
    while True:
        if is_class_cell:
            scope = names.scope_parents[scope]
            if scope > 0 and names.scope_kinds[scope] == "class":
                return -1
        else:
            scope = names.enclosing[scope]
        if scope <= 0:
            return None
        symbol = names.tables[scope].get(name)
        if symbol is not None:
            flag = names.symbol_flags[symbol]
            if flag & GLOBAL:
                return None
            if flag & BOUND and not flag & NONLOCAL:
                return symbol


def _pass_through(names: Names, scope: int, name: str, owner: int) -> None:
    """The owner keeps a name in a cell, and each scope on the way in hands the cell on."""
    end = names.symbol_scopes[owner] if owner >= 0 else -1
    while True:
        if scope in names.unevaluated_scopes and end not in names.unevaluated_scopes:
            return
        scope = names.scope_parents[scope]
        if scope == end or (end < 0 and names.scope_kinds[scope] == "class"):
            break
        if name not in names.tables[scope]:
            _add(names, scope, name, 0)
            names.symbol_bindings.append("free")
            names.symbol_targets.append(owner if owner >= 0 else None)
    if owner >= 0:
        names.symbol_bindings[owner] = "cell"


def _drop_lost_nonlocals(tree: Tree, names: Names) -> None:
    """The compiler refuses a `nonlocal` that no enclosing function binds."""
    for node in tree.every(ast.Nonlocal):
        scope = names.scope_of[node.at]
        for written in node.names:
            name = mangled(names.privates[scope], written)
            if _owner(names, scope, name) is None:
                names.symbol_flags[names.tables[scope][name]] &= ~NONLOCAL


def _bind_to_classes(names: Names) -> None:
    """Alone among nested scopes, `type` scopes see the names of the class that they are in."""
    for scope, kind in enumerate(names.scope_kinds):
        if kind != "type":
            continue
        outer = scope
        while names.scope_kinds[outer] == "type":
            outer = names.scope_parents[outer]
        if names.scope_kinds[outer] == "class":
            for name, symbol in names.tables[scope].items():
                seen = names.tables[outer].get(name)
                if seen is None or names.symbol_flags[symbol] != USE:
                    continue
                if names.symbol_flags[seen] & GLOBAL:
                    names.symbol_bindings[symbol] = "global_explicit"
                    names.symbol_targets[symbol] = names.symbol_targets[seen]
                elif names.symbol_flags[seen] & BOUND and not names.symbol_flags[seen] & NONLOCAL:
                    names.symbol_bindings[symbol] = "global_implicit"
                    names.symbol_targets[symbol] = seen


def _add_coroutines(tree: Tree, names: Names) -> None:
    for node in tree.every(ast.Yield, ast.YieldFrom):
        names.generators.add(names.scope_of[node.at])
    for node in tree.every(ast.Await):
        names.coroutines.add(names.scope_of[node.at])
    for node in tree.every(ast.AsyncFunctionDef):
        names.coroutines.add(names.body_scope[node.at])
    for scope in sorted(names.coroutines, reverse=True):
        # A comprehension that waits makes what it is in wait; a generator does not.
        while names.scope_kinds[scope] == "comprehension" and scope not in names.generators:
            scope = names.scope_parents[scope]
            names.coroutines.add(scope)
