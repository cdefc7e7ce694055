"""What variables, attributes and parameters hold, and what functions return: types, and how sure they are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial

from codelake.graph.link.found import FEW, NONE, Candidates, Found
from codelake.graph.link.linking import Linking
from codelake.graph.link.program import Definition
from codelake.graph.link.targets import Target, type_id
from codelake.graph.link.types import written_names
from codelake.graph.link.values import Kind, Known
from codelake.ids import external_id

_HOW_SURE = {
    Known.MADE: ("flow", 0.9),
    Known.SAID: ("flow", 0.9),
    Known.SHAPE: ("shape", 0.6),
    Known.NAME: ("guess", 0.4),
}
"""By how the class of what is there is known: the method of a type, and how sure it is."""
_SAID = ("annotation", 0.95)
_NOBODY: frozenset[int] = frozenset()


def add_types(links: Found) -> None:
    link, program = links.link, links.program
    bound = _bound_names(link)
    for slot, value in link.solver.marked("said"):
        links.said[slot] = links.said.get(slot, _NOBODY) | {value}
    add = partial(_add_types, links, written_names(link))
    speaking = {fact.dst for fact in program.every("return", "raise")}
    """Functions that return something, or raise: those may be there to be overridden."""
    for number, one in enumerate(program.definitions):
        if not links.is_own[one.file]:
            continue
        if one.kind in ("function", "lambda"):
            for name, slot in link.locals.get(one.slot, {}).items():
                if _is_variable(link, bound, name, slot):
                    add(one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
            for parameter in one.parameters:
                add(one.file, "HAS_TYPE", f"{one.id}({parameter.name})", parameter.slot)
            silent = one.kind == "function" and one.slot not in speaking
            if (one.is_generator or silent) and link.returned(number) not in links.said:
                links.add_candidates(one.file, "RETURNS_TYPE", _given(one), src=one.id, origin="flow")
            else:
                handed = (slot for slot, _ in link.handed.get(number, ()))
                add(one.file, "RETURNS_TYPE", one.id, link.returned(number), *handed)
        elif one.kind == "class":
            value = link.defined[number]
            for name in link.stored.get(value, set()) - set(link.members.get(value, {})):
                every = (value, *link.hierarchy.subclasses.get(value, ()))
                add(one.file, "HAS_TYPE", f"{one.id}:{name}", *(link.field_of(link.instance(v), name) for v in every))
            for name, slot in link.members.get(value, {}).items():
                if _is_variable(link, bound, name, slot):
                    add(one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
        elif one.kind == "module":
            for name, slot in link.modules.names[one.file].items():
                if _is_variable(link, bound, name, slot):
                    add(one.file, "HAS_TYPE", f"{program.files[one.file].id}#:{name}", slot)


def _given(one: Definition) -> Candidates:
    """What calling a generator gives, or a function that returns nothing."""
    name = "types.NoneType"
    if one.is_generator:
        name = "types.AsyncGeneratorType" if one.is_coroutine else "types.GeneratorType"
    return Candidates([Target(f"{external_id(name)}@type", *_HOW_SURE[Known.MADE])])


def _bound_names(link: Linking) -> dict[int, str]:
    """By slot of a definition or import: the name that it binds."""
    found = {
        slot: one.as_name or one.name or (one.module or "").partition(".")[0] for slot, one in link.imports.items()
    }
    found.update((slot, link.program.definitions[number].name) for slot, number in link.program.of_slot.items())
    return found


def _is_variable(link: Linking, bound: dict[int, str], name: str, slot: int) -> bool:
    """Whether something else is stored under a name than what a definition or an import of that name binds."""
    for one in link.stores.get(slot, (slot,)):
        by = bound.get(one)
        if by != name and (by is None or not by.startswith("__") or not name.endswith(by)):
            return True  # classes put their own name before a private one
    return False


def _add_types(links: Found, written: Mapping[int, str], file: int, kind: str, src: str, *slots: int) -> None:
    held = _NOBODY.union(*map(links.link.solver.of, slots))
    if not held:
        return
    said = _NOBODY.union(*(_said(links, slot) for slot in slots))
    found = links.types.get((held, said))
    if found is None:
        found = Candidates(_types(links.link, written, held, said))
        links.types[held, said] = found if len(found.targets) <= FEW else NONE
    links.add_candidates(file, kind, links.types[held, said], src=src, origin="flow")


def _said(links: Found, slot: int) -> frozenset[int]:
    """The values that annotations put into a slot, or into one that is stored in it."""
    found = links.said.get(slot, _NOBODY)
    for one in links.link.stores.get(slot, ()):
        if one in links.said:
            found |= links.said[one]
    return found


def _types(link: Linking, written: Mapping[int, str], held: Iterable[int], said: Container[int]) -> Iterator[Target]:
    for value in held:
        kind, place, _ = link.values.keys[value]
        name = written.get(place) if kind == Kind.CONTAINER and value in said else None
        found = type_id(link, value) if name is None else f"{external_id(name)}@type"
        if found is not None:
            yield Target(found, *(_SAID if value in said else _HOW_SURE[link.known(value)]))
