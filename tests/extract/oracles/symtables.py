"""Scopes and symbols against CPython's `symtable`, file by file."""

from __future__ import annotations

import ast
import symtable
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from codelake.contracts.evidence import FIELDS
from codelake.extract.names.scopes import names
from codelake.extract.text import decoded
from codelake.extract.tree import Tree, indexed, parse

KNOWN = {
    "implicit argument": "symtable has `.0`, the iterator that a comprehension is called with, and from 3.12 on such "
    "names of type parameters; no node has them",
    "scope not evaluated": "with the __future__ of annotations, symtable leaves out lambdas and comprehensions that "
    "stand in one; here they are scopes, seen by nobody",
    "private namespace": "symtable compares a function's name as written with the symbol's, which is mangled, and so "
    "does not see that a private function or class of a class is a namespace",
    "function called top": "symtable before 3.12 takes whatever is called `top` for the module, whose variables are "
    "global and local",
    "namespace by chance": "symtable takes a variable that is called `listcomp`, `setcomp`, `dictcomp` or `genexpr` "
    "for the name of such a comprehension in its scope, and type aliases and parameters for namespaces",
}
_LABELS = {"Lambda": "lambda", "ListComp": "listcomp", "SetComp": "setcomp", "DictComp": "dictcomp"}
_LABELS |= {"GeneratorExp": "genexpr", "Module": "top"}
_KINDS = {"module": ("module",), "class": ("class",), "function": ("function", "lambda", "comprehension")}
"""By symtable's type of scope; what it has other types for, is of type parameters."""
_IMPLICIT = {".0", ".type_params", ".generic_base", ".defaults", ".kwdefaults", "__classdict__", "__type_params__"}
Difference = tuple[str, str]
"""A kind, which is one of KNOWN unless something is wrong, and what was found."""


class Named:
    """A tree, and the rows of what its names mean, by field."""

    def __init__(self, raw: bytes) -> None:
        text = decoded(raw)
        assert text is not None
        self._read(indexed(parse(text), text))

    @classmethod
    def of(cls, tree: Tree) -> Named:
        made = cls.__new__(cls)
        made._read(tree)
        return made

    def _read(self, tree: Tree) -> None:
        self.tree = tree
        self.scopes, self.symbols, self.references = (
            dict(zip(FIELDS[column], rows, strict=True))
            for column, rows in zip(("scopes", "symbols", "references"), names(self.tree), strict=True)
        )
        assert self.tree.names is not None
        self.names = self.tree.names
        self.nodes = [self.tree.nodes[at] for at in self.scopes["node"]]
        """By scope, the node that opens it."""
        self.of_scope: list[dict[str, int]] = [{} for _ in self.nodes]
        """By scope, its symbols by name."""
        for symbol, (scope, name) in enumerate(zip(self.symbols["scope"], self.symbols["name"], strict=True)):
            assert name not in self.of_scope[scope], f"{name} is twice in scope {scope}"
            self.of_scope[scope][name] = symbol


def differences(found: Named) -> Iterator[Difference]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(found.tree.text.text, "file", "exec")
    ranks = {(node.at, kind): rank for rank, (node, kind) in enumerate(_openers(found.tree.module))}
    children: dict[int, list[int]] = {}
    unevaluated = not_evaluated(found.tree.module)
    for scope, parent in enumerate(found.scopes["parent"]):
        if found.nodes[scope].at in unevaluated:
            yield "scope not evaluated", found.scopes["qualified_name"][scope]
        elif parent >= 0:
            children.setdefault(parent, []).append(scope)
    for below in children.values():
        below.sort(key=lambda scope: ranks[found.nodes[scope].at, _kind_of_scope(found, scope)])
    pairs = [(table, 0)]
    while pairs:
        expected, scope = pairs.pop()
        node = found.nodes[scope]
        where = f"{found.scopes['qualified_name'][scope]} (line {expected.get_lineno()})"
        ours = (
            found.scopes["kind"][scope],
            _name(node),
            getattr(node, "lineno", 0),
        )
        kinds = _KINDS.get(expected.get_type(), ("type",))
        if ours[0] not in kinds or ours[1:] != (expected.get_name(), expected.get_lineno()):
            yield "scope", f"{where}: {expected!r}, not {ours}"
        yield from _of_symbols(found, scope, expected, where)
        inner, below = expected.get_children(), children.get(scope, [])
        if len(inner) != len(below):
            yield "children", f"{where}: {inner}, not {[found.scopes['qualified_name'][s] for s in below]}"
        else:
            pairs += zip(inner, below, strict=True)


def _kind_of_scope(found: Named, scope: int) -> str:
    """A type alias opens a scope for its type parameters, and one for its value."""
    is_body = found.names.body_scope.get(found.nodes[scope].at) == scope
    return "alias" if is_body and found.scopes["kind"][scope] == "type" else found.scopes["kind"][scope]


def _name(node: Any) -> str:
    name = getattr(node, "name", None) or _LABELS[type(node).__name__]
    return name.id if isinstance(name, ast.Name) else name  # of a type alias


