"""Casts moved from a field to the literal it is compared with, which is what makes statistics usable.

Spark's rule: only where every value of the field's type has one of its own in the wider type, so that the
comparison says the same; a literal between two values of the narrower type moves the bound.
"""

from __future__ import annotations

from codelake.delta.skipping.terms import FALSE, NULL, Call, Literal, Term, is_nullable
from codelake.delta.skipping.values import INTEGRAL, NotKnown, cast, casts_without_loss, compare, int_range, is_numeric


def unwrapped(name: str, value: Term, target: str, right: Literal, zone: str) -> Term | None:
    """`cast(value as target) <name> right` without the cast; None where Spark leaves it."""
    if is_numeric(value.type) and is_numeric(target) and casts_without_loss(value.type, target):
        return _unwrap_number(name, value, right)
    if target == "date" and value.type in ("timestamp", "timestamp_ntz"):
        return _unwrap_timestamp(name, value, right, zone)
    if target in ("timestamp", "timestamp_ntz") and value.type == "date":
        return _unwrap_date(name, value, right, zone)
    if {value.type, target} == {"timestamp", "timestamp_ntz"}:
        # Clocks change: only a moment that comes back from the other type as it was may move.
        moved = cast(right.value, target, value.type, zone)
        if cast(moved, value.type, target, zone) == right.value:
            return Call(name, (value, Literal(moved, value.type)), strict=name != "<=>")
    return None


def unwrapped_list(value: Term, target: str, literals: list[Literal]) -> Term | None:
    """The same for `cast(value as target) IN (literals)`: what the narrower type has not, can go."""
    if not (is_numeric(value.type) and is_numeric(target) and casts_without_loss(value.type, target)):
        return None
    fitting = [fit for literal in literals if (fit := _fitting(literal, value.type)) is not None]
    return Call("in", (value, *fitting)) if fitting else _false_unless_null(value)


def _fitting(literal: Literal, type_: str) -> Literal | None:
    """The same value in the narrower type; None where it has none."""
    try:
        value = cast(literal.value, literal.type, type_)
        back = cast(value, type_, literal.type)
    except NotKnown:
        return None
    return Literal(value, type_) if value is None or compare(back, literal.value) == 0 else None


def _false_unless_null(value: Term) -> Term:
    return Call("and", (Call("isnull", (value,)), NULL))


def _true_unless_null(value: Term) -> Term:
    return Call("or", (Call("isnotnull", (value,)), NULL))


def _unwrap_number(name: str, value: Term, right: Literal) -> Term | None:
    """`cast(value) < 5.5` as `field <= 5`; beyond the type's range it is true or false for all but NULL."""
    if value.type in INTEGRAL:
        low, high = (cast(end, "long", right.type) for end in int_range(value.type))
        above, below = compare(right.value, high), compare(right.value, low)
        if above > 0 or below < 0:
            if name == "<=>":
                return FALSE
            holds = name in ("<", "<=") if above > 0 else name in (">", ">=")
            return _true_unless_null(value) if holds else _false_unless_null(value)
        if (above == 0 and name == "<=") or (below == 0 and name == ">="):
            return _true_unless_null(value)
        if (above == 0 and name == ">") or (below == 0 and name == "<"):
            return _false_unless_null(value)
    try:
        narrow = cast(right.value, right.type, value.type)
        back = cast(narrow, value.type, right.type)
    except NotKnown:
        return None
    moved = compare(right.value, back)
    literal = Literal(narrow, value.type)
    if moved == 0:
        return Call(name, (value, literal), strict=name != "<=>")
    if name == "<=>":
        return FALSE
    if name == "=":
        return _false_unless_null(value)
    rounded_up = {">": ">=", ">=": ">=", "<": "<", "<=": "<"}
    rounded_down = {">": ">", ">=": ">", "<": "<=", "<=": "<="}
    return Call((rounded_up if moved < 0 else rounded_down)[name], (value, literal), strict=True)


def _unwrap_timestamp(name: str, value: Term, right: Literal, zone: str) -> Term | None:
    """`cast(timestamp as date) = day` as a range of timestamps."""
    try:
        start = Literal(cast(right.value, "date", value.type, zone), value.type)
        end = Literal(cast(right.value + 1, "date", value.type, zone), value.type)
    except NotKnown:
        return None
    bounds = {">": (">=", end), ">=": (">=", start), "<": ("<", start), "<=": ("<", end)}
    if name in bounds:
        operator, literal = bounds[name]
        return Call(operator, (value, literal), strict=True)
    if name == "=" or not is_nullable(value):
        both = Call(">=", (value, start), strict=True), Call("<", (value, end), strict=True)
        return Call("and", both)
    return None


def _unwrap_date(name: str, value: Term, right: Literal, zone: str) -> Term | None:
    """`cast(date as timestamp) < moment` as a comparison of dates."""
    try:
        day = cast(right.value, right.type, "date", zone)
        whole = cast(day, "date", right.type, zone) == right.value
    except NotKnown:
        return None
    if not whole and name in ("=", "<=>"):
        return _false_unless_null(value) if name == "=" else FALSE
    if not whole:
        name = {">=": ">", "<": "<="}.get(name, name)
    return Call(name, (value, Literal(day, "date")), strict=name != "<=>")
