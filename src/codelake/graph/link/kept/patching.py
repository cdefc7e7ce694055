"""A program in which a file has another content: what is the same keeps its numbers.

Slots, scopes and definitions of the new content are set beside those of the old one: nodes by their order, from both
ends of the file; symbols, scopes and definitions by their names. A slot keeps its number only if all that comes into
it is the same, so that whatever was worked out from it still holds. Others get numbers that nobody had.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from codelake.graph.link.kept.program import ChangingProgram
from codelake.graph.link.nested import Numbers
from codelake.graph.link.parts import Definition
from codelake.graph.link.program import Program

_OF_OWNERS = {
    *("bind", "return", "yield", "yield_from", "raise", "store_attribute", "store_item", "export", "export_of"),
    *("unexport", "base", "class_keyword", "decorate", "default"),
}
"""Facts that fill no slot: `dst` is who has or gets something, of `bind` it is `src`."""
Token = tuple[Hashable, ...]


class Kept(NamedTuple):
    """Numbers of a file's new content."""

    slots: Numbers
    """By local slot, those beside others too."""
    scopes: list[int]
    definitions: list[int]
    fresh: set[int]
    """Slots that nobody had."""
    gone: set[int]
    """Slots that nobody has any more."""


def keep(program: ChangingProgram, file: int, old: Program, new: Program, take: Callable[[int], int]) -> Kept:
    """Numbers for the new content of a file; `old` and `new` are its contents by themselves. `take` gives numbers that
    nobody had: the first of so many."""
    there = program.slots_of_file(file)
    n_old, n_new = int(old.n_nodes[0]), int(new.n_nodes[0])
    slots: Numbers = np.full(new.n_slots, -1, np.int32)
    old_tokens, new_tokens = _tokens(old), _tokens(new)
    for a, b in _aligned(old_tokens[:n_old], new_tokens[:n_new]):
        slots[b] = there[a]
    for a, b in _named(old_tokens[n_old:], new_tokens[n_new:]):
        slots[n_new + b] = there[n_old + a]
    scopes = _scopes(program, file, old, new)
    _let_go(new, slots, scopes, set(_facts(program, file)))
    for local, beside in new.beside.items():
        slots[beside] = program.beside.get(int(slots[local]), -1)
    missing = np.flatnonzero(slots < 0)
    first = take(len(missing))
    slots[missing] = np.arange(first, first + len(missing), dtype=np.int32)
    kept = set(slots.tolist())
    gone = {one for one in there.tolist() if one not in kept}
    gone |= {program.beside[one] for one in gone if one in program.beside}
    next_scope = len(program.scope_labels)
    for at, scope in enumerate(scopes):
        if scope < 0:
            scopes[at], next_scope = next_scope, next_scope + 1
    definitions = _definitions(program, file, new, slots.tolist(), scopes)
    return Kept(slots, scopes, definitions, set(range(first, first + len(missing))), gone)


# what is the same --------------------------------------------------------------------------------


def _tokens(part: Program) -> list[Token]:
    """By slot: what tells it from others, whatever is done with it. Of a symbol its name, and whose it is."""
    found: list[list[Any]] = [[] for _ in range(part.n_slots)]
    labels = {one.slot: one.label for one in part.definitions}
    for kind in part.kinds():
        for fact in part.every(kind):
            if kind == "bind" or kind not in _OF_OWNERS:
                found[fact.dst].append((kind, fact.key, labels.get(fact.src, "") if kind == "bind" else ""))
    for one in part.definitions:
        found[one.slot].append(("definition", one.kind, one.label))
        for parameter in one.parameters:
            found[parameter.slot].append(("parameter", parameter.kind, parameter.name))
    for each in part.imports:
        found[each.slot].append(("import", f"{each.level} {each.module}", f"{each.name} {each.as_name}"))
    n_nodes, n_slots = int(part.n_nodes[0]), int(part.bases[1])
    symbols = ([fact for fact in one if fact[0] == "bind"] or one for one in found[n_nodes:n_slots])
    return [tuple(sorted(one)) for one in (*found[:n_nodes], *symbols)]


