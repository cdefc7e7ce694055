"""What all readers of concrete nodes share: places, targets, and what becomes of errors."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from codelake.extract import tree
from codelake.extract.recover import grammar
from codelake.extract.recover.concrete import DEEP, ERROR, Node, Piece, walked
from codelake.extract.text import Text
from codelake.extract.tree import Problem

A = TypeVar("A", bound=ast.AST)
Read = Callable[["Reader", Node], Any]

MAX_PROBLEMS = 100
_BLOCKS = ("module", "block", "else_clause", "finally_clause")


def unread(body: list[Any]) -> ast.expr:
    made: Any = grammar.Error()
    made.body = body
    return made  # type: ignore[no-any-return]


def unread_statement(body: list[Any]) -> ast.stmt:
    made: Any = tree.Error()
    made.body = body
    return made  # type: ignore[no-any-return]


class Unreadable(Exception):
    """A concrete node lacks what its syntax node requires."""


class As(NamedTuple):
    """`value as target`, which is part of a `with` or an `except`."""

    value: ast.expr
    target: ast.expr


class Default(NamedTuple):
    """`T = default`, or the bound and the default of `T: bound = default`."""

    value: ast.expr
    default: ast.expr


class Reader:
    def __init__(self, text: Text, readers: Mapping[str, Read], statements: frozenset[str]) -> None:
        self.text = text
        self.utf8 = text.utf8
        self._readers = readers
        self._statements = statements
        self._lines = text.line_starts[:-1] or [0]
        self.is_python2 = False
        """Something was seen that only Python 2 has."""
        self.n_elifs = 0
        self.later: list[Callable[[], None]] = []
        """What is decided when all has been seen."""
        self._problems: list[tuple[int, int, str]] = []
        self.brackets: dict[int, tuple[int, int]] = {}
        """By id of a syntax node, the place of the outermost brackets around it."""

    def leave(self, node: Node) -> None:
        """Reads a node, whose children have been read."""
        kind = node.kind
        if node.missing:
            self.problem(f"{kind} is missing", node.start, node.end)
            return
        if kind == ERROR:
            self.problem(f"not understood: {self.shown(node)}", node.start, node.end)
            return
        if kind == DEEP:
            self.problem("nested too deeply", node.start, node.end)
            node.value = self.put(unread([]), node)
            return
        read = self._readers.get(kind)
        if read is None:
            return
        try:
            node.value = read(self, node)
        except Unreadable:
            node.value = self.error(node)
            return
        if node.has_error:
            self._place_errors(node)

    # Places

    def put(self, made: A, place: Node, end: Node | None = None) -> A:
        return self.put_at(made, place.start, (end or place).end)

    def put_at(self, made: A, start: int, end: int) -> A:
        lines = self._lines
        line = bisect_right(lines, start)
        last = line if line < len(lines) and end < lines[line] else bisect_right(lines, end)
        node: Any = made
        node.lineno = line
        node.col_offset = start - lines[line - 1]
        node.end_lineno = last
        node.end_col_offset = end - lines[last - 1]
        return made

    def start_of(self, node: Any) -> int:
        return int(self._lines[node.lineno - 1] + node.col_offset)

    def end_of(self, node: Any) -> int:
        return int(self._lines[node.end_lineno - 1] + node.end_col_offset)

    def outer(self, node: ast.AST) -> tuple[int, int]:
        """Its place with the brackets around it."""
        return self.brackets.get(id(node)) or (self.start_of(node), self.end_of(node))

    def under_star(self, left: ast.expr, node: Node, make: Callable[[ast.expr], ast.expr]) -> ast.expr:
        """What is made from `left`. *a.b is *(a.b): tree-sitter has it the other way round."""
        if isinstance(left, ast.Starred) and id(left) not in self.brackets:
            inner = left.value
            left.value = self.put_at(make(inner), self.outer(inner)[0], node.end)
            return self.put(left, node)
        return self.put(make(left), node)

    def shown(self, node: Node, most: int = 40) -> str:
        found = self.utf8[node.start : node.end][: most * 4].decode("utf-8", "replace")
        return repr(found if len(found) <= most else found[:most] + "…")

    def source(self, node: Node) -> str:
        return self.utf8[node.start : node.end].decode("utf-8", "replace")

    def source_at(self, start: int, end: int) -> str:
        return self.utf8[start:end].decode("utf-8", "replace")

    # Parts

    def need(self, node: Node, field: str) -> Node:
        found = node.child(field)
        if found is None:
            raise Unreadable
        return found

    def name(self, node: Node) -> str:
        """The identifier that a node is."""
        if node.value.__class__ is not ast.Name:
            raise Unreadable
        return str(node.value.id)

    def expr(self, node: Node) -> ast.expr:
        """A node where an expression must stand."""
        value = node.value
        if isinstance(value, ast.expr):
            return value
        if node.missing:
            return self.put(unread([]), node)
        node.taken = True
        return self.put(unread(self.pieces(node, ast.expr)), node)

    def exprs(self, nodes: Iterable[Node]) -> list[ast.expr]:
        """The expressions among nodes, errors too; words and signs are none."""
        return [self.expr(n) for n in nodes if n.value is not None or n.kind in (ERROR, "identifier")]

    def first(self, node: Node) -> Node:
        """The first child that is no error."""
        if not node.parts:
            raise Unreadable
        return node.parts[0]

    def only(self, node: Node) -> Node:
        """The one child that is an expression."""
        found = [child for child in node.children if child.value is not None or child.kind == "identifier"]
        if len(found) != 1:
            raise Unreadable
        return found[0]

    def listed(self, nodes: Sequence[Node]) -> ast.expr:
        """One expression, or several with commas between them: a tuple, to its last comma."""
        found = self.exprs(nodes)
        if not found:
            raise Unreadable
        if len(found) == 1 and not any(n.kind == "," for n in nodes):
            return found[0]
        return self.put(ast.Tuple(elts=found, ctx=ast.Load()), nodes[0], nodes[-1])

    def stored(self, target: Any, ctx: type[ast.expr_context] = ast.Store) -> Any:
        """A target, and what is unpacked in it."""
        rest: list[Any] = [target]
        while rest:
            node = rest.pop()
            if isinstance(node, ast.Tuple | ast.List):
                rest += node.elts
            elif isinstance(node, ast.Starred):
                rest.append(node.value)
            elif not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                continue
            node.ctx = ctx()
        return target

    # Statements

    def statements(self, nodes: Iterable[Node]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for node in nodes:
            value = node.value
            if isinstance(value, ast.stmt):
                found.append(value)
            elif node.kind in _BLOCKS and isinstance(value, list):
                found += value
            elif value is not None or node.kind == ERROR:
                node.taken = True
                inside = [self.stored(value, ast.Load)] if isinstance(value, ast.expr) else self.pieces(node)
                found.append(self.put(unread_statement(self.as_statements(inside)), node))
        return found

    def as_statements(self, pieces: Iterable[Any]) -> list[ast.stmt]:
        return [p if isinstance(p, ast.stmt) else ast.copy_location(ast.Expr(value=p), p) for p in pieces]

    def body(self, block: Node | None, header: Node) -> list[ast.stmt]:
        """The statements of a block. One that is missing is a `pass` behind the last sign of the header."""
        if block is not None and (found := self.statements([block])):
            return found
        self.problem("a block is missing", header.end, header.end)
        return [self.put_at(ast.Pass(), header.end, header.end)]

    # Errors

    def problem(self, message: str, start: int, end: int) -> None:
        self._problems.append((start, end, message))

    def problems(self) -> list[Problem]:
        """In the order of the text, as raw bytes, and not too many of them."""
        found = sorted(set(self._problems))
        raw = self.text.raw_offset
        shown = [Problem("syntax", message, raw(start), raw(end)) for start, end, message in found[:MAX_PROBLEMS]]
        if rest := found[MAX_PROBLEMS:]:
            shown.append(Problem("syntax", f"and {len(rest):,} more", raw(rest[0][0]), raw(max(r[1] for r in rest))))
        return shown

    def nested(self, start: int, end: int) -> list[ast.expr]:
        """The expressions of a part of the text that tree-sitter took for one literal."""
        root = walked(Piece(self.utf8[start:end], start, []), self.leave)
        return self.pieces(root, ast.expr)

    def pieces(self, node: Node, kind: type | tuple[type, ...] = (ast.expr, ast.stmt)) -> list[Any]:
        """What could be read inside a node, outermost first where one contains the other."""
        found: list[Any] = []
        rest = node.children[::-1]
        while rest:
            at = rest.pop()
            at.taken = True
            if isinstance(at.value, kind):
                found.append(self.stored(at.value, ast.Load))
            else:
                rest += at.children[::-1]
        return found

    def error(self, node: Node) -> ast.AST:
        """A node that could not be read, with what could be inside it."""
        if node.kind in self._statements:
            return self.put(unread_statement(self.as_statements(self.pieces(node))), node)
        return self.put(unread(self.pieces(node, ast.expr)), node)

    def _errors_of(self, node: Node) -> list[Node]:
        """Errors that no reader has taken, of a node and of its children that are no syntax nodes."""
        found: list[Node] = []
        rest = [node]
        while rest:
            for child in rest.pop().children:
                if child.kind == ERROR and not child.taken:
                    found.append(child)
                elif child.has_error and not isinstance(child.value, ast.expr | ast.stmt):
                    rest.append(child)
        return sorted(found, key=lambda n: n.start)

    def _place_errors(self, node: Node) -> None:
        """Keeps what is inside errors that stand between the parts of a construct: before its body, or beside it."""
        value: Any = node.value
        if isinstance(value, ast.stmt):
            errors = [e for e in self.statements(self._errors_of(node)) if getattr(e, "body", None)]
            body: list[ast.stmt] = getattr(value, "body", [])
            start, first = self.start_of(value), self.start_of(body[0]) if body else -1
            ahead = [e for e in errors if start <= self.start_of(e) and self.end_of(e) <= first]
            beside: list[Any] = [e for e in errors if e not in ahead]
            body[:0] = ahead
            if beside:
                beside = sorted([value, *beside], key=self.start_of)
                node.value = self.put(unread_statement(beside), node)
        elif isinstance(value, ast.expr):
            inside = [p for error in self._errors_of(node) for p in self.pieces(error, ast.expr)]
            if inside:
                parts = sorted([value, *inside], key=self.start_of)
                node.value = self.put(unread(parts), node)
