"""Values and types as Spark has them: what two types have in common, casts, and order.

Types are spelt as Delta's log spells them. Integers are `int`; so are timestamps, in microseconds, and dates,
in days since 1970, because Spark's calendar is longer than Python's. What Spark would do differently under a
setting, or would raise for, is `NotKnown` here: a caller that may not know never guesses.
"""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any
from zoneinfo import ZoneInfo

UNKNOWN = "?"
"""The type of an expression whose type is not worked out here."""
INTEGRAL = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_NUMBERS = ("byte", "short", "integer", "long", "float", "double")
_INTEGRAL_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 20}
_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?")
_ZONE = re.compile(r"(Z|UTC|[+-]\d{2}:\d{2})?")
_TRUE, _FALSE = {"t", "true", "y", "yes", "1"}, {"f", "false", "n", "no", "0"}


class NotKnown(Exception):
    """Not an error: what asks goes on without the value."""


def decimal_type(type_: str) -> tuple[int, int] | None:
    """Precision and scale."""
    found = re.fullmatch(r"decimal\((\d+),\s*(-?\d+)\)", type_)
    return (int(found[1]), int(found[2])) if found else None


def is_numeric(type_: str) -> bool:
    return type_ in _NUMBERS or decimal_type(type_) is not None


def int_range(type_: str) -> tuple[int, int]:
    bits = INTEGRAL[type_]
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def common_type(one: str, other: str) -> str | None:
    """The type in which Spark, in its ANSI mode, compares two types; None where it refuses."""
    if one == other:
        return one
    if "void" in (one, other):
        return other if one == "void" else one
    if "string" in (one, other):
        plain = other if one == "string" else one
        if plain in INTEGRAL:
            return "long"
        if is_numeric(plain):
            return "double"
        return plain if plain in ("boolean", "date", "timestamp", "timestamp_ntz") else None
    if is_numeric(one) and is_numeric(other):
        return _common_number(one, other)
    if {one, other} <= {"date", "timestamp", "timestamp_ntz"}:
        return "timestamp" if "timestamp" in (one, other) else "timestamp_ntz"
    return None


def _common_number(one: str, other: str) -> str | None:
    if one in _NUMBERS and other in _NUMBERS:
        wider = max(one, other, key=_NUMBERS.index)
        return "double" if wider == "float" else wider
    if {one, other} & {"float", "double"}:
        return "double"
    (p1, s1), (p2, s2) = _as_decimal(one), _as_decimal(other)
    scale = max(s1, s2)
    precision = max(p1 - s1, p2 - s2) + scale
    return f"decimal({precision},{scale})" if precision <= 38 else None


def _as_decimal(type_: str) -> tuple[int, int]:
    return decimal_type(type_) or (_INTEGRAL_DIGITS[type_], 0)


