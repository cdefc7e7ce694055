"""Annotations, and the type expressions in them. A type in quotes is parsed like one without."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codelake.extract.syntax import dotted
from codelake.extract.tree import Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

_LITERAL = ("Literal", "typing.Literal", "t.Literal", "typing_extensions.Literal")
_ANNOTATED = ("Annotated", "typing.Annotated", "t.Annotated", "typing_extensions.Annotated")


def annotated(tree: Tree) -> tuple[Rows, ...]:
    scope_of = names_of(tree).scope_of
    found = [(n.annotation, n.at, "parameter") for n in tree.every(ast.arg) if n.annotation is not None]
    found += [(n.annotation, n.at, "variable") for n in tree.every(ast.AnnAssign)]
    functions = tree.every(ast.FunctionDef) + tree.every(ast.AsyncFunctionDef)
    found += [(n.returns, n.at, "return") for n in functions if n.returns is not None]
    found.sort(key=lambda row: row[0].at)
    types = _Types(tree)
    for place, (annotation, _, _) in enumerate(found):
        types.annotation = place
        types.scope = scope_of[annotation.at]
        types.add(annotation, -1)
    rows = (
        [annotation.at for annotation, _, _ in found],
        [owner for _, owner, _ in found],
        [scope_of[annotation.at] for annotation, _, _ in found],
        [role for _, _, role in found],
    )
    return rows, types.columns


class _Types:
    """The rows of `types`, as they come in preorder."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names = names_of(tree)
        self.columns: tuple[list[Any], ...] = tuple([] for _ in range(7))
        self.annotation = 0
        self.scope = 0
        self.quoted: tuple[int, int, int] | None = None
        """Inside quotes: span of the literal in raw bytes, and where its text begins or -1 if that has escapes."""

    def add(self, node: Any, parent: int) -> None:
        kind, name, children = _shape(node)
        if kind == "quoted":
            self._add_quoted(node, parent)
            return
        place = len(self.columns[0])
        start, end = self._span(node)
        values = (self.annotation, parent, kind, name, self._symbol(node, name), start, end)
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)
        for child in children:
            self.add(child, place)

    def _add_quoted(self, node: Any, parent: int) -> None:
        if self.quoted is not None:
            return  # quotes within quotes
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return  # no type after all: the annotation stays without one
        start, end = int(self.tree.starts[node.at]), int(self.tree.ends[node.at])
        literal = self.tree.text.utf8[start - self.tree.text.shift : end - self.tree.text.shift]
        is_plain = node.value.isascii() and len(literal) == len(node.value) + 2 and node.value == node.value.strip()
        self.quoted = start, end, start + 1 if is_plain and self.tree.text.raw_offsets is None else -1
        self.add(inner, parent)
        self.quoted = None

    def _span(self, node: Any) -> tuple[int, int]:
        if self.quoted is None:
            return int(self.tree.starts[node.at]), int(self.tree.ends[node.at])
        start, end, inside = self.quoted
        return (start, end) if inside < 0 else (inside + node.col_offset, inside + node.end_col_offset)

    def _symbol(self, node: Any, name: str | None) -> int | None:
        if name is None:
            return None
        if self.quoted is not None:
            return self.names.symbol_in(self.scope, name.split(".", 1)[0])
        while node.__class__ is not ast.Name:
            node = node.value
        symbol = self.names.reference_symbols[self.names.loads[node.at]]
        return None if symbol is None else self.names.symbol_targets[symbol]


def _shape(node: Any) -> tuple[str, str | None, list[Any]]:
    """Kind, dotted name and parts of a type expression."""
    kind = node.__class__
    if kind is ast.Name or kind is ast.Attribute:
        name = dotted(node)
        return ("name", name, []) if name else ("other", None, [])
    if kind is ast.Subscript:
        name = dotted(node.value)
        parts = node.slice.elts if node.slice.__class__ is ast.Tuple else [node.slice]
        if name in _LITERAL:
            return "literal", name, []
        return "generic", name, parts[:1] if name in _ANNOTATED else parts
    if kind is ast.BinOp and node.op.__class__ is ast.BitOr:
        return "union", None, [node.left, node.right]
    if kind is ast.List:
        return "list", None, node.elts
    if kind is ast.Constant:
        if node.value is None:
            return "none", None, []
        if node.value is Ellipsis:
            return "ellipsis", None, []
        if node.value.__class__ is str:
            return "quoted", None, []
    return "other", None, []