def _aligned(old: Sequence[Token], new: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Pairs of places from both ends, as far as they are the same."""
    n = min(len(old), len(new))
    first = next((at for at in range(n) if old[at] != new[at]), n)
    yield from ((at, at) for at in range(first))
    for at in range(1, n - first + 1):
        if old[-at] != new[-at]:
            break
        yield len(old) - at, len(new) - at


def _named(old: Sequence[Token], new: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Pairs of places with the same name, the first with the first."""
    places: dict[Token, list[int]] = {}
    for at, name in enumerate(old):
        places.setdefault(name, []).append(at)
    for at, name in enumerate(new):
        if places.get(name):
            yield places[name].pop(0), at


def _scopes(program: ChangingProgram, file: int, old: Program, new: Program) -> list[int]:
    """By scope of the new content: its number, or -1."""
    known = program.scopes_of_file(file)
    found = [-1] * len(new.scope_labels)
    before, now = (list(zip(one.scope_kinds, one.scope_labels, strict=True)) for one in (old, new))
    for a, b in _named(before, now):
        found[b] = known[a]
    return found


def _facts(program: Program, file: int) -> Iterator[Token]:
    beside = {one: slot for slot, one in program.beside.items()}
    with program.looking_at(file):
        for kind in program.kinds():
            for fact in program.every(kind):
                dst, src = beside.get(fact.dst, fact.dst), beside.get(fact.src, fact.src)
                yield kind, fact.scope, dst, dst != fact.dst, src, src != fact.src, fact.key


def _let_go(new: Program, slots: Numbers, scopes: list[int], before: set[Token]) -> None:
    """Take the numbers from slots into which something else comes, and from those that hang on them. Definitions,
    parameters and symbols keep theirs: much comes into them, from elsewhere too."""
    owned = {one.slot for one in new.definitions}
    owned |= {parameter.slot for one in new.definitions for parameter in one.parameters}
    owned |= set(range(int(new.n_nodes[0]), int(new.bases[1])))
    beside = {one: local for local, one in new.beside.items()}
    facts = [(kind, fact) for kind in new.kinds() if kind not in _OF_OWNERS for fact in new.every(kind)]
    numbers = slots.tolist()
    is_open = True
    while is_open:
        is_open, rest = False, []
        for kind, fact in facts:
            dst, src = beside.get(fact.dst, fact.dst), beside.get(fact.src, fact.src)
            if numbers[dst] < 0 or dst in owned:
                continue
            ends = numbers[dst], dst != fact.dst, numbers[src], src != fact.src
            if numbers[src] >= 0 and (kind, scopes[fact.scope], *ends, fact.key) in before:
                rest.append((kind, fact))
            else:
                numbers[dst], is_open = -1, True
        facts = rest
    slots[:] = numbers


def _definitions(program: Program, file: int, new: Program, slots: list[int], scopes: list[int]) -> list[int]:
    """By definition of the new content: its number, a new one where it is another than it was."""
    known = {one.label: number for number, one in enumerate(program.definitions) if one.file == file}
    found, following = [], len(program.definitions)
    for one in new.definitions:
        number = known.get(one.label, -1)
        if number < 0 or not _is_same(program.definitions[number], one, slots, scopes):
            number, following = following, following + 1
        found.append(number)
    return found


def _is_same(old: Definition, new: Definition, slots: list[int], scopes: list[int]) -> bool:
    return (
        (old.kind, old.name, old.is_generator, old.is_coroutine)
        == (new.kind, new.name, new.is_generator, new.is_coroutine)
        and old.slot == slots[new.slot]
        and old.scope == (scopes[new.scope] if new.scope >= 0 else -1)
        and old.parameters == [one._replace(slot=slots[one.slot]) for one in new.parameters]
    )