def casts_without_loss(source: str, target: str) -> bool:
    """Every value of `source` has one of its own in `target`, so that a comparison may move to `source`."""
    if source == target:
        return True
    if (source, target) in {("integer", "float"), ("long", "float"), ("long", "double")}:
        return False  # more digits than the target has
    if source in _NUMBERS and target in _NUMBERS:
        return _NUMBERS.index(source) <= _NUMBERS.index(target)
    if decimal_type(target) and (source in INTEGRAL or decimal_type(source)):
        (p1, s1), (p2, s2) = _as_decimal(source), _as_decimal(target)
        return s2 >= s1 and p2 - s2 >= p1 - s1
    return False


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1. NaN equals itself and is above every number; strings are in the order of their UTF-8 bytes,
    which is that of Python."""
    if isinstance(one, float) or isinstance(other, float):
        left, right = math.isnan(one), math.isnan(other)
        if left or right:
            return left - right
    return int(one > other) - int(one < other)


def cast(value: Any, source: str, target: str, zone: str = "UTC") -> Any:
    if value is None or source == target:
        return value
    if target in INTEGRAL:
        return _to_int(value, source, target)
    if target in ("float", "double"):
        return _to_float(value, source, target)
    if found := decimal_type(target):
        return _to_decimal(value, source, *found)
    if target == "boolean" and source == "string":
        word = value.strip().lower()
        if word in _TRUE | _FALSE:
            return word in _TRUE
    if target == "string" and source in INTEGRAL:
        return str(value)
    if target == "string" and source == "date":
        return calendar(value).isoformat()
    if target == "date":
        if source == "string":
            return _days(_read_date(value.strip())[0])
        if source in ("timestamp", "timestamp_ntz"):
            return _days(_local(value, zone if source == "timestamp" else "UTC").date())
    if target in ("timestamp", "timestamp_ntz"):
        return _to_timestamp(value, source, target, zone)
    raise NotKnown


def calendar(days: int) -> date:
    try:
        return date(1970, 1, 1) + timedelta(days=days)
    except OverflowError as error:
        raise NotKnown from error


def _days(day: date) -> int:
    return (day - date(1970, 1, 1)).days


def _to_int(value: Any, source: str, target: str) -> int:
    if source == "string":
        if not re.fullmatch(r"[+-]?\d+", value.strip()):
            raise NotKnown
        number = int(value)
    elif source == "boolean" or is_numeric(source):
        if isinstance(value, float) and not math.isfinite(value):
            raise NotKnown
        number = int(value)
    else:
        raise NotKnown
    low, high = int_range(target)
    if not low <= number <= high:
        raise NotKnown
    return number


def _to_float(value: Any, source: str, target: str) -> float:
    if source == "string":
        if not re.fullmatch(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", value.strip().lower()):
            raise NotKnown
    elif not is_numeric(source):
        raise NotKnown
    number = float(value)
    if target == "float" and math.isfinite(number):
        try:
            return float(struct.unpack("f", struct.pack("f", number))[0])
        except OverflowError:
            return math.copysign(math.inf, number)
    return number


def _to_decimal(value: Any, source: str, precision: int, scale: int) -> Decimal:
    if source == "string":
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", value.strip()):
            raise NotKnown
        number = Decimal(value.strip())
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise NotKnown
        number = Decimal(repr(value))
    elif is_numeric(source):
        number = Decimal(value)
    else:
        raise NotKnown
    if number.adjusted() >= 38:
        raise NotKnown
    with localcontext(prec=80):
        rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(rounded) >= Decimal(10) ** (precision - scale):
            raise NotKnown
    return rounded


def _to_timestamp(value: Any, source: str, target: str, zone: str) -> int:
    own = zone if target == "timestamp" else "UTC"
    if source == "date":
        return _instant(datetime.combine(calendar(value), time()), own)
    if source in ("timestamp", "timestamp_ntz"):
        return _instant(_local(value, zone if source == "timestamp" else "UTC"), own)
    if source != "string":
        raise NotKnown
    day, rest = _read_date(value.strip())
    moment = datetime.combine(day, time())
    if not rest:
        return _instant(moment, own)
    clock = _TIME.match(rest)
    if not clock:
        raise NotKnown
    offset = _ZONE.fullmatch(rest[clock.end() :].strip())
    if not offset:
        raise NotKnown
    hours, minutes, seconds = (int(part or 0) for part in clock.group(1, 2, 3))
    micros = int((clock[4] or "").ljust(6, "0")[:6])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise NotKnown
    moment += timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=micros)
    if target == "timestamp_ntz":
        return _instant(moment, "UTC")  # what it says of a zone is dropped
    if not offset[1]:
        return _instant(moment, zone)
    if offset[1] in ("Z", "UTC"):
        return _instant(moment, "UTC")
    sign = -1 if offset[1][0] == "-" else 1
    shift = timedelta(hours=int(offset[1][1:3]), minutes=int(offset[1][4:6]))
    return _instant(moment - sign * shift, "UTC")


def _read_date(text: str) -> tuple[date, str]:
    found = _DATE.match(text)
    if not found or (found.end() < len(text) and text[found.end()] not in "T "):
        raise NotKnown
    try:
        return date(int(found[1]), int(found[2]), int(found[3] or 1)), text[found.end() + 1 :]
    except ValueError as error:
        raise NotKnown from error


def _instant(moment: datetime, zone: str) -> int:
    aware = moment.replace(tzinfo=ZoneInfo(zone)) if zone != "UTC" else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _local(micros: int, zone: str) -> datetime:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError as error:
        raise NotKnown from error
    return moment.astimezone(ZoneInfo(zone) if zone != "UTC" else UTC).replace(tzinfo=None)
