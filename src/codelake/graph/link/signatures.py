"""Texts of stubs, read: types and signatures as `codelake.extract.stubs.texts` writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"'[^']*'|\.\.\.|[~\w.]+|[\[\],|*]")
_KEPT = 4096
_OR_NONE = "|None"


class Alternative(NamedTuple):
    """One of the things that a type allows."""

    head: str
    """A class, ~ and a type variable, Self, Callable, or a text with its quotes."""
    inner: tuple[Type, ...] = ()
    """What it is of; of Callable the result, then the parameters, * or ..."""


Type = tuple[Alternative, ...]
"""Its alternatives; none, where nothing is said."""
NOTHING: Type = ()


class Parameter(NamedTuple):
    name: str
    kind: str
    """As in evidence: positional_only, positional, var_positional, keyword_only or var_keyword."""
    has_default: bool
    type: Type


class Signature(NamedTuple):
    parameters: tuple[Parameter, ...]
    result: Type
    variables: frozenset[str]
    """Type variables of the result, and Self."""
    may_be_none: bool = False


@lru_cache(_KEPT)
def parse_type(text: str) -> Type:
    tokens = _TOKEN.findall(text)[::-1]
    return _type(tokens)


def _type(tokens: list[str]) -> Type:
    found = []
    while True:
        head = tokens.pop()
        inner: list[Type] = []
        if tokens and tokens[-1] == "[":
            tokens.pop()
            while True:
                inner.append(_type(tokens))
                if tokens.pop() == "]":
                    break
        if head != "_":
            found.append(Alternative(head, tuple(inner)))
        if not tokens or tokens[-1] != "|":
            return tuple(found)
        tokens.pop()


@lru_cache(_KEPT)
def parse_signatures(text: str) -> tuple[Signature, ...]:
    """Of a function; several, where it is overloaded."""
    return tuple(_signature(one) for one in text.split(";"))


def _signature(text: str) -> Signature:
    given, _, result = text.rpartition(")->")
    type_ = parse_type(result.removesuffix(_OR_NONE))
    found = tuple(_parameters(given[1:]))
    return Signature(found, type_, frozenset(variables(type_)), result.endswith(_OR_NONE))


def _parameters(text: str) -> list[Parameter]:
    found: list[Parameter] = []
    kind = "positional"
    for one in _divided(text):
        if one == "/":
            found = [each._replace(kind="positional_only") for each in found]
        elif one == "*":
            kind = "keyword_only"
        else:
            head, _, type_ = one.partition(":")
            name = head.rstrip("=").lstrip("*")
            stars = len(head) - len(head.lstrip("*"))
            of_one = ("", "var_positional", "var_keyword")[stars] or kind
            found.append(Parameter(name, of_one, head.endswith("="), parse_type(type_) if type_ else NOTHING))
            kind = "keyword_only" if stars else kind
    return found


def _divided(text: str) -> list[str]:
    """At commas that are within no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [one for one in (*parts, text[start:]) if one]


def variables(type_: Type) -> set[str]:
    """The type variables of a type, and Self."""
    found = set()
    for one in type_:
        if one.head.startswith("~") or one.head == "Self":
            found.add(one.head)
        for inner in one.inner:
            found |= variables(inner)
    return found
