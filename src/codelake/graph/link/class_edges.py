"""Classes with their orders."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.link.attributes import as_descriptor, provider
from codelake.graph.link.found import Found, Order
from codelake.graph.link.targets import functions_in, special_functions
from codelake.graph.link.values import Kind
from codelake.ids import external_id


def add_classes(links: Found) -> None:
    link, program = links.link, links.program
    written = _written(links)
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
            links.add_sure(one.file, "HAS_ATTRIBUTE", f"{one.id}:{name}", src=one.id, node=written[value, name])


def _written(links: Found) -> dict[tuple[int, str], int]:
    """By class and name: where its methods first store an attribute on their receiver."""
    link = links.link
    found: dict[tuple[int, str], int] = {}
    for node, fact in links.placed("write_attribute"):
        owner = link.receivers.get(fact.src)
        if owner is not None:
            key = link.defined[owner], fact.key
            found[key] = min(node, found.get(key, node))
    return found


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
        for member in (as_descriptor(link, value) for value in link.solver.of(slot)):
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
