"""What the compiler leaves out: statements that no jump leads to, and branches of constants.

CPython compiles all, puts in the values of constant expressions, and drops blocks that are not reached from the
start by falling through, jumping, or raising. This says the same of the syntax tree.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY = {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}


def unreachable(module: ast.Module) -> set[int]:
    """Ordinals of all nodes that are not compiled."""
    reach = _Reach()
    reach.block(module.body, True)
    return {below.at for node in reach.dead for below in ast.walk(node) if hasattr(below, "at")}


def constant(node: ast.AST | None) -> tuple[Any] | None:
    """The value of an expression that the compiler evaluates; None if it does not."""
    match node:
        case ast.Constant(value):
            return (value,)
        case ast.Name("__debug__", ast.Load()):
            return (True,)
        case ast.Tuple(elts, ast.Load()):
            values = [constant(item) for item in elts]
            return None if None in values else (tuple(v[0] for v in values if v),)
        case ast.UnaryOp(op, operand) if (value := constant(operand)) is not None:
            return _applied(_UNARY[type(op)], value)
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            one, other = constant(left), constant(right)
            if one is not None and other is not None:
                return _applied(_BINARY[type(op)], one + other)
        case ast.Subscript(value, item, ast.Load()):
            one, other = constant(value), constant(item)
            if one is not None and other is not None:
                return _applied(operator.getitem, one + other)
    return None


def _applied(function: Any, values: tuple[Any, ...]) -> tuple[Any] | None:
    try:
        return (function(*values),)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


class _Reach:
    def __init__(self) -> None:
        self.dead: list[ast.AST] = []
        self.breaks: list[bool] = []
        """By loop around, whether a break is reached."""
        self.finals: list[tuple[int, bool]] = []
        """By `finally` around, how many loops are around it, and whether its end is reached."""

    def block(self, body: list[Any], is_reached: bool) -> bool:
        """Whether the end is reached."""
        for statement in body:
            if is_reached:
                is_reached = self.statement(statement)
            else:
                self.dead.append(statement)
        return is_reached

    def statement(self, node: Any) -> bool:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.values(node, but=("body",))
                inner = _Reach()
                inner.block(node.body, True)
                self.dead += inner.dead
                return True
            case ast.Return() | ast.Raise():
                self.values(node)
                return False
            case ast.Break() | ast.Continue():
                leaves = all(ends for depth, ends in self.finals if depth == len(self.breaks))
                if isinstance(node, ast.Break) and self.breaks and leaves:
                    self.breaks[-1] = True
                return False
            case ast.Assert():
                may_hold, may_fail = self.test(node.test)
                self.value(node.msg, may_fail)
                return may_hold
            case ast.If():
                is_true, is_false = self.test(node.test)
                ends = [self.block(node.body, is_true), self.block(node.orelse, is_false)]
                return any(ends)
            case ast.While():
                is_true, is_false = self.test(node.test)
                return self.loop(node, is_true, is_false)
            case ast.For() | ast.AsyncFor():
                self.value(node.target)
                self.value(node.iter)
                return self.loop(node, True, True)
            case ast.With() | ast.AsyncWith():
                self.values(node, but=("body",))
                self.block(node.body, True)
                return True  # what it raises, the context may swallow
            case ast.Try() | ast.TryStar():
                return self.try_(node)
            case ast.Match():
                return self.match(node)
        self.values(node)
        return True

    def loop(self, node: Any, is_entered: bool, ends: bool) -> bool:
        self.breaks.append(False)
        self.block(node.body, is_entered)
        is_left = self.breaks.pop()
        return self.block(node.orelse, ends) or is_left

    def try_(self, node: Any) -> bool:
        final_ends = self.block(node.finalbody, True)
        self.finals.append((len(self.breaks), final_ends))
        ends = self.block(node.orelse, self.block(node.body, True))
        for handler in node.handlers:
            self.value(handler.type)
            ends |= self.block(handler.body, True)
        self.finals.pop()
        return (ends or isinstance(node, ast.TryStar)) and final_ends

    def match(self, node: ast.Match) -> bool:
        self.value(node.subject)
        ends, is_reached = False, True
        for case in node.cases:
            if not is_reached:
                self.dead.append(case)
                continue
            self.value(case.pattern)
            is_taken, is_refused = self.test(case.guard) if case.guard else (True, False)
            ends |= self.block(case.body, is_taken)
            is_reached = is_refused or not _irrefutable(case.pattern)
        return ends or is_reached

    def test(self, node: Any) -> tuple[bool, bool]:
        """Whether a condition may be true, and whether it may be false."""
        if (known := constant(node)) is not None:
            return bool(known[0]), not known[0]
        match node:
            case ast.UnaryOp(ast.Not(), operand):
                is_true, is_false = self.test(operand)
                return is_false, is_true
            case ast.BoolOp(op, values):
                goes_on, stops = True, False
                for value in values:
                    if not goes_on:
                        self.dead.append(value)
                        continue
                    is_true, is_false = self.test(value)
                    goes_on, leaves = (is_true, is_false) if isinstance(op, ast.And) else (is_false, is_true)
                    stops |= leaves
                return (goes_on, stops) if isinstance(op, ast.And) else (stops, goes_on)
            case ast.IfExp():
                is_true, is_false = self.test(node.test)
                outcomes = []
                for branch, is_taken in ((node.body, is_true), (node.orelse, is_false)):
                    if is_taken:
                        outcomes.append(self.test(branch))
                    else:
                        self.dead.append(branch)
                return any(o[0] for o in outcomes), any(o[1] for o in outcomes)
        self.value(node)
        return True, True

    def value(self, node: Any, is_reached: bool = True) -> None:
        if node is None:
            return
        if not is_reached:
            self.dead.append(node)
            return
        match node:
            case ast.IfExp():
                is_true, is_false = self.test(node.test)
                self.value(node.body, is_true)
                self.value(node.orelse, is_false)
            case ast.BoolOp(op, values):
                for item in values:
                    self.value(item, is_reached)
                    known = constant(item)
                    if known is not None and bool(known[0]) is isinstance(op, ast.Or):
                        is_reached = False
            case ast.Lambda():
                self.values(node, but=("body",))
                inner = _Reach()
                inner.value(node.body)
                self.dead += inner.dead
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for generator in node.generators:
                    for part in (generator.iter, generator.target):
                        self.value(part, is_reached)
                    for condition in generator.ifs:
                        if is_reached:
                            is_reached, _ = self.test(condition)
                        else:
                            self.dead.append(condition)
                for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                    self.value(part, is_reached)
            case _:
                self.values(node)

    def values(self, node: ast.AST, but: tuple[str, ...] = ()) -> None:
        for name, field in ast.iter_fields(node):
            if name not in but:
                for child in field if isinstance(field, list) else [field]:
                    if isinstance(child, ast.AST):
                        self.value(child)


def _irrefutable(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(inner):
            return inner is None or _irrefutable(inner)
        case ast.MatchOr(patterns):
            return any(_irrefutable(p) for p in patterns)
    return False
