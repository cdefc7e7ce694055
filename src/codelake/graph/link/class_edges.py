"""Classes with their orders, and types."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from codelake.graph.link.attributes import provider
from codelake.graph.link.found import FEW, NONE, Candidates, Found, Order
from codelake.graph.link.targets import Target, functions_in, special_functions, surest, type_id
from codelake.graph.link.values import Kind, Known
from codelake.ids import external_id

_HOW_SURE = {
    Known.MADE: ("flow", 0.9),
    Known.SAID: ("flow", 0.9),
    Known.SHAPE: ("shape", 0.6),
    Known.NAME: ("guess", 0.4),
}
"""By how the class of what is there is known: the method of a type, and how sure it is."""
_NOBODY: frozenset[int] = frozenset()


def add_classes(links: Found) -> None:
    link, program = links.link, links.program
    for number, one in enumerate(program.definitions):
        if one.kind != "class" or not links.is_own[one.file]:
            continue
        value = link.defined[number]
        order = link.hierarchy.order(value)
        bases = [_class_id(links, base) for base in link.hierarchy.bases.get(value, ())]
        for base in bases:
            links.add_sure(one.file, "INHERITS", base, src=one.id)
        links.classes[one.file].append(
            Order(one.place, bases, [_class_id(links, each) for each in order], link.hierarchy.problems.get(value))
        )
        for name, slot in link.members.get(value, {}).items():
            own = program.of_slot.get(slot)
            above = _method_above(links, order[1:], name)
            if own is not None and program.definitions[own].kind == "function" and above is not None:
                links.add_sure(one.file, "OVERRIDES", above, src=program.definitions[own].id)
        caller = program.around(one.scope)
        for other in _called_by_class(links, value, order):
            links.note_caller(one.file, caller.id, program.definitions[other].id, 0.8, "protocol")
        for name in sorted(link.stored.get(value, set()) - set(link.members.get(value, {}))):
            links.add_sure(one.file, "HAS_ATTRIBUTE", f"{one.id}:{name}", src=one.id)


def _called_by_class(links: Found, value: int, order: list[int]) -> Iterator[int]:
    """The functions that the statement of a class calls: those of its metaclass, of classes above, of its members."""
    link = links.link
    metaclass = link.metaclasses.get(value)
    of_meta = link.hierarchy.order(metaclass) if metaclass is not None else []
    slots = [provider(link, of_meta, name) for name in ("__prepare__", "__new__", "__init__")]
    for slot in (*slots, provider(link, order[1:], "__init_subclass__")):
        if slot is not None:
            yield from functions_in(link, slot)
    for slot in link.members.get(value, {}).values():
        for member in link.solver.of(slot):
            if link.values.keys[member][0] == Kind.INSTANCE:
                yield from special_functions(link, member, "__set_name__")


def _class_id(links: Found, value: int) -> str:
    kind, a, _ = links.link.values.keys[value]
    return links.program.definitions[a].id if kind == Kind.CLASS else external_id(str(a))


def _method_above(links: Found, order: list[int], name: str) -> str | None:
    for one in order:
        slot = links.link.members.get(one, {}).get(name)
        if slot is not None:
            number = links.program.of_slot.get(slot)
            is_function = number is not None and links.program.definitions[number].kind == "function"
            return links.program.definitions[number].id if is_function else None  # type: ignore[index]
    return None


def add_types(links: Found) -> None:
    link, program = links.link, links.program
    for number, one in enumerate(program.definitions):
        if not links.is_own[one.file]:
            continue
        if one.kind in ("function", "lambda"):
            for name, slot in link.locals.get(one.slot, {}).items():
                if _is_variable(links, name, slot):
                    _add_types(links, one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
            for parameter in one.parameters:
                _add_types(links, one.file, "HAS_TYPE", f"{one.id}({parameter.name})", parameter.slot)
            _add_types(links, one.file, "RETURNS_TYPE", one.id, link.returned(number))
        elif one.kind == "class":
            value = link.defined[number]
            for name in link.stored.get(value, set()) - set(link.members.get(value, {})):
                slot = link.field_of(link.instance(value), name)
                _add_types(links, one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
            for name, slot in link.members.get(value, {}).items():
                if _is_variable(links, name, slot):
                    _add_types(links, one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
        else:
            for name, slot in link.modules.names[one.file].items():
                if _is_variable(links, name, slot):
                    _add_types(links, one.file, "HAS_TYPE", f"{program.files[one.file].id}#:{name}", slot)


def _is_variable(links: Found, name: str, slot: int) -> bool:
    """Whether something else is stored under a name than what a definition or an import of that name binds."""
    return any(not _binds(links, one, name) for one in links.link.stores.get(slot, [slot]))


def _binds(links: Found, slot: int, name: str) -> bool:
    bound = _bound_name(links, slot)
    is_private = bound is not None and bound.startswith("__")  # classes put their own name before it
    return bound == name or (is_private and name.endswith(str(bound)))


def _bound_name(links: Found, slot: int) -> str | None:
    number = links.program.of_slot.get(slot)
    if number is not None:
        return links.program.definitions[number].name
    one = links.link.imports.get(slot)
    return None if one is None else one.as_name or one.name or (one.module or "").partition(".")[0]


def _add_types(links: Found, file: int, kind: str, src: str, slot: int) -> None:
    link = links.link
    held = link.solver.of(slot)
    said = frozenset(value for value in held if _is_said(links, slot, value)) if link.said else _NOBODY
    found = links.types.get((held, said))
    if found is None:
        types = surest(_types(links, held, said))
        found = Candidates(types) if len(types) <= FEW else NONE
        links.types[held, said] = found
    links.add_candidates(file, kind, found, src=src, origin="flow")


def _is_said(links: Found, slot: int, value: int) -> bool:
    """Whether an annotation says so."""
    said = links.link.said
    return (slot, value) in said or any((one, value) in said for one in links.link.stores.get(slot, ()))


def _types(links: Found, held: Iterable[int], said: Container[int]) -> Iterator[Target]:
    for value in held:
        found = type_id(links.link, value)
        if found is not None:
            yield Target(found, *(("annotation", 0.95) if value in said else _HOW_SURE[links.link.known(value)]))
