"""Operators, with Python's precedence where tree-sitter has another."""

from __future__ import annotations

import ast
from collections.abc import Callable

from codelake.extract.recover.concrete import Node
from codelake.extract.recover.reader import Default, Read, Reader, Unreadable

OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "@": ast.MatMult,
    "/": ast.Div,
    "%": ast.Mod,
    "//": ast.FloorDiv,
    "**": ast.Pow,
    "|": ast.BitOr,
    "&": ast.BitAnd,
    "^": ast.BitXor,
    "<<": ast.LShift,
    ">>": ast.RShift,
}
_UNARY: dict[str, type[ast.unaryop]] = {"+": ast.UAdd, "-": ast.USub, "~": ast.Invert}
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<>": ast.NotEq,
    ">=": ast.GtE,
    ">": ast.Gt,
    "in": ast.In,
    "not in": ast.NotIn,
    "is": ast.Is,
    "is not": ast.IsNot,
}


def _binary(r: Reader, node: Node) -> ast.expr:
    left, operator, right = r.need(node, "left"), r.need(node, "operator"), r.need(node, "right")
    op = OPERATORS[operator.kind]
    if op is ast.BitAnd:
        return _and(r, r.expr(left), r.expr(right))
    return r.under_star(r.expr(left), node, lambda v: ast.BinOp(left=v, op=op(), right=r.expr(right)))


def _is_bare(r: Reader, node: ast.expr, op: type[ast.operator]) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, op) and id(node) not in r.brackets


def joined(r: Reader, left: ast.expr, op: type[ast.operator], right: ast.expr) -> ast.expr:
    (start, _), (_, end) = r.outer(left), r.outer(right)
    return r.put_at(ast.BinOp(left=left, op=op(), right=right), start, end)


def _and(r: Reader, left: ast.expr, right: ast.expr) -> ast.expr:
    """tree-sitter has ^ bind tighter than &. So either side may be a ^ that is to be split."""
    return onto_first(r, left, right, ast.BitXor, lambda first: _and_with_last(r, left, first))


def _and_with_last(r: Reader, left: ast.expr, right: ast.expr) -> ast.expr:
    if isinstance(left, ast.Starred) and id(left) not in r.brackets:
        left.value = _and_with_last(r, left.value, right)
        return r.put_at(left, r.start_of(left), r.outer(right)[1])
    if isinstance(left, ast.BinOp) and _is_bare(r, left, ast.BitXor):
        left.right = joined(r, left.right, ast.BitAnd, right)
        return r.put_at(left, r.start_of(left), r.outer(right)[1])
    return joined(r, left, ast.BitAnd, right)


def onto_first(
    r: Reader, left: ast.expr, right: ast.expr, op: type[ast.operator], join: Callable[[ast.expr], ast.expr]
) -> ast.expr:
    """`right` is a chain of `op` or one term. Puts what `join` makes of its first term in the place of that."""
    chain: list[ast.BinOp] = []
    first = right
    while isinstance(first, ast.BinOp) and _is_bare(r, first, op):
        chain.append(first)
        first = first.left
    made = join(first)
    if not chain:
        return made
    chain[-1].left = made
    start = r.outer(left)[0]
    for link in chain:
        r.put_at(link, start, r.end_of(link))
    return chain[0]


def _union(r: Reader, node: Node) -> ast.expr:
    """`|` between types: tree-sitter may group them from the right."""
    found = r.exprs(node.children)
    if len(found) != 2:
        raise Unreadable
    left, right = found
    return onto_first(r, left, right, ast.BitOr, lambda first: joined(r, left, ast.BitOr, first))


def _boolean(r: Reader, node: Node) -> ast.expr:
    left, operator, right = r.need(node, "left"), r.need(node, "operator"), r.need(node, "right")
    kind = ast.And if operator.kind == "and" else ast.Or
    before = left.value
    if left.kind == "boolean_operator" and isinstance(before, ast.BoolOp) and isinstance(before.op, kind):
        before.values.append(r.expr(right))
        return r.put(before, node)
    return r.under_star(r.expr(left), node, lambda v: ast.BoolOp(op=kind(), values=[v, r.expr(right)]))


def _not(r: Reader, node: Node) -> ast.expr:
    return r.put(ast.UnaryOp(op=ast.Not(), operand=r.expr(r.need(node, "argument"))), node)


def _unary(r: Reader, node: Node) -> ast.expr:
    op = _UNARY[r.need(node, "operator").kind]()
    return r.put(ast.UnaryOp(op=op, operand=r.expr(r.need(node, "argument"))), node)


def _comparison(r: Reader, node: Node) -> ast.expr | Default:
    ops = [_COMPARISONS[child.kind]() for child in node.every("operators")]
    terms = [r.expr(child) for child in node.children if child.value is not None]
    if len(terms) != len(ops) + 1:
        raise Unreadable
    if node.has("<>"):
        r.is_python2 = True
    if len(ops) == 1 and r.utf8.startswith(b"=", node.every("operators")[0].start) and isinstance(ops[0], ast.Lt):
        return Default(terms[0], terms[1])  # see `prepare`
    return r.under_star(terms[0], node, lambda v: ast.Compare(left=v, ops=ops, comparators=terms[1:]))


def _await(r: Reader, node: Node) -> ast.expr:
    inner = r.only(node)
    value = r.expr(inner)
    if inner.kind == "binary_operator" and isinstance(value, ast.BinOp):
        # await a ** b is (await a) ** b: tree-sitter has it the other way round.
        value.left = r.put_at(ast.Await(value=value.left), node.start, r.outer(value.left)[1])
        return r.put(value, node)
    return r.put(ast.Await(value=value), node)


OPERATIONS: dict[str, Read] = {
    "binary_operator": _binary,
    "boolean_operator": _boolean,
    "not_operator": _not,
    "unary_operator": _unary,
    "comparison_operator": _comparison,
    "union_type": _union,
    "await": _await,
}
