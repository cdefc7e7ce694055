"""Methods for getting attributes that hand on to something else: it is read off their code."""

from __future__ import annotations

from collections.abc import Iterable

from codelake.graph.link.call import Call
from codelake.graph.link.parts import Definition
from codelake.graph.link.program import Program

_RECEIVER_AND_NAME = 2


def getters(program: Program, written: Iterable[Call]) -> dict[int, int]:
    """By class of descriptors whose `__get__` calls what they hold: which of its parameters that is given."""
    calls: dict[int, tuple[int, Definition]] = {}
    for call in written:
        number = program.of_scope.get(call.scope)
        one = None if number is None else program.definitions[number]
        if one is None or one.name != "__get__" or one.owner < 0 or not call.positional:
            continue
        for place, parameter in enumerate(one.parameters[1:3], 1):
            if parameter.slot == call.positional[0]:
                calls[call.callee] = place, one
    loads = program.every("load_attribute") if calls else ()
    held = ((fact.src, *calls[fact.dst]) for fact in loads if fact.dst in calls)
    return {one.owner: place for of, place, one in held if of == one.parameters[0].slot}


def delegates(program: Program) -> dict[int, list[int]]:
    """By `__getattr__` with `getattr(o, name)` in its code, of the name that it is asked for: the slots of o."""
    names = {
        one.parameters[1].slot: number
        for number, one in enumerate(program.definitions)
        if one.name == "__getattr__" and one.owner >= 0 and len(one.parameters) == _RECEIVER_AND_NAME
    }
    asked = {fact.dst: names[fact.src] for fact in program.into("argument", names, by="src") if fact.key == "1"}
    builtin = {fact.dst for fact in program.every("global") if fact.key == "getattr"} if asked else ()
    made = {fact.dst for fact in program.into("call", asked) if fact.src in builtin}
    found: dict[int, list[int]] = {}
    for fact in program.into("argument", made):
        if fact.key == "0":
            found.setdefault(asked[fact.dst], []).append(fact.src)
    return found
