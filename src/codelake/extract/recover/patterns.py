"""Patterns of `match`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from codelake.extract.recover.concrete import Node
from codelake.extract.recover.reader import Read, Reader, Unreadable


def pattern(r: Reader, nodes: Sequence[Node]) -> ast.pattern:
    """The pattern that one node is, or a sign and a number."""
    if not nodes:
        raise Unreadable
    first = nodes[0]
    if isinstance(first.value, ast.pattern):
        return first.value
    if first.kind in ("list_pattern", "tuple_pattern") and len(first.parts) == 2:
        return r.put(ast.MatchSequence(patterns=[]), first)
    if first.kind in ("true", "false", "none"):
        return r.put(ast.MatchSingleton(value=first.value.value), first)
    if first.kind == "_" or (first.kind == "identifier" and r.source(first) == "_"):
        return r.put(ast.MatchAs(pattern=None, name=None), first)
    value = _value(r, nodes)
    if isinstance(value, ast.Name):
        return r.put(ast.MatchAs(pattern=None, name=None if value.id == "_" else value.id), first)
    return r.put(ast.MatchValue(value=value), first, nodes[-1])


def _value(r: Reader, nodes: Sequence[Node]) -> ast.expr:
    if nodes[0].kind == "-" and len(nodes) > 1:
        return r.put(ast.UnaryOp(op=ast.USub(), operand=r.expr(nodes[1])), nodes[0], nodes[1])
    if not isinstance(nodes[0].value, ast.expr):
        raise Unreadable
    return nodes[0].value


def split(nodes: Sequence[Node], *signs: str) -> Iterator[list[Node]]:
    """Nodes between signs; nothing between two signs is left out."""
    part: list[Node] = []
    for node in nodes:
        if node.kind not in signs:
            part.append(node)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _case(r: Reader, node: Node) -> Any:
    if len(node.parts) == 1 and isinstance(node.parts[0].value, tuple):
        return node.parts[0].value  # name=pattern, of a class
    return pattern(r, node.parts)


def _as(r: Reader, node: Node) -> Any:
    parts = node.parts
    if len(parts) != 3:
        raise Unreadable
    inner, _, name = parts
    if isinstance(inner.value, tuple):  # key=pattern as name
        key, value = inner.value
        made = ast.MatchAs(pattern=value, name=r.name(name))
        return key, r.put_at(made, r.start_of(value), name.end)
    return r.put(ast.MatchAs(pattern=pattern(r, [inner]), name=r.name(name)), node)


def _union(r: Reader, node: Node) -> ast.pattern:
    return r.put(ast.MatchOr(patterns=[pattern(r, part) for part in split(node.parts, "|")]), node)


def _sequence(r: Reader, node: Node) -> ast.pattern:
    found = [pattern(r, part) for part in split(node.parts[1:-1], ",")]
    if node.kind == "tuple_pattern" and len(found) == 1 and not node.has(","):
        return found[0]
    return r.put(ast.MatchSequence(patterns=found), node)


def _splat(r: Reader, node: Node) -> ast.pattern:
    name = _bound(r, node)
    return r.put(ast.MatchStar(name=None if name == "_" else name), node)


def _bound(r: Reader, node: Node) -> str:
    """The name behind stars."""
    parts = node.parts
    if len(parts) != 2:
        raise Unreadable
    return r.source(parts[1])


def _mapping(r: Reader, node: Node) -> ast.pattern:
    keys: list[ast.expr] = []
    patterns: list[ast.pattern] = []
    rest: str | None = None
    for part in split(node.parts[1:-1], ","):
        if part[0].kind == "splat_pattern":
            rest = _bound(r, part[0])
            continue
        sides = list(split(part, ":"))
        if len(sides) != 2:
            raise Unreadable
        keys.append(_value(r, sides[0]))
        patterns.append(pattern(r, sides[1]))
    return r.put(ast.MatchMapping(keys=keys, patterns=patterns, rest=rest), node)


def _class(r: Reader, node: Node) -> ast.pattern:
    patterns: list[ast.pattern] = []
    names: list[str] = []
    named: list[ast.pattern] = []
    for part in split(node.parts[2:-1], ","):
        if isinstance(part[0].value, tuple):
            names.append(part[0].value[0])
            named.append(part[0].value[1])
        else:
            patterns.append(pattern(r, part))
    cls = r.expr(r.first(node))
    return r.put(ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named), node)


def _keyword(r: Reader, node: Node) -> tuple[str, ast.pattern]:
    parts = node.parts
    if len(parts) < 3:
        raise Unreadable
    return r.name(parts[0]), pattern(r, parts[2:])


def _complex(r: Reader, node: Node) -> ast.expr:
    signs = [child for child in node.parts if child.value is None]
    numbers = [child for child in node.parts if child.value is not None]
    if len(numbers) != 2 or not signs:
        raise Unreadable
    left = _value(r, node.parts[:2])
    op: ast.operator = ast.Add() if signs[-1].kind == "+" else ast.Sub()
    return r.put(ast.BinOp(left=left, op=op, right=r.expr(numbers[1])), node)


def _if_of_match(mine: Read, other: Read) -> Read:
    """tree-sitter has one name for two things: of a `match` are those whose parts are patterns."""

    def read(r: Reader, node: Node) -> Any:
        return (mine if node.has("case_pattern") else other)(r, node)

    return read


def patterns(expressions: dict[str, Read]) -> dict[str, Read]:
    return {
        "case_pattern": _case,
        "as_pattern": _if_of_match(_as, expressions["as_pattern"]),
        "list_pattern": _if_of_match(_sequence, expressions["list_pattern"]),
        "tuple_pattern": _if_of_match(_sequence, expressions["tuple_pattern"]),
        "union_pattern": _union,
        "splat_pattern": _splat,
        "dict_pattern": _mapping,
        "class_pattern": _class,
        "keyword_pattern": _keyword,
        "complex_pattern": _complex,
    }
