"""What Spark's optimizer makes of a filter before Delta sees it, as far as it changes which files are read.

Delta looks at the optimized plan: NULLs have become false, casts have moved from columns to literals, NOT has
moved inwards, constants have been carried over, and `column IS NOT NULL` has been added for every column that
a condition needs. Without the same steps the counts would differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from codelake.delta.skipping.evaluate import evaluate
from codelake.delta.skipping.terms import (
    COMPARISONS,
    FALSE,
    HIDDEN,
    NULL,
    OPAQUE,
    TRUE,
    Call,
    Field,
    Literal,
    Term,
    is_nullable,
    uses,
)
from codelake.delta.skipping.unwrap import unwrapped, unwrapped_list
from codelake.delta.skipping.values import NotKnown

_SWAPPED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_ROUNDS = 100
"""Spark's own bound on its rule batches."""


def conjuncts(predicate: Term, zone: str) -> tuple[Term, ...]:
    """The optimized filter as conditions that must all hold: none if it is always true, FALSE if never."""
    # Constants are carried over once before `b = true` becomes `b`, as Spark's rules are ordered.
    settled = _settle(_carry_constants(_flat(predicate)), zone)
    inferred = _infer(_split("and", settled))
    if inferred:
        settled = _settle(Call("and", (*inferred, *_split("and", settled))), zone)
    return () if settled == TRUE else tuple(_split("and", settled))


def _settle(term: Term, zone: str) -> Term:
    for _ in range(_ROUNDS):
        new = _carry_constants(_null_to_false(_simplify(term, zone)))
        new = _compare_with_self(new)
        if new == term:
            break
        term = new
    return term


def _split(name: str, term: Term) -> list[Term]:
    if isinstance(term, Call) and term.name == name:
        return list(chain.from_iterable(_split(name, arg) for arg in term.args))
    return [term]


def _flat(term: Term) -> Term:
    if isinstance(term, Call) and term.name in ("and", "or"):
        return Call(term.name, tuple(map(_flat, _split(term.name, term))))
    return term


def _simplify(term: Term, zone: str) -> Term:
    if not isinstance(term, Call):
        return term
    term = replace(term, args=tuple(_simplify(arg, zone) for arg in term.args))
    if term.args and term.name != OPAQUE and all(isinstance(arg, Literal) for arg in term.args):
        try:
            return Literal(evaluate(term, {}, zone), term.type)
        except NotKnown:
            return term
    if term.strict and any(isinstance(arg, Literal) and arg.value is None for arg in term.args):
        return Literal(None, term.type)
    match term:
        case Call("and" | "or"):
            return _connect(term.name, term.args)
        case Call("not", (inner,)):
            return negate(inner)
        case Call("isnull" | "isnotnull", (inner,)):
            return _null_test(term.name, inner)
        case Call("in"):
            return _in(term)
        case Call("coalesce", args):
            return _coalesce(args, term.type)
        case Call(name, (left, right)) if name in COMPARISONS:
            return _comparison(name, left, right, zone)
    return term


def negate(term: Term) -> Term:
    match term:
        case Literal(bool()):
            return Literal(not term.value, "boolean")
        case Call("and" | "or", args):
            return _connect("or" if term.name == "and" else "and", tuple(map(negate, args)))
        case Call("not", (inner,)):
            return inner
        case Call("isnull" | "isnotnull", args):
            return Call("isnotnull" if term.name == "isnull" else "isnull", args)
        case Call(name, args) if name in _NEGATED:
            return Call(_NEGATED[name], args, strict=True)
    return Call("not", (term,), strict=True)


def _connect(name: str, args: Iterable[Term]) -> Term:
    neutral, absorbing = (TRUE, FALSE) if name == "and" else (FALSE, TRUE)
    kept = list(dict.fromkeys(chain.from_iterable(_split(name, arg) for arg in args)))
    kept = [arg for arg in kept if arg != neutral]
    if absorbing in kept:
        return absorbing
    if len(kept) == 2 and _are_opposite(*kept):  # Spark only sees it in neighbours
        # NULL where the argument is NULL, else what the two of them always are together
        return Call(name, (Call("isnull" if name == "and" else "isnotnull", (kept[0],)), NULL))
    if name == "or" and len(kept) > 1:
        shared = [arg for arg in _split("and", kept[0]) if all(arg in _split("and", k) for k in kept[1:])]
        if shared:
            rests = [[arg for arg in _split("and", k) if arg not in shared] for k in kept]
            if all(rests):
                return _connect("and", (*shared, _connect("or", tuple(_connect("and", rest) for rest in rests))))
            return _connect("and", shared)
    if not kept:
        return neutral
    return kept[0] if len(kept) == 1 else Call(name, tuple(kept))


def _are_opposite(one: Term, other: Term) -> bool:
    """To Spark `x IS NULL` and `x IS NOT NULL` are not."""
    for left, right in ((one, other), (other, one)):
        if right == Call("not", (left,), strict=True):
            return True
        if isinstance(left, Call) and left.name in _NEGATED and right == negate(left):
            return True
    return False


