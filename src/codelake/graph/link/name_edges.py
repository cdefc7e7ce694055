"""What imports, names and attributes mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from codelake.graph.link.attributes import as_descriptor, provider
from codelake.graph.link.found import FEW, NONE, Candidates, Found
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import BUILTINS
from codelake.graph.link.outside import shown
from codelake.graph.link.targets import (
    HOW_SURE,
    OVERRIDE,
    OVERRIDES,
    Target,
    called_by,
    functions_in,
    special_functions,
    things,
    things_bound,
    things_of_import,
)
from codelake.graph.link.values import Kind, Known, is_derived
from codelake.ids import external_id


def add_imports(links: Found) -> None:
    program, link = links.program, links.link
    for one in program.imports:
        if not links.is_own[one.file]:
            continue
        module = f"{program.files[one.file].id}#<module>"
        target = link.modules.target(one)
        named = link.modules.found(target, one.file) if target else None
        if named is not None and named != one.file:
            links.add_sure(one.file, "IMPORTS", f"{program.files[named].id}#<module>", src=module)
        found = things_of_import(link, one)
        for thing in found:
            links.add_sure(one.file, "IMPORTS", thing, node=one.node, n=len(found))
            if thing.endswith("#<module>") and thing != module:
                links.add_sure(one.file, "IMPORTS", thing, src=module)
        if _is_offered(links, one.file, one.as_name or one.name, one.scope):
            for thing in found:
                if not thing.startswith("::"):
                    links.add_sure(one.file, "RE_EXPORTS", thing, src=module)
        if one.name == "*" and named is not None and program.files[one.file].is_package:
            for name in sorted(link.modules.names[named]):
                if link.modules.is_public(named, name):
                    for thing in things(link, named, name):
                        links.add_sure(one.file, "RE_EXPORTS", thing, src=module)
    for loaded in program.imported_names(links.files):
        found = _things_of_name(links, loaded.src)
        for thing in found:
            links.add_sure(loaded.file, "RESOLVES_TO", thing, node=loaded.dst, n=len(found))
    for node, fact in links.placed("global"):
        brought = things(link, fact.file, fact.key)
        if not brought and fact.key in BUILTINS:
            brought = [external_id(f"builtins.{fact.key}")]
        for thing in brought:
            links.add_sure(fact.file, "RESOLVES_TO", thing, node=node, n=len(brought))
        if not brought and links.weighed is not None:
            claimed = links.weighed(fact.file, "RESOLVES_TO", node, NONE)
            links.add_candidates(fact.file, "RESOLVES_TO", claimed, node=node, origin="flow")


def _things_of_name(links: Found, slot: int) -> list[str]:
    found: list[str] = []
    for source in links.link.stores.get(slot, [slot]):
        if source in links.link.imports:
            found += things_bound(links.link, links.link.imports[source])
    return sorted(set(found))


def _is_offered(links: Found, file: int, name: str | None, scope: int) -> bool:
    if name is None or name == "*" or links.program.scope_parents[scope] >= 0:
        return False
    listed = links.link.modules.listed[file]
    return links.program.files[file].is_package or (listed is not None and name in listed)


_OF_AND_NAME = 2


class _Attribute(NamedTuple):
    """An attribute of what a slot holds."""

    found: Candidates
    variables: Candidates
    others: Candidates
    """Of what was found: properties, methods, classes, what is outside."""
    called: list[tuple[str, float]]
    """Who loads it calls these functions, and how sure that is: what is asked for attributes, getters of properties."""


def add_attributes(links: Found) -> None:
    """What attributes are that code loads, stores and deletes. Variables are written and deleted, not named."""
    link = links.link
    known: dict[tuple[frozenset[int], str], _Attribute] = {}
    for kind, done in (("load_attribute", ""), ("write_attribute", "WRITES"), ("delete_attribute", "DELETES")):
        for node, fact in links.placed(kind):
            held = link.solver.of(fact.src)
            if kind == "write_attribute" and fact.src in link.receivers:  # also where only classes below are made
                held |= {link.instance(link.defined[link.receivers[fact.src]])}
            if not held and links.weighed is None:
                continue
            one = known.get((held, fact.key))
            if one is None:
                one = known[held, fact.key] = _attribute(links, held, fact.key)
            named = one.found if not done else one.others
            if links.weighed is not None:
                named = links.weighed(fact.file, "RESOLVES_TO", node, named)
            links.add_candidates(fact.file, "RESOLVES_TO", named, node=node, origin="flow")
            if done:
                links.add_candidates(fact.file, done, one.variables, node=node, origin="flow")
            elif one.called:
                caller = links.program.around(fact.scope).id
                for callee, sure in one.called:
                    links.note_caller(fact.file, caller, callee, sure, "protocol")


def add_asked_by_name(links: Found) -> None:
    """What `getattr` and `hasattr` make Python call."""
    link = links.link
    builtins = {link.values.external(f"builtins.{name}") for name in ("getattr", "hasattr")}
    for call in link.written:
        file = links.program.scope_files[call.scope]
        if not links.is_own[file] or len(call.positional) < _OF_AND_NAME:
            continue
        if builtins.isdisjoint(link.solver.of(call.callee)):
            continue
        held, name = link.solver.of(call.positional[0]), link.text(call.positional[1])
        caller = links.program.around(call.scope).id
        for callee, sure in _attribute(links, held, name or "").called:
            links.note_caller(file, caller, callee, sure if name else min(sure, OVERRIDE), "protocol")


def _attribute(links: Found, held: frozenset[int], name: str) -> _Attribute:
    called: list[tuple[str, float]] = []
    found = Candidates(one for value in held for one in _of_value(links, value, name, called))
    if len(found.targets) > FEW:
        return _Attribute(NONE, NONE, NONE, called)
    variables = [one for one in found.targets if _is_variable(one.id)]
    if not variables:
        return _Attribute(found, NONE, found, called)
    if len(variables) == len(found.targets):
        return _Attribute(found, found, NONE, called)
    others = Candidates(one for one in found.targets if one not in variables)
    return _Attribute(found, Candidates(variables), others, called)


def _is_variable(node_id: str) -> bool:
    """Of a definition, a variable or a thing outside."""
    return ":" in node_id.partition("#")[2]


def _of_value(links: Found, value: int, name: str, called: list[tuple[str, float]]) -> list[Target]:
    link = links.link
    kind, a, _ = link.values.keys[value]
    if kind == Kind.MODULE and a >= 0:
        return [Target(thing, "import", 0.95) for thing in things(link, a, name)]
    if kind == Kind.BELOW:
        return _member(links, a, name, called)
    if kind == Kind.EXTERNAL:
        return _outside(link, str(a), name, "import", 0.95)
    if kind == Kind.CONTAINER:
        return _outside(link, f"builtins.{link.values.keys[value][2]}", name, "receiver", 0.9)
    if kind not in (Kind.INSTANCE, Kind.CLASS, Kind.SUPER):
        return []
    return _member(links, value, name, called)


def _member(links: Found, value: int, name: str, called: list[tuple[str, float]]) -> list[Target]:
    link = links.link
    kind, a, b = link.values.keys[value]
    of = link.class_of(int(b)) if kind == Kind.SUPER else link.class_of(value)
    if link.values.keys[of][0] == Kind.EXTERNAL:
        return _outside(link, str(link.values.keys[of][1]), name, "receiver", 0.8)
    method, sure = HOW_SURE[link.known(value)]
    sure = min(sure, 0.9)
    order = link.hierarchy.order(of)
    if kind == Kind.SUPER:
        order = order[order.index(a) + 1 :] if a in order else link.hierarchy.order(a)[1:]
    if kind == Kind.INSTANCE:
        called += _special(links, order, "__getattribute__", min(sure, 0.8))
    for one in order:
        if name in link.members.get(one, ()):
            functions = functions_in(link, link.members[one][name])
            called += _getters_of(links, value, name, link.members[one][name])
            if functions:
                return [Target(links.program.definitions[n].id, method, sure) for n in functions]
            return [target._replace(method=method, sure=sure) for target in _class_member(links, one, name)]
        if name in link.stored.get(one, ()):
            return [Target(f"{links.program.definitions[link.values.keys[one][1]].id}:{name}", method, sure)]
    dynamic = provider(link, order, "__getattr__")
    if dynamic is not None and kind == Kind.INSTANCE:
        called += _special(links, order, "__getattr__", min(sure, 0.7))
        return []
    for one in order:
        if link.values.keys[one][0] == Kind.EXTERNAL:
            above = _outside(link, str(link.values.keys[one][1]), name, "receiver", 0.6)
            if above:
                return above
    return []


def _outside(link: Linking, of: str, name: str, method: str, sure: float) -> list[Target]:
    """An attribute of something external; where stubs know the class, they say so."""
    found = shown(link, of, name)
    if found is None or is_derived(found):
        return []
    return [Target(external_id(found), method, sure if link.stubs.class_named(of) is None else max(sure, 0.9))]


def _special(links: Found, order: list[int], name: str, sure: float) -> Iterator[tuple[str, float]]:
    """A method that is asked for attributes."""
    slot = provider(links.link, order, name)
    for number in functions_in(links.link, slot) if slot is not None else ():
        yield links.program.definitions[number].id, sure


def _class_member(links: Found, one: int, name: str) -> list[Target]:
    """A class's attribute that is no function: a class, something imported, or a variable."""
    link, program = links.link, links.program
    definition = program.definitions[link.values.keys[one][1]]
    found = set()
    for source in link.stores.get(link.members[one][name], [link.members[one][name]]):
        if source in link.imports:
            found.update(things_of_import(link, link.imports[source]))
        elif source in program.of_slot and program.definitions[program.of_slot[source]].owner >= 0:
            found.add(program.definitions[program.of_slot[source]].id)
        else:
            found.add(f"{definition.id}:{name}")
    return [Target(thing, "receiver", 0.9) for thing in sorted(found)]