def _of_symbols(found: Named, scope: int, expected: symtable.SymbolTable, where: str) -> Iterator[Difference]:
    there = {symbol.get_name(): symbol for symbol in expected.get_symbols()}
    ours = found.of_scope[scope]
    for name in there.keys() & _IMPLICIT:
        del there[name]
        yield "implicit argument", where
    if there.keys() != ours.keys():
        yield "identifiers", f"{where}: {sorted(there.keys() ^ ours.keys())}"
    for name in there.keys() & ours.keys():
        theirs, flags = _flags(there[name]), _our_flags(found, scope, ours[name])
        for key in theirs:
            if theirs[key] != flags[key]:
                yield _kind(found, scope, name, key, expected), f"{where}: {name} {key} is {theirs[key]}"


def _kind(found: Named, scope: int, name: str, key: str, expected: symtable.SymbolTable) -> str:
    if key == "is_namespace":
        labels = {child.get_name() for child in expected.get_children()}
        typed = {child.get_name() for child in expected.get_children() if child.get_type() not in _KINDS}
        if name in labels and (name in _LABELS.values() or name in typed):
            return "namespace by chance"
        private = found.names.privates[scope]
        if private and name.startswith(f"_{private}__") and name.removeprefix(f"_{private}") in labels:
            return "private namespace"
    if scope and key in ("is_global", "is_local") and expected.get_name() == "top" and sys.version_info < (3, 12):
        return "function called top"
    return key


def _flags(symbol: symtable.Symbol) -> dict[str, bool]:
    return {
        "is_referenced": symbol.is_referenced(),
        "is_assigned": symbol.is_assigned(),
        "is_parameter": symbol.is_parameter(),
        "is_imported": symbol.is_imported(),
        "is_annotated": symbol.is_annotated(),
        "is_global": symbol.is_global(),
        "is_declared_global": symbol.is_declared_global(),
        "is_nonlocal": symbol.is_nonlocal(),
        "is_local": symbol.is_local(),
        "is_free": symbol.is_free(),
        "is_namespace": symbol.is_namespace(),
    }


def _our_flags(found: Named, scope: int, symbol: int) -> dict[str, bool]:
    """symtable's flags from the columns of `symbols`."""
    row = {key: bool(values[symbol]) for key, values in found.symbols.items() if key.startswith("is_")}
    binding = found.symbols["binding"][symbol]
    bound_in_module = scope == 0 and (row["is_assigned"] or row["is_parameter"] or row["is_imported"])
    return {
        **row,
        "is_global": binding in ("global_explicit", "global_implicit") or bound_in_module,
        "is_declared_global": binding == "global_explicit",
        "is_nonlocal": row["is_declared"] and binding == "free",
        "is_local": binding in ("local", "cell") or bound_in_module,
        "is_free": binding == "free",
    }


def not_evaluated(module: ast.Module) -> set[int]:
    """Ordinals of all nodes of annotations, where they are kept as text."""
    if not any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and "annotations" in {a.name for a in node.names}
        for node in module.body
    ):
        return set()
    found: set[int] = set()
    for node in ast.walk(module):
        for field in ("annotation", "returns"):
            if (annotation := getattr(node, field, None)) is not None:
                found.update(below.at for below in ast.walk(annotation) if hasattr(below, "at"))
    return found


def _openers(node: Any) -> Iterator[tuple[Any, str]]:
    """Nodes that open scopes, with the kind, in the order in which symtable enters them."""
    match node:
        case None:
            pass
        case list():
            for item in node:
                yield from _openers(item)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            args = node.args
            variadic = [a for a in (args.vararg, args.kwarg) if a]
            annotations = [a.annotation for a in (*args.posonlyargs, *args.args, *variadic, *args.kwonlyargs)]
            yield from _openers([*args.defaults, *args.kw_defaults])
            yield from _typed(node, [*annotations, node.returns])
            yield node, "function"
            yield from _openers(node.body)
        case ast.Lambda():
            yield from _openers([*node.args.defaults, *node.args.kw_defaults])
            yield node, "lambda"
            yield from _openers(node.body)
        case ast.ClassDef():
            yield from _typed(node, [*node.bases, *node.keywords])
            yield node, "class"
            yield from _openers(node.body)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first, *rest = node.generators
            yield from _openers(first.iter)
            yield node, "comprehension"
            yield from _openers([first.target, *first.ifs, *rest])
            yield from _openers([node.value, node.key] if isinstance(node, ast.DictComp) else node.elt)
        case ast.IfExp():
            yield from _openers([node.test, node.body, node.orelse])
        case ast.NamedExpr():
            yield from _openers([node.value, node.target])
        case ast.Try() | ast.TryStar():
            yield from _openers([node.body, node.orelse, node.handlers, node.finalbody])
        case ast.Module():
            yield node, "module"
            yield from _openers(node.body)
        case ast.AST():
            kind = type(node).__name__
            if kind in ("TypeAlias", "TypeVar", "TypeVarTuple", "ParamSpec"):
                yield node, "type"
            if kind == "TypeAlias":
                yield from _openers(node.type_params)
                yield node, "alias"
                yield from _openers(node.value)
                return
            for child in ast.iter_child_nodes(node):
                yield from _openers(child)


def _typed(node: Any, typed: list[Any]) -> Iterator[tuple[Any, str]]:
    """Decorators, type parameters, and what is evaluated where these are known."""
    if sys.version_info < (3, 12):
        yield from _openers([*typed, *node.decorator_list])
        return
    yield from _openers(node.decorator_list)
    yield node, "type"
    yield from _openers([*node.type_params, *typed])