def _null_test(name: str, inner: Term) -> Term:
    if not is_nullable(inner):
        return Literal(name == "isnotnull", "boolean")
    if isinstance(inner, Call) and (inner.name == "not" or inner.name in _NEGATED):
        tests = tuple(Call(name, (arg,)) for arg in inner.args)
        return _connect("or" if name == "isnull" else "and", tests)
    return Call(name, (inner,))


def _coalesce(args: tuple[Term, ...], type_: str) -> Term:
    kept: list[Term] = []
    for arg in args:
        if not isinstance(arg, Literal) or arg.value is not None:
            kept.append(arg)
            if not is_nullable(arg):
                break
    if len(kept) > 1:
        return Call("coalesce", tuple(kept), type_)
    return kept[0] if kept else Literal(None, type_)


def _in(term: Call) -> Term:
    value, *others = term.args
    if isinstance(value, Literal) and value.value is None:
        return NULL
    literals = [other for other in dict.fromkeys(others) if isinstance(other, Literal)]
    if len(literals) < len(set(others)):
        return term
    if len(literals) == 1:
        return Call("=", (value, literals[0]), strict=True)
    match value:
        case Call("cast", (inner,), target) if bare := unwrapped_list(inner, target, literals):
            return bare
    return Call("in", (value, *literals))


def _comparison(name: str, left: Term, right: Term, zone: str) -> Term:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        name, left, right = _SWAPPED[name], right, left
    if name == "<=>":
        if left == right:
            return TRUE
        if isinstance(right, Literal) and right.value is None:
            return _null_test("isnull", left)
    plain = name == "=" or (name == "<=>" and not is_nullable(left))
    if plain and isinstance(right, Literal) and isinstance(right.value, bool) and left.type == "boolean":
        return left if right.value else negate(left)
    match left, right:
        case Call("cast", (inner,), target), Literal(value) if value is not None:
            if bare := unwrapped(name, inner, target, right, zone):
                return bare
    return Call(name, (left, right), strict=name != "<=>")


def _null_to_false(term: Term) -> Term:
    """In a filter NULL is as good as false, under AND and OR but not under NOT."""
    match term:
        case Literal(None):
            return FALSE
        case Call("and" | "or", args):
            return _connect(term.name, tuple(map(_null_to_false, args)))
        case Call("not", (Call("in", args),)) if any(isinstance(a, Literal) and a.value is None for a in args):
            return FALSE
    return term


def _carry_constants(term: Term) -> Term:
    """`a = 5 AND b > a` as `a = 5 AND b > 5`."""
    if not isinstance(term, Call) or term.name not in ("and", "or"):
        return term
    if term.name == "or":
        return _connect("or", tuple(map(_carry_constants, term.args)))
    known: dict[Field, tuple[Literal, Term]] = {}
    for arg in term.args:
        match arg:
            case Call("=" | "<=>", (Field(path) as field, Literal() as literal)) | Call(
                "=" | "<=>", (Literal() as literal, Field(path) as field)
            ) if len(path) == 1:
                known[field] = literal, arg
    sources = [source for _, source in known.values()]
    constants = {field: literal for field, (literal, _) in known.items()}
    return _connect(
        "and",
        tuple(_carry_constants(arg) if arg in sources else _put_constants(arg, constants) for arg in term.args),
    )


def _put_constants(term: Term, constants: dict[Field, Literal], compared: bool = False) -> Term:
    if isinstance(term, Field):
        return constants.get(term, term) if compared else term
    if not isinstance(term, Call):
        return term
    inside = compared or term.name in COMPARISONS
    return replace(term, args=tuple(_put_constants(arg, constants, inside) for arg in term.args))


def _compare_with_self(term: Term) -> Term:
    """`a = a` is true where the filter also says that a is not NULL, `a < a` is false."""
    parts = _split("and", term)
    present = {arg.args[0] for arg in parts if isinstance(arg, Call) and arg.name == "isnotnull"}

    def decided(part: Term) -> Term:
        match part:
            case Call(name, (left, right)) if name in COMPARISONS and left == right:
                if left in present or not is_nullable(left):
                    return Literal(name in ("=", "<=", ">="), "boolean")
        return part

    return _connect("and", tuple(map(decided, parts)))


def _infer(parts: list[Term]) -> list[Term]:
    """What follows: of equal columns what is said of either, and that needed columns are not NULL."""
    found: list[Term] = []
    for part in parts:
        match part:
            case Call("=", (Field() as left, Field() as right)) if len(left.path) == len(right.path) == 1:
                for old, new in ((left, right), (right, left)):
                    found += [_substituted(other, old, new) for other in parts if other != part]
    for part in parts:
        root = part.args[0] if isinstance(part, Call) and part.name == "isnotnull" else part
        found += [Call("isnotnull", (field,)) for field in _needed(root)]
    return [part for part in dict.fromkeys(found) if part not in parts and not uses(part, HIDDEN)]


def _substituted(term: Term, old: Field, new: Field) -> Term:
    if term == old:
        return new
    if not isinstance(term, Call):
        return term
    return replace(term, args=tuple(_substituted(arg, old, new) for arg in term.args))


def _needed(term: Term) -> list[Field]:
    if isinstance(term, Field):
        return [term]
    if isinstance(term, Call) and term.strict:
        return list(chain.from_iterable(map(_needed, term.args)))
    return []
