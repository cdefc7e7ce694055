"""One parse, indexed: every syntax node in preorder, with its parent, and its span in raw bytes.

A node's ordinal (its place in preorder) is its name within a content. A subtree is a contiguous range of
ordinals, so an ordinal counted from the function that owns it does not change when code above it does.

`ast` nodes carry their ordinal as `at`, so that extractors get from a node to its row without a look-up.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from codelake.extract.text import Offsets, Text

if TYPE_CHECKING:
    from codelake.extract.control.graph import Control
    from codelake.extract.names.scopes import Names


class Error(ast.stmt):
    """A region that could not be read, in a recovered tree; its children are what could."""

    _fields = ("body",)


@dataclass(slots=True)
class Problem:
    """Something about a content that belongs in `diagnostics`, with its place in raw bytes."""

    kind: str
    message: str
    start_byte: int
    end_byte: int


@dataclass(slots=True)
class Tree:
    text: Text
    module: ast.Module
    nodes: list[Any]
    """`ast` nodes in preorder; contexts (Load) and operators (Add) are not nodes but words about their parents."""
    parents: list[int]
    fields: list[str]
    """Which field of the parent a node stands in."""
    of_kind: dict[type, list[Any]]
    """The nodes of each class, in preorder."""
    starts: Offsets
    ends: Offsets
    start_lines: Offsets
    end_lines: Offsets
    names: Names | None = None
    """Scopes, symbols and references, once that extractor has run: control and data flow build on it."""
    control: Control | None = None
    reaches: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    """Pairs of references: a definition and a use that it reaches."""
    leaving: list[int] = field(default_factory=list)
    """References whose definitions still hold where a module or class ends, of names that are bound several times."""
    problems: list[Problem] = field(default_factory=list)

    def every(self, *kinds: type) -> list[Any]:
        """The nodes of these classes, in preorder."""
        if len(kinds) == 1:
            return self.of_kind.get(kinds[0], [])
        return sorted((n for kind in kinds for n in self.of_kind.get(kind, ())), key=attrgetter("at"))


def names_of(tree: Tree) -> Names:
    """What the extractor of names left; it runs before those that ask for it."""
    if tree.names is None:
        raise AssertionError("the extractor of names runs before those that ask for them")
    return tree.names


_NO_CHILDREN = (ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton)
# Fields that hold words, numbers, contexts and operators.
_WORDS = {
    *("ctx", "op", "ops", "id", "attr", "name", "asname", "arg", "module", "level", "kwd_attrs", "rest", "kind", "str"),
    *("conversion", "simple", "is_async", "type_comment", "type_ignores"),
}
# Where the grammar's order of fields is not the order in the source.
_IN_SOURCE_ORDER = {
    "FunctionDef": ("decorator_list", "type_params", "args", "returns", "body"),
    "AsyncFunctionDef": ("decorator_list", "type_params", "args", "returns", "body"),
    "ClassDef": ("decorator_list", "type_params", "bases", "keywords", "body"),
    "IfExp": ("body", "test", "orelse"),
    "TypeAlias": ("name", "type_params", "value"),
}


def children_of(kind: type) -> tuple[str, ...]:
    """The fields of a class of nodes that hold nodes, in the order of the source."""
    if kind in _NO_CHILDREN:
        return ()
    if ordered := _IN_SOURCE_ORDER.get(kind.__name__):
        return ordered
    return tuple(field for field in kind._fields if field not in _WORDS)  # type: ignore[attr-defined]


def parse(text: Text) -> ast.Module:
    """CPython's own tree. Raises what CPython raises; the recursion limit must be CPython's default, see `guard`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are not ours to report
        return ast.parse(text.text)


def indexed(module: ast.Module, text: Text) -> Tree:
    nodes: list[Any] = []
    parents: list[int] = []
    fields: list[str] = []
    shapes: dict[type, tuple[tuple[str, ...], bool, list[Any]]] = {}
    places: list[tuple[int, int, int, int]] = []
    without_place: list[int] = []
    stack: list[tuple[Any, int, str]] = [(module, -1, "")]
    pop, push = stack.pop, stack.append
    while stack:
        node, parent, name = pop()
        at = len(nodes)
        node.at = at
        nodes.append(node)
        parents.append(parent)
        fields.append(name)
        kind = node.__class__
        try:
            children, has_place, same_kind = shapes[kind]
        except KeyError:
            children, has_place, same_kind = children_of(kind)[::-1], "lineno" in kind._attributes, []
            shapes[kind] = children, has_place, same_kind
        same_kind.append(node)
        if has_place:
            places.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
        else:
            without_place.append(at)
            places.append((1, 0, 1, 0))
        for field_name in children:
            value = getattr(node, field_name, None)  # type parameters, before Python 3.12
            if value.__class__ is list:
                for child in value[::-1]:
                    if child is not None:
                        push((child, at, field_name))
            elif value is not None:
                push((value, at, field_name))
    of_kind = {kind: found for kind, (_, _, found) in shapes.items()}
    tree = Tree(text, module, nodes, parents, fields, of_kind, *_spans(text, places))
    _place_by_children(tree, without_place)
    return tree


def _spans(text: Text, places: list[tuple[int, int, int, int]]) -> tuple[Offsets, Offsets, Offsets, Offsets]:
    """Raw start and end, first and last line of each place. A place beyond the text is cut to it: CPython before
    3.12 counts wrongly inside some f-strings."""
    line, column, end_line, end_column = np.array(places, np.int32).reshape(-1, 4).T
    line_starts = np.array(text.line_starts, np.int32)
    last = len(line_starts) - 1
    starts = np.minimum(line_starts[np.clip(line - 1, 0, last)] + column, line_starts[-1])
    ends = np.minimum(line_starts[np.clip(end_line - 1, 0, last)] + end_column, line_starts[-1])
    return text.raw(starts), text.raw(np.maximum(ends, starts)), line, end_line


def _place_by_children(tree: Tree, without_place: list[int]) -> None:
    """The module is all of the text. Other nodes without a place (arguments, withitem, comprehension, match_case)
    reach from their first child to their last."""
    starts, ends, first, last = tree.starts, tree.ends, tree.start_lines, tree.end_lines
    for at in reversed(without_place):
        node = tree.nodes[at]
        below = [child.at for child in ast.iter_child_nodes(node) if hasattr(child, "at")]
        if at == 0:
            starts[0], ends[0] = tree.text.raw_offset(0), tree.text.raw_offset(len(tree.text.utf8))
            first[0], last[0] = 1, max(len(tree.text.line_starts) - 1, 1)
        elif below:
            starts[at], ends[at] = min(starts[c] for c in below), max(ends[c] for c in below)
            first[at], last[at] = min(first[c] for c in below), max(last[c] for c in below)
        else:
            _place_without_children(tree, at)


def _place_without_children(tree: Tree, at: int) -> None:
    """Empty `arguments`: nothing, just before the body."""
    body = tree.nodes[tree.parents[at]].body
    behind = body[0] if body.__class__ is list else body
    tree.starts[at] = tree.ends[at] = tree.starts[behind.at]
    tree.start_lines[at] = tree.end_lines[at] = tree.start_lines[behind.at]
