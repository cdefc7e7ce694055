"""A filter as typed terms: literals, fields, and calls of the operators that decide which files it touches.

Everything else is an opaque call that keeps its arguments (their columns still matter) and says whether a
NULL argument makes it NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from codelake.delta.skipping.values import INTEGRAL, UNKNOWN, NotKnown, cast, common_type, decimal_type, int_range

COMPARISONS = {"=", "<=>", "<", "<=", ">", ">="}
OPAQUE, HIDDEN = "opaque", "metadata"


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    type: str


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a field of a struct. `physical` is its name in the statistics, with column mapping."""

    path: tuple[str, ...]
    physical: tuple[str, ...]
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: tuple[Term, ...]
    type: str = "boolean"
    strict: bool = False
    """A NULL argument makes it NULL."""


Term = Literal | Field | Call
TRUE, FALSE, NULL = Literal(True, "boolean"), Literal(False, "boolean"), Literal(None, "boolean")


def fields_of(term: Term) -> Iterator[Field]:
    if isinstance(term, Field):
        yield term
    elif isinstance(term, Call):
        for arg in term.args:
            yield from fields_of(arg)


def uses(term: Term, name: str) -> bool:
    return isinstance(term, Call) and (term.name == name or any(uses(arg, name) for arg in term.args))


def is_nullable(term: Term) -> bool:
    match term:
        case Literal(value):
            return value is None
        case Field():
            return term.nullable
        case Call(name, args):
            if name in ("isnull", "isnotnull", "<=>"):
                return False
            if name in COMPARISONS or name in ("and", "or", "not", "startswith"):
                return any(map(is_nullable, args))
            if name == "coalesce":
                return all(map(is_nullable, args))
    return True


def cast_term(term: Term, target: str, zone: str) -> Term:
    if term.type == target:
        return term
    if isinstance(term, Literal):
        try:
            return Literal(cast(term.value, term.type, target, zone), target)
        except NotKnown:
            pass
    return Call("cast", (term,), target, strict=True)


def compared(name: str, left: Term, right: Term, zone: str) -> Term:
    """A comparison in the type that both sides have in common."""
    if UNKNOWN in (left.type, right.type):
        return Call(name, (left, right), strict=name != "<=>")
    types = {left.type, right.type}
    common = common_type(left.type, right.type)
    if common is None or (name not in ("=", "<=>") and (_beyond_long(left, right) or _beyond_long(right, left))):
        return Call(OPAQUE, (left, right))
    if common == "double" and any(map(decimal_type, types)) and types & set(INTEGRAL):
        return Call(OPAQUE, (left, right))
    return Call(name, (cast_term(left, common, zone), cast_term(right, common, zone)), strict=name != "<=>")


def _beyond_long(one: Term, other: Term) -> bool:
    """Spark makes an integer above or below such a decimal true or false even for NULL: leave it."""
    if one.type not in INTEGRAL or not isinstance(other, Literal) or not isinstance(other.value, Decimal):
        return False
    low, high = int_range("long")
    return not low <= other.value <= high


def number(text: str) -> Literal:
    """A number as written: the first of int, bigint and decimal that holds it; with an exponent a double."""
    if re.fullmatch(r"-?\d+", text):
        value = int(text)
        for type_ in ("integer", "long"):
            low, high = int_range(type_)
            if low <= value <= high:
                return Literal(value, type_)
        return Literal(Decimal(text), f"decimal({len(text.lstrip('-'))},0)")
    if "e" in text.lower():
        return Literal(float(text), "double")
    exact = Decimal(text)
    digits, exponent = exact.as_tuple().digits, -int(exact.as_tuple().exponent)
    return Literal(exact, f"decimal({max(len(digits), exponent)},{exponent})")


def like(value: Term, pattern: str, escape: str) -> Term:
    """Spark's own simplification: a pattern without escapes, and with % only at its start, end or middle."""
    if escape not in pattern:
        shapes: tuple[tuple[str, Callable[[str, str], Term]], ...] = (
            ("([^_%]+)%+()", lambda a, b: _string_test("startswith", value, a)),
            ("%+([^_%]+)()", lambda a, b: _string_test("endswith", value, a)),
            (
                "([^_%]+)%+([^_%]+)",
                lambda a, b: Call("and", (_long_enough(value, a + b), *_both_ends(value, a, b))),
            ),
            ("%+([^_%]+)%+()", lambda a, b: _string_test("contains", value, a)),
            ("([^_%]*)()", lambda a, b: Call("=", (value, Literal(a, "string")), strict=True)),
        )
        for shape, make in shapes:
            if found := re.fullmatch(shape, pattern, re.DOTALL):
                return make(found[1], found[2])
        return Call("like", (value, Literal(pattern, "string")), strict=True)
    return Call(OPAQUE, (value,), strict=True)


def _string_test(name: str, value: Term, part: str) -> Term:
    return Call(name, (value, Literal(part, "string")), strict=True)


def _both_ends(value: Term, start: str, end: str) -> tuple[Term, Term]:
    return _string_test("startswith", value, start), _string_test("endswith", value, end)


def _long_enough(value: Term, text: str) -> Term:
    length = Call("length", (value,), "integer", strict=True)
    return Call(">=", (length, Literal(len(text), "integer")), strict=True)