def _getters_of(links: Found, receiver: int, name: str, slot: int) -> Iterator[tuple[str, float]]:
    """What gets an attribute: the getter of a property, also where a class below has another. From the class itself
    only descriptors of one's own kind are asked."""
    link = links.link
    if link.values.keys[receiver][0] != Kind.INSTANCE:
        for number in _getters(link, slot, is_of_class=True):
            yield links.program.definitions[number].id, 0.8
        return
    sure = min(0.8, HOW_SURE[link.known(receiver)][1])
    found = dict.fromkeys(_getters(link, slot), sure)
    if found and link.known(receiver) != Known.MADE:
        for one in link.hierarchy.subclasses.get(link.class_of(receiver), ()):
            below = link.members.get(one, {}).get(name)
            for number in _getters(link, below) if below is not None else ():
                found.setdefault(number, OVERRIDES[link.known(receiver)])
    for number, how in found.items():
        yield links.program.definitions[number].id, how


def _getters(link: Linking, slot: int, *, is_of_class: bool = False) -> list[int]:
    functions = []
    for value in link.solver.of(slot):
        value = as_descriptor(link, value)
        of, a, _ = link.values.keys[value]
        if of == Kind.PROPERTY and not is_of_class:
            functions += [target.function for target in called_by(link, int(a)) if target.function >= 0]
        elif of == Kind.INSTANCE:
            functions += special_functions(link, value, "__get__")
    return functions
