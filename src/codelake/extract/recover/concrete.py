"""tree-sitter's concrete tree, walked once and without recursion: a node is handed over after its children."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import tree_sitter
import tree_sitter_python

MAX_NESTING = 2_000
"""Levels of concrete nodes below which nothing is read; most constructs are two levels."""
MAX_DEPTH = 12_000
"""The same with chains counted: a + b + c is one level of nesting, and two of depth."""

ERROR = "ERROR"
DEEP = "DEEP"

_LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
_IDS = range(_LANGUAGE.node_kind_count)
_NAMED = frozenset(_LANGUAGE.node_kind_for_id(i) for i in _IDS if _LANGUAGE.node_kind_is_named(i))
# The word `yield` is not the expression `yield`.
_KINDS = [
    f"'{kind}'" if kind in _NAMED and not _LANGUAGE.node_kind_is_named(i) else kind
    for i in _IDS
    if (kind := _LANGUAGE.node_kind_for_id(i) or "?")
]
_FIELDS = [None, *(_LANGUAGE.field_name_for_id(i) for i in range(1, _LANGUAGE.field_count + 1))]
_EXTRAS = frozenset(i for i, kind in enumerate(_KINDS) if kind in ("comment", "line_continuation"))
_ERROR_ID = 0xFFFF
# Of these, the first child is the same construct again, one term shorter.
_CHAINS = frozenset(
    [
        "binary_operator",
        "boolean_operator",
        "attribute",
        "call",
        "subscript",
        "member_type",
        "union_type",
        "comparison_operator",
    ]
)
# Their texts are no nodes, so their ends are not those of their children.
_OPAQUE = frozenset(["string_content", "format_specifier", ERROR])


class Node:
    """One concrete node. `value` is what it was read as: an `ast` node, or what its parent makes one from."""

    __slots__ = ("children", "end", "field", "has_error", "is_point", "kind", "missing", "start", "taken", "value")

    def __init__(self, kind: str, start: int, end: int, field: str | None, missing: bool = False) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.field = field
        self.missing = missing
        self.is_point = missing and kind == "identifier"
        """Nothing, in a place where something must be."""
        self.children: list[Node] = []
        self.value: Any = None
        self.has_error = False
        """A child is an error, or a child of one that is no syntax node."""
        self.taken = False
        """For errors: what could be read of it has found its place."""

    @property
    def parts(self) -> list[Node]:
        """The children but for errors and what is missing: the n-th is what the grammar says."""
        return [child for child in self.children if child.kind != ERROR and not child.missing]

    def child(self, field: str) -> Node | None:
        for child in self.children:
            if child.field == field:
                return child
        return None

    def every(self, field: str) -> list[Node]:
        return [child for child in self.children if child.field == field]

    def has(self, kind: str) -> bool:
        return any(child.kind == kind for child in self.children)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}-{self.end} {self.children or ''}>"


class Piece:
    """A part of a text as tree-sitter is to see it: with closing brackets and the like put in. See `repair`."""

    def __init__(self, source: bytes, start: int, inserted: list[tuple[int, bytes]]) -> None:
        self.start = start
        parts: list[bytes] = []
        self._from: list[int] = [0]
        """Offsets in the piece from which on the shift is the one at the same place of `_by`."""
        self._by: list[int] = [start]
        self._until: list[int] = []
        done, n_put = start, 0
        for at, put in inserted:
            parts += [source[done - start : at - start], put]
            # What was put in lies at `at`, and has no width.
            self._from.append(at - start + n_put + len(put))
            self._until.append(at)
            n_put += len(put)
            self._by.append(start - n_put)
            done = at
        parts.append(source[done - start :])
        self.source = b"".join(parts) if inserted else source

    def offset(self, at: int) -> int:
        """An offset in the piece as one in the text."""
        if not self._until:
            return at + self.start
        i = bisect_right(self._from, at) - 1
        found = at + self._by[i]
        return min(found, self._until[i]) if i < len(self._until) else found


def walked(piece: Piece, leave: Callable[[Node], None]) -> Node:
    """The root. `leave` sees every node but comments, children first."""
    cursor = tree_sitter.Parser(_LANGUAGE).parse(piece.source).walk()
    offset = piece.offset
    shift = piece.start if len(piece.source) and not piece._until else None
    above: list[tuple[Node, int]] = []
    nesting = 0
    while True:
        seen: Any = cursor.node
        kind_id = seen.kind_id
        if kind_id not in _EXTRAS:
            kind = ERROR if kind_id == _ERROR_ID else _KINDS[kind_id]
            start, end = seen.start_byte, seen.end_byte
            missing = start == end and seen.is_missing
            if shift is None:
                start, end = offset(start), offset(end)
            else:
                start, end = start + shift, end + shift
            if start == end and kind == "identifier":
                missing = True  # put in by `repair`
            node = Node(kind, start, end, _FIELDS[cursor.field_id or 0], missing)
            if above:
                parent, nesting = above[-1]
                if parent.children or parent.kind not in _CHAINS:
                    nesting += 1
                parent.children.append(node)
                if kind_id == _ERROR_ID:
                    parent.has_error = True
            if nesting > MAX_NESTING or len(above) > MAX_DEPTH:
                if seen.child_count:
                    node.kind = DEEP
            elif cursor.goto_first_child():
                above.append((node, nesting))
                continue
            leave(node)
        while not cursor.goto_next_sibling():
            if not above:
                return node
            cursor.goto_parent()
            node = above.pop()[0]
            _trim(node)
            leave(node)
            if node.has_error and above and not isinstance(node.value, ast.expr | ast.stmt):
                above[-1][0].has_error = True


def _trim(node: Node) -> None:
    """Blocks end where their last token does: not after the comments behind it."""
    if node.kind in _OPAQUE:
        return
    parts = [child for child in node.children if child.end > child.start or child.is_point]
    if parts:
        node.start, node.end = parts[0].start, parts[-1].end
        node.is_point = node.start == node.end
    else:
        node.end = node.start
