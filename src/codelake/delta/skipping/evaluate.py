"""The value of a term on one row, as Spark works it out: for literals, and for a file's partition values.

Raises NotKnown for what is not known here; AND and OR still have a value where one side alone decides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from codelake.delta.skipping.terms import COMPARISONS, Call, Field, Literal, Term
from codelake.delta.skipping.values import INTEGRAL, NotKnown, calendar, cast, compare, int_range

_HOLDS: dict[str, Callable[[int], bool]] = {
    "=": lambda order: order == 0,
    "<=>": lambda order: order == 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),  # the dividend's sign, as in Java
}
_STRING_TESTS: dict[str, Callable[[str, str], bool]] = {
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": str.__contains__,
    "like": lambda text, pattern: re.fullmatch(_pattern(pattern), text, re.DOTALL) is not None,
}


def evaluate(term: Term, row: Mapping[str, Any], zone: str) -> Any:
    match term:
        case Literal(value):
            return value
        case Field(path):
            if len(path) > 1 or path[0] not in row:
                raise NotKnown
            return row[path[0]]
        case Call("and" | "or", args):
            return _connected(term.name == "or", args, row, zone)
        case Call("coalesce", args):
            return next((value for arg in args if (value := evaluate(arg, row, zone)) is not None), None)
        case Call("in", args):
            return _is_in(args, row, zone)
        case Call("isnull" | "isnotnull", (inner,)):
            return (evaluate(inner, row, zone) is None) == (term.name == "isnull")
        case Call("<=>", (left, right)):
            one, other = evaluate(left, row, zone), evaluate(right, row, zone)
            return one is other if one is None or other is None else compare(one, other) == 0
    return _strict(term, [evaluate(arg, row, zone) for arg in term.args], zone)


def _strict(term: Call, values: list[Any], zone: str) -> Any:
    if not term.strict or not values:
        raise NotKnown
    if any(value is None for value in values):
        return None
    name = term.name
    if name in COMPARISONS:
        if term.args[0].type != term.args[1].type:
            raise NotKnown
        return _HOLDS[name](compare(*values))
    if name == "not":
        return not values[0]
    if name == "cast":
        return cast(values[0], term.args[0].type, term.type, zone)
    if name in _STRING_TESTS:
        return _STRING_TESTS[name](*values)
    if name in _ARITHMETIC and term.type in INTEGRAL:
        low, high = int_range(term.type)
        if name == "%" and values[1] == 0:
            raise NotKnown
        result = _ARITHMETIC[name](*values)
        if not low <= result <= high:
            raise NotKnown
        return result
    return _function(term, values)


def _function(term: Call, values: list[Any]) -> Any:
    kinds = [arg.type for arg in term.args]
    if term.name in ("year", "month", "day") and kinds == ["date"]:
        return getattr(calendar(values[0]), term.name)
    if kinds[:1] != ["string"]:
        raise NotKnown
    text = values[0]
    if term.name == "length" and len(values) == 1:
        return len(text)
    if term.name in ("upper", "lower") and text.isascii():  # beyond ASCII Java and Python disagree
        return getattr(text, term.name)()
    if term.name == "substring" and kinds[1:] in (["integer"], ["integer", "integer"]):
        start = values[1] - 1 if values[1] > 0 else values[1] + len(text) if values[1] < 0 else 0
        end = start + values[2] if len(values) == 3 else len(text)
        return text[max(start, 0) : max(end, 0)]
    raise NotKnown


def _connected(decisive: bool, args: tuple[Term, ...], row: Mapping[str, Any], zone: str) -> bool | None:
    """Three-valued AND (decided by false) and OR (decided by true)."""
    missing = unknown = False
    value: bool | None
    for arg in args:
        try:
            value = evaluate(arg, row, zone)
        except NotKnown:
            unknown = True
            continue
        if value is decisive:
            return decisive
        missing = missing or value is None
    if unknown:
        raise NotKnown
    return None if missing else not decisive


def _is_in(args: tuple[Term, ...], row: Mapping[str, Any], zone: str) -> bool | None:
    value, *others = (evaluate(arg, row, zone) for arg in args)
    if value is None:
        return None
    if any(other is not None and compare(value, other) == 0 for other in others):
        return True
    return None if None in others else False


def _pattern(like: str) -> str:
    return "".join(".*" if char == "%" else "." if char == "_" else re.escape(char) for char in like)
