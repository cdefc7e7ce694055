"""What variables, attributes and parameters hold, and what functions return: types, and how sure they are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from codelake.graph.link.found import FEW, Candidates, Found
from codelake.graph.link.linking import Linking
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
_NOTHING = Target(f"{external_id('types.NoneType')}@type", *_HOW_SURE[Known.MADE])
_NOBODY: frozenset[int] = frozenset()


def add_types(links: Found) -> None:
    link, program = links.link, links.program
    bound = _bound_names(link)
    types = _Types(links)
    several = _several(links, types)
    for number, one in enumerate(program.definitions):
        if not links.is_own[one.file]:
            continue
        if one.kind in ("function", "lambda"):
            for name, slot in link.locals.get(one.slot, {}).items():
                if _is_variable(link, bound, name, slot):
                    types.add(one.file, f"{one.id}:{name}", types.of(slot), is_several=(slot, name) in several)
            for parameter in one.parameters:
                types.add(one.file, f"{one.id}({parameter.name})", types.of(parameter.slot))
            links.add_candidates(one.file, "RETURNS_TYPE", types.given(number), src=one.id, origin="flow")
        elif one.kind == "class":
            value = link.defined[number]
            for name in link.stored.get(value, set()) - set(link.members.get(value, {})):
                every = (value, *link.hierarchy.subclasses.get(value, ()))
                fields = (link.field_of(link.instance(v), name) for v in every)
                types.add(one.file, f"{one.id}:{name}", types.of(*fields, is_nothing=(number, name) in types.cleared))
            for name, slot in link.members.get(value, {}).items():
                if _is_variable(link, bound, name, slot):
                    types.add(one.file, f"{one.id}:{name}", types.of(slot), is_several=(slot, name) in several)
        elif one.kind == "module":
            for name, slot in link.modules.names[one.file].items():
                if _is_variable(link, bound, name, slot):
                    of = f"{program.files[one.file].id}#:{name}"
                    types.add(one.file, of, types.of(slot), is_several=(slot, name) in several)
    for file, owner, name, slot in _of_comprehensions(links):
        types.add(file, f"{owner}:{name}", types.of(slot), is_several=(slot, name) in several)


def _several(links: Found, types: _Types) -> set[tuple[int, str]]:
    """Variables that do not always hold the same, by slot and name. Each place where one is stored says its own."""
    stores: dict[tuple[int, str], list[Candidates]] = {}
    for node, fact in links.placed("store"):
        found = types.of(fact.dst)
        stores.setdefault((fact.src, fact.key), []).append(found)
        links.add_candidates(fact.file, "HAS_TYPE", found, node=node, origin="flow")
    return {of for of, every in stores.items() if any(one.ids != every[0].ids for one in every)}


def _of_comprehensions(links: Found) -> Iterator[tuple[int, str, str, int]]:
    """Variables of comprehensions: file, id of the comprehension, name and slot."""
    program = links.program
    scopes = {
        program.slot(program.scope_files[scope], program.scope_nodes[scope]): scope
        for scope, kind in enumerate(program.scope_kinds)
        if kind == "comprehension" and links.is_own[program.scope_files[scope]]
    }
    for fact in links.facts("bind"):
        scope = scopes.get(fact.src)
        if scope is not None:
            yield fact.file, f"{program.files[fact.file].id}#{program.scope_labels[scope]}", fact.key, fact.dst


class _Types:
    """Types of what slots hold, worked out once for all that hold the same."""

    def __init__(self, links: Found) -> None:
        self.links = links
        link = links.link
        for slot, value in link.solver.marked("said"):
            links.said[slot] = links.said.get(slot, _NOBODY) | {value}
        self._written = written_names(link)
        self._nothing = {fact.dst for fact in links.facts("none")}.union(link.solver.marked("nothing"))
        """Slots where None is written, or given by a function that reaches its end."""
        self._nothing.update(slot for slot, default in link.defaults.items() if default in self._nothing)
        self._ending = {fact.dst for fact in links.facts("ends")}
        self._ending.update(fact.dst for fact in links.facts("return") if fact.src in self._nothing)
        self.cleared = {
            (link.receivers[fact.dst], fact.key)
            for fact in links.facts("store_attribute")
            if fact.src in self._nothing and fact.dst in link.receivers
        }
        """Classes and names of attributes in which their own methods store None."""

    def add(self, file: int, src: str, found: Candidates, *, is_several: bool = False) -> None:
        found = found.by("stores") if is_several else found
        self.links.add_candidates(file, "HAS_TYPE", found, src=src, origin="flow")

    def given(self, number: int) -> Candidates:
        """What calling a function gives."""
        link = self.links.link
        one, returned = link.program.definitions[number], link.returned(number)
        is_said = returned in self.links.said
        if one.is_generator and not is_said:
            name = "types.AsyncGeneratorType" if one.is_coroutine else "types.GeneratorType"
            return Candidates([Target(f"{external_id(name)}@type", *_HOW_SURE[Known.MADE])])
        is_nothing = one.slot in self._ending and not is_said
        return self.of(returned, *(slot for slot, _ in link.handed.get(number, ())), is_nothing=is_nothing)

    def of(self, *slots: int, is_nothing: bool = False) -> Candidates:
        links, link = self.links, self.links.link
        held = said = _NOBODY
        for slot in slots:
            held |= link.solver.of(slot)
            for one in (slot, *link.stores.get(slot, ())):  # what is stored in it may be said, or None
                said |= links.said.get(one, _NOBODY)
                is_nothing = is_nothing or one in self._nothing
        found = links.types.get((held, said, is_nothing))
        if found is None:
            types = list(_types(link, self._written, held, said))
            if len({target.id for target in types}) > FEW:
                types = []
            if is_nothing:
                types.append(_NOTHING)
            found = links.types[held, said, is_nothing] = Candidates(types)
        return found


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


def _types(link: Linking, written: Mapping[int, str], held: Iterable[int], said: Container[int]) -> Iterator[Target]:
    for value in held:
        kind, place, _ = link.values.keys[value]
        name = written.get(place) if kind == Kind.CONTAINER and value in said else None
        found = type_id(link, value) if name is None else f"{external_id(name)}@type"
        if found is not None:
            yield Target(found, *(_SAID if value in said else _HOW_SURE[link.known(value)]))
