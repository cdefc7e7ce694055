"""What variables, attributes and parameters hold, and what functions return: types, and how sure they are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from codelake.graph.link.found import FEW, NONE, Candidates, Found
from codelake.graph.link.linking import Linking
from codelake.graph.link.targets import Target, type_id
from codelake.graph.link.values import Known

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
    for number, one in enumerate(program.definitions):
        if not links.is_own[one.file]:
            continue
        if one.kind in ("function", "lambda"):
            for name, slot in link.locals.get(one.slot, {}).items():
                if _is_variable(link, bound, name, slot):
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
                if _is_variable(link, bound, name, slot):
                    _add_types(links, one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
        elif one.kind == "module":
            for name, slot in link.modules.names[one.file].items():
                if _is_variable(link, bound, name, slot):
                    _add_types(links, one.file, "HAS_TYPE", f"{program.files[one.file].id}#:{name}", slot)


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


def _add_types(links: Found, file: int, kind: str, src: str, slot: int) -> None:
    held = links.link.solver.of(slot)
    if not held:
        return
    said = _said(links, slot)
    found = links.types.get((held, said))
    if found is None:
        found = Candidates(_types(links.link, held, said))
        links.types[held, said] = found if len(found.targets) <= FEW else NONE
    links.add_candidates(file, kind, links.types[held, said], src=src, origin="flow")


def _said(links: Found, slot: int) -> frozenset[int]:
    """The values that annotations put into a slot, or into one that is stored in it."""
    found = links.said.get(slot, _NOBODY)
    for one in links.link.stores.get(slot, ()):
        if one in links.said:
            found |= links.said[one]
    return found


def _types(link: Linking, held: Iterable[int], said: Container[int]) -> Iterator[Target]:
    for value in held:
        found = type_id(link, value)
        if found is not None:
            yield Target(found, *(_SAID if value in said else _HOW_SURE[link.known(value)]))
