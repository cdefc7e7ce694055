"""Which files of a table a filter can touch, from the log alone: the same files that Delta on Spark reads.

Two rules hold everywhere. A condition that is not understood rules nothing out. And a file that lacks one
of the statistics that were asked for stays a candidate, whatever the others say of it. The steps are those of
Delta 4.4 on Spark 4.2: partition values decide conditions on partition columns alone; of the rest a condition
on each file's minimum, maximum and null count is made, which is true unless no row can satisfy the filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from codelake.delta.skipping.evaluate import evaluate
from codelake.delta.skipping.predicate import read_predicate
from codelake.delta.skipping.simplify import conjuncts, negate
from codelake.delta.skipping.statistics import MAX, MIN, N_RECORDS, NULL_COUNT, Statistics, plain_values
from codelake.delta.skipping.terms import COMPARISONS, FALSE, HIDDEN, TRUE, Call, Field, Literal, Term, fields_of, uses
from codelake.delta.skipping.values import NotKnown, compare, is_numeric

_DEEPEST_NULL_TEST = 8
"""Delta stops to take apart IS NULL of AND and OR at this depth, because each step doubles the condition."""
_ATOMIC = ("boolean", "binary", "string", "date", "timestamp", "timestamp_ntz")

Stat = tuple[str, tuple[str, ...]]
Test = Callable[[int], bool | None]


@dataclass(frozen=True)
class _Check:
    """`test(i)`: whether file i may hold a matching row. Only to be trusted if all its `stats` are there."""

    test: Test
    stats: frozenset[Stat] = frozenset()


def candidates(
    files: pa.Table,
    filter: str,
    fields: Sequence[Mapping[str, Any]],
    *,
    partition_columns: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    zone: str = "UTC",
) -> list[bool]:
    """One value a file of `files` (add actions as `Log.files` has them): whether `filter` can touch it.

    `fields` is the schema as the log spells it, `zone` the session's time zone, in which texts are read as
    timestamps. Raises QueryRefused where the filter does not parse or names an unknown column.
    """
    parts = conjuncts(read_predicate(filter, fields, zone=zone), zone)
    if parts == (FALSE,):
        return [False] * files.num_rows
    partitions = set(partition_columns)
    on_partitions = _within(parts, lambda field: field.path[0] in partitions)
    on_data = _within(parts, lambda field: field.path[0] not in partitions)
    statistics = Statistics(files, fields, partition_columns, properties or {})
    kept = _by_partition(files, on_partitions, partition_columns, zone)
    check = _all([found for part in on_data if (found := _Builder(statistics).build(part))])
    if check is None:
        return kept
    return [kept[i] and (check.test(i) is True or not _is_trusted(check, statistics, i)) for i in range(len(kept))]


def _within(parts: Sequence[Term], belongs: Callable[[Field], bool]) -> list[Term]:
    """Of each condition what can be said with those fields alone; conditions on `_metadata` say nothing.

    `(p = 1 AND a = 2) OR (p = 3 AND b = 4)` says `p = 1 OR p = 3` of partitions.
    """

    def part_of(term: Term) -> Term | None:
        if isinstance(term, Call) and term.name == "and":
            found = [said for arg in term.args if (said := part_of(arg))]
            return Call("and", tuple(found)) if found else None
        if isinstance(term, Call) and term.name == "or":
            said_by_all = [part_of(arg) for arg in term.args]
            every = [said for said in said_by_all if said]
            return Call("or", tuple(every)) if len(every) == len(said_by_all) else None
        return term if all(map(belongs, fields_of(term))) else None

    return [said for part in parts if (said := part_of(part)) and not uses(said, HIDDEN)]


def _by_partition(files: pa.Table, parts: list[Term], columns: Sequence[str], zone: str) -> list[bool]:
    if not parts or not columns:
        return [True] * files.num_rows
    values = {name: plain_values(files.column(f"partition.{name}")) for name in columns}
    condition = Call("and", tuple(parts))
    known: dict[tuple[Any, ...], bool] = {}
    kept = []
    for row in zip(*values.values(), strict=True):
        if row not in known:
            try:
                known[row] = evaluate(condition, dict(zip(values, row, strict=True)), zone) is True
            except NotKnown:
                known[row] = True
        kept.append(known[row])
    return kept


def _is_trusted(check: _Check, statistics: Statistics, i: int) -> bool:
    """All statistics are there. A minimum may only be missing where every value of the file is NULL."""
    for stat, column in check.stats:
        if stat in (MIN, MAX):
            n_nulls, n_records = statistics.values(NULL_COUNT, column)[i], statistics.values(N_RECORDS)[i]
            if n_nulls is None or n_records is None:
                return False
            if statistics.values(stat, column)[i] is None and n_nulls != n_records:
                return False
        elif statistics.values(stat, column)[i] is None:
            return False
    return True


class _Builder:
    """Makes the check of a condition; None where it can rule nothing out."""

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics

    def build(self, term: Term, depth: int = 0) -> _Check | None:
        if not isinstance(term, Call) or not any(True for _ in fields_of(term)):
            return None
        match term:
            case Call("and", args):
                return _all([found for arg in args if (found := self.build(arg, depth))])
            case Call("or", args):
                return _any([self.build(arg, depth) for arg in args])
            case Call("isnull", (inner,)):
                return self._is_null(inner, depth)
            case Call("isnotnull", (Field() as field,)) if _is_atomic(field.type):
                return self._not_null(field)
            case Call("<=>", (inner, Literal() as literal)):
                return self.build(_null_safe(inner, literal), depth)
            case Call("not", (inner,)):
                return self._not(inner, depth)
            case Call("in", (Field() as field, *others)):
                return self._in(field, others)
            case Call("startswith", (Field() as field, Literal(str() as prefix))):
                return self._starts(field, prefix)
            case Call(name, (Field() as field, Literal() as literal)) if name in COMPARISONS:
                return self._compare(name, field, literal)
        return None

    def _not(self, inner: Term, depth: int) -> _Check | None:
        match inner:
            case Call("=", (Field() as field, Literal() as literal)):
                return self._compare("!=", field, literal)
            case Call("<=>", (value, Literal() as literal)):
                return self.build(negate(_null_safe(value, literal)), depth)
        moved = negate(inner)
        return self.build(moved, depth) if moved != Call("not", (inner,), strict=True) else None

    def _is_null(self, inner: Term, depth: int) -> _Check | None:
        match inner:
            case Field() if _is_atomic(inner.type):
                key = (NULL_COUNT, inner.physical)
                return self._made(lambda counts: counts is not None and counts > 0, key)
            case Call("and" | "or", (first, *rest)) if depth <= _DEEPEST_NULL_TEST:
                other = rest[0] if len(rest) == 1 else Call(inner.name, tuple(rest))
                decisive = FALSE if inner.name == "and" else TRUE
                sides = (first, other)
                some = Call("or", tuple(Call("isnull", (side,)) for side in sides))
                none = [Call("not", (Call("<=>", (side, decisive)),), strict=True) for side in sides]
                return self.build(Call("and", (some, *none)), depth + 1)
            case Call(name, args) if name in ("not", "startswith", *COMPARISONS) and name != "<=>":
                return _any([self._is_null_arg(arg, depth) for arg in args])
        return None

    def _is_null_arg(self, arg: Term, depth: int) -> _Check | None:
        if isinstance(arg, Literal):
            missing = arg.value is None
            return _Check(lambda i: missing)
        return self.build(Call("isnull", (arg,)), depth)

    def _not_null(self, field: Field) -> _Check | None:
        return self._made(
            lambda n_nulls, n_records: None if n_nulls is None or n_records is None else n_nulls < n_records,
            (NULL_COUNT, field.physical),
            (N_RECORDS, ()),
        )

    def _in(self, field: Field, others: Sequence[Term]) -> _Check | None:
        """Delta asks only whether the range of the list meets that of the file."""
        values = [other.value for other in others if isinstance(other, Literal) and other.value is not None]
        if len([other for other in others if isinstance(other, Literal)]) < len(others):
            return None
        if not values:
            return _Check(lambda i: False)
        low = high = values[0]
        for value in values[1:]:
            low = value if compare(value, low) < 0 else low
            high = value if compare(value, high) > 0 else high
        ends = (
            self._compare("<=", field, Literal(high, field.type)),
            self._compare(">=", field, Literal(low, field.type)),
        )
        return _all([end for end in ends if end])

    def _starts(self, field: Field, prefix: str) -> _Check | None:
        n = len(prefix)
        return self._made(
            lambda low, high: None if low is None or high is None else low[:n] <= prefix <= high[:n],
            (MIN, field.physical),
            (MAX, field.physical),
        )

    def _compare(self, name: str, field: Field, literal: Literal) -> _Check | None:
        value = literal.value
        if literal.type != field.type or value is None:
            return None
        low, high = (MIN, field.physical), (MAX, field.physical)
        match name:
            case "=":
                return self._made(lambda a, b: _and(_order(a, value, {-1, 0}), _order(b, value, {0, 1})), low, high)
            case "!=":
                return self._made(lambda a, b: _or(_order(a, value, {-1}), _order(b, value, {1})), low, high)
            case "<":
                return self._made(lambda a: _order(a, value, {-1}), low)
            case "<=":
                return self._made(lambda a: _order(a, value, {-1, 0}), low)
            case ">":
                return self._made(lambda b: _order(b, value, {1}), high)
            case ">=":
                return self._made(lambda b: _order(b, value, {0, 1}), high)
        return None

    def _made(self, test: Callable[..., bool | None], *stats: Stat) -> _Check | None:
        if not all(self.statistics.has(*stat) for stat in stats):
            return None
        columns = [self.statistics.values(*stat) for stat in stats]
        return _Check(lambda i: test(*(column[i] for column in columns)), frozenset(stats))


def _null_safe(term: Term, literal: Literal) -> Term:
    if literal.value is None:
        return Call("isnull", (term,))
    return Call("and", (Call("isnotnull", (term,)), Call("=", (term, literal), strict=True)))


def _is_atomic(type_: str) -> bool:
    return is_numeric(type_) or type_ in _ATOMIC


def _order(value: Any, literal: Any, wanted: set[int]) -> bool | None:
    return None if value is None else compare(value, literal) in wanted


def _and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def _all(checks: Sequence[_Check]) -> _Check | None:
    if not checks:
        return None
    return _Check(
        lambda i: _and(*(check.test(i) for check in checks)),
        frozenset[Stat]().union(*(c.stats for c in checks)),
    )


def _any(checks: Sequence[_Check | None]) -> _Check | None:
    known = [check for check in checks if check]
    if len(known) < len(checks):
        return None
    return _Check(
        lambda i: _or(*(check.test(i) for check in known)), frozenset[Stat]().union(*(c.stats for c in known))
    )
