"""Scopes: which frame evaluates each node, and the names of the frames.

The rules are those of CPython's symtable, read off the one parsed tree. A subtree is a contiguous range of
ordinals, so a scope is painted over the range of its body; what its opener evaluates outside of it (decorators,
defaults, annotations, bases, the first iterable of a comprehension) is left out of the range or painted back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codelake.extract.names.symbols import bind, mangled
from codelake.extract.tree import Tree

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows


@dataclass(slots=True)
class Names:
    """Scopes, symbols and references of a tree. Lists are by ordinal of node, scope, symbol or reference."""

    scope_of: list[int]
    """For every node, the scope whose frame evaluates it. A parameter is of the function that it belongs to."""
    scope_nodes: list[Any] = field(default_factory=list)
    """The node that opens a scope; what has type parameters opens a `type` scope too, before its own."""
    scope_kinds: list[str] = field(default_factory=list)
    scope_parents: list[int] = field(default_factory=list)
    scope_names: list[str] = field(default_factory=list)
    qualified_names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """The same, with the n-th of a name told from the first: `f`, `f~1`."""
    body_scope: dict[int, int] = field(default_factory=dict)
    """From a module, class, function, lambda or comprehension to the scope that it opens."""
    privates: list[str] = field(default_factory=list)
    """The class that private names belong to, without leading underscores; empty where they are as written."""
    enclosing: list[int] = field(default_factory=list)
    """The nearest function, lambda, comprehension or type around a scope: whose names it sees. Else the module, -1
    for itself."""
    unevaluated: set[int] = field(default_factory=set)
    """With `from __future__ import annotations`: nodes of annotations. Their names make no symbols."""
    unevaluated_scopes: set[int] = field(default_factory=set)
    """Scopes opened there: they see names of others, and nothing of them is seen."""
    generators: set[int] = field(default_factory=set)
    coroutines: set[int] = field(default_factory=set)
    later: list[tuple[int, str]] = field(default_factory=list)
    """References that make no symbols, with their names: what they mean is looked up when all symbols are bound."""

    tables: list[dict[str, int]] = field(default_factory=list)
    """By scope, from name (private ones as Python spells them within) to symbol."""
    symbol_names: list[str] = field(default_factory=list)
    symbol_scopes: list[int] = field(default_factory=list)
    symbol_flags: list[int] = field(default_factory=list)
    symbol_bindings: list[str] = field(default_factory=list)
    symbol_targets: list[int | None] = field(default_factory=list)

    reference_nodes: list[int] = field(default_factory=list)
    """In preorder; the target of an augmented assignment comes twice, loaded first."""
    reference_symbols: list[int | None] = field(default_factory=list)
    reference_contexts: list[str] = field(default_factory=list)
    loads: dict[int, int] = field(default_factory=dict)
    """From node to reference, as the three that follow."""
    stores: dict[int, int] = field(default_factory=dict)
    deletes: dict[int, int] = field(default_factory=dict)
    declares: dict[int, int] = field(default_factory=dict)

    def symbol_in(self, scope: int, name: str) -> int | None:
        """The symbol that a name means when it is looked up in a scope: itself the target; None for what the file
        does not bind. For text that is parsed later, such as an annotation in quotes."""
        name = mangled(self.privates[scope], name)
        symbol = self.tables[scope].get(name)
        sees_class = True  # what types are made of does, functions in it do not
        while symbol is None and scope > 0:
            sees_class = sees_class and self.scope_kinds[scope] == "type"
            scope = (self.scope_parents if sees_class else self.enclosing)[scope]
            symbol = self.tables[scope].get(name)
        return None if symbol is None else self.symbol_targets[symbol]


def names(tree: Tree) -> tuple[Rows, ...]:
    found = tree.names = _scopes(tree)
    symbols, references = bind(tree, found)
    indices = range(len(found.scope_nodes))
    scopes = (
        [node.at for node in found.scope_nodes],
        found.scope_kinds,
        found.scope_names,
        found.qualified_names,
        found.labels,
        found.scope_parents,
        [i in found.generators for i in indices],
        [i in found.coroutines for i in indices],
    )
    return scopes, symbols, references


_COMPREHENSIONS = {
    "ListComp": "<listcomp",
    "SetComp": "<setcomp",
    "DictComp": "<dictcomp",
    "GeneratorExp": "<genexpr",
}


def _scopes(tree: Tree) -> Names:
    ends = _ends(tree.parents)
    names = Names([0] * len(ends))
    opening = _Opening(names, ends)
    opening.open("module", tree.module, -1, "", is_body=True)
    # By name: before Python 3.12, type parameters come from recovered trees only, as classes of codelake's own.
    steps = {kind: opening.steps[kind.__name__] for kind in tree.of_kind if kind.__name__ in opening.steps}
    for node in tree.every(*steps) if steps else ():
        steps[node.__class__](node)
    if any(
        node.module == "__future__" and any(alias.name == "annotations" for alias in node.names)
        for node in tree.every(ast.ImportFrom)
    ):
        _leave_annotations(tree, names, ends)
    return names


def _ends(parents: list[int]) -> list[int]:
    """For every node, the ordinal behind its subtree."""
    ends = list(range(1, len(parents) + 1))
    for at in range(len(parents) - 1, 0, -1):
        parent = parents[at]
        if ends[at] > ends[parent]:
            ends[parent] = ends[at]
    return ends


class _Opening:
    """Opens the scopes of nodes that come in preorder, and paints them."""

    def __init__(self, names: Names, ends: list[int]) -> None:
        self.names, self.ends = names, ends
        self.counts: dict[tuple[int, str], int] = {}
        self.named: dict[str, int] = {}
        self.steps: dict[str, Callable[[Any], None]] = {
            "FunctionDef": self.function,
            "AsyncFunctionDef": self.function,
            "Lambda": self.function_of_lambda,
            "ClassDef": self.class_,
            **dict.fromkeys(_COMPREHENSIONS, self.comprehension),
            "TypeAlias": self.alias,
            **dict.fromkeys(("TypeVar", "TypeVarTuple", "ParamSpec"), self.type_parameter),
        }

    def open(self, kind: str, node: Any, parent: int, name: str, *, is_body: bool) -> int:
        names = self.names
        scope = len(names.scope_nodes)
        around = parent
        while kind in ("function", "class") and names.scope_kinds[around] == "type":
            around = names.scope_parents[around]  # what has type parameters is named as if it had none
        if name[:1] == "<":
            count = self.counts[parent, name] = self.counts.get((parent, name), 0) + 1
            name = f"{name}{count}>"
        names.scope_nodes.append(node)
        names.scope_kinds.append(kind)
        names.scope_parents.append(parent)
        names.scope_names.append(name)
        names.qualified_names.append(f"{names.qualified_names[around]}.{name}" if around > 0 else name)
        names.labels.append(self.label(around, name))
        names.enclosing.append(
            parent if parent < 0 or names.scope_kinds[parent] != "class" else names.enclosing[parent]
        )
        names.tables.append({})
        if kind == "class":
            names.privates.append(name.lstrip("_"))
        else:
            names.privates.append(names.privates[parent] if parent >= 0 else "")
        if is_body:
            names.body_scope[node.at] = scope
        return scope

    def label(self, around: int, name: str) -> str:
        label = f"{self.names.labels[around]}.{name}" if around > 0 else name
        count = self.named[label] = self.named.get(label, -1) + 1
        return f"{label}~{count}" if count else label

    def paint(self, scope: int, start: int, end: int) -> None:
        self.names.scope_of[start:end] = [scope] * (end - start)

    def function(self, node: Any) -> None:
        outer = parent = self.names.scope_of[node.at]
        end = self.ends[node.at]
        start = node.body[0].at if node.body else end
        if _has_types(node):
            parent = self.type_parameters(node, outer, start)
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.paint(outer, default.at, self.ends[default.at])
        scope = self.open("function", node, parent, node.name, is_body=True)
        self.paint(scope, start, end)
        self.parameters(scope, node.args)

    def function_of_lambda(self, node: Any) -> None:
        scope = self.open("lambda", node, self.names.scope_of[node.at], "<lambda", is_body=True)
        self.paint(scope, node.body.at, self.ends[node.at])
        self.parameters(scope, node.args)

    def parameters(self, scope: int, args: ast.arguments) -> None:
        scope_of = self.names.scope_of
        for group in (args.posonlyargs, args.args, args.kwonlyargs):
            for arg in group:
                scope_of[arg.at] = scope  # type: ignore[attr-defined]
        if args.vararg is not None:
            scope_of[args.vararg.at] = scope  # type: ignore[attr-defined]
        if args.kwarg is not None:
            scope_of[args.kwarg.at] = scope  # type: ignore[attr-defined]

    def class_(self, node: Any) -> None:
        parent = self.names.scope_of[node.at]
        end = self.ends[node.at]
        start = node.body[0].at if node.body else end
        if _has_types(node):
            parent = self.type_parameters(node, parent, start)
        self.paint(self.open("class", node, parent, node.name, is_body=True), start, end)

    def comprehension(self, node: Any) -> None:
        outer = self.names.scope_of[node.at]
        scope = self.open("comprehension", node, outer, _COMPREHENSIONS[node.__class__.__name__], is_body=True)
        self.paint(scope, node.at + 1, self.ends[node.at])
        if node.__class__ is ast.GeneratorExp:
            self.names.generators.add(scope)
        if node.generators:
            first = node.generators[0].iter
            self.paint(outer, first.at, self.ends[first.at])
        if any(generator.is_async for generator in node.generators):
            self.names.coroutines.add(scope)

    def type_parameters(self, node: Any, outer: int, end: int) -> int:
        scope = self.open("type", node, outer, "<type", is_body=False)
        self.paint(scope, node.type_params[0].at, end)
        return scope

    def alias(self, node: Any) -> None:
        parent = self.names.scope_of[node.at]
        if _has_types(node):
            parent = self.type_parameters(node, parent, self.ends[node.at])
        self.paint(self.open("type", node, parent, "<type", is_body=True), node.value.at, self.ends[node.value.at])

    def type_parameter(self, node: Any) -> None:
        """Bounds and defaults of type parameters are evaluated when they are asked for, each in a frame of its own."""
        for value in (getattr(node, "bound", None), getattr(node, "default_value", None)):
            if value is not None:
                scope = self.open("type", node, self.names.scope_of[node.at], "<type", is_body=False)
                self.paint(scope, value.at, self.ends[value.at])


def _has_types(node: Any) -> bool:
    """Whether a definition has type parameters that are nodes of the tree."""
    return any(hasattr(parameter, "at") for parameter in getattr(node, "type_params", ()))


def _leave_annotations(tree: Tree, names: Names, ends: list[int]) -> None:
    annotations = [n.annotation for n in tree.every(ast.arg, ast.AnnAssign)]
    annotations += [n.returns for n in tree.every(ast.FunctionDef, ast.AsyncFunctionDef)]
    opened = names.body_scope
    for annotation in annotations:
        if annotation is not None:
            outer = names.scope_of[annotation.at]
            for at in range(annotation.at, ends[annotation.at]):
                if names.scope_of[at] == outer:
                    names.unevaluated.add(at)
                if at in opened:
                    names.unevaluated_scopes.add(opened[at])
