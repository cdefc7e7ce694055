"""Which returned values are made of parameters, and how: `return x()`, `return x + y`, `return self.x`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from codelake.graph.link.program import Program

_DEEPEST = 2
_KINDS = ("call", "operate", "load_attribute")


class Made(NamedTuple):
    """How a slot comes to hold what it holds: by a call, an operator or the load of an attribute of `of`."""

    kind: str
    of: int
    key: str = ""
    others: tuple[int, ...] = ()
    """What is passed, by position; the right operand."""


def made_of_parameters(program: Program) -> dict[int, Made]:
    """By slot of what functions return, and of what that is made of: how. Only where that begins with a parameter."""
    parameters = {p.slot for one in program.definitions for p in one.parameters}
    wanted = {fact.src for fact in program.every("return") if not fact.key} - parameters
    found: dict[int, Made] = {}
    for _ in range(_DEEPEST):
        more = {slot: made for slot, made in _made(program, wanted).items() if slot not in found}
        found |= more
        wanted = {made.of for made in more.values()} - parameters
    kept: dict[int, Made] = {}
    for slot, made in reversed(found.items()):
        if made.of in parameters or made.of in kept:
            kept[slot] = made
    return kept


def _made(program: Program, slots: Collection[int]) -> dict[int, Made]:
    """Of these slots those that one fact fills, of calls those that pass by position alone."""
    facts = [(kind, fact) for kind in _KINDS for fact in program.into(kind, slots)]
    filled = Counter(fact.dst for _, fact in facts)
    found = {fact.dst: Made(kind, fact.src, fact.key) for kind, fact in facts if filled[fact.dst] == 1}
    passed: dict[int, list[tuple[str, int]]] = {slot: [] for slot in found}
    for kind in ("argument", "operand"):
        for fact in program.into(kind, passed):
            passed[fact.dst].append((fact.key if kind == "argument" else str(len(passed[fact.dst])), fact.src))
    plain = {slot: all(key == str(n) for n, (key, _) in enumerate(every)) for slot, every in passed.items()}
    return {
        slot: made._replace(others=tuple(src for _, src in passed[slot])) for slot, made in found.items() if plain[slot]
    }
