"""From values to ids: what a call calls, what an attribute is, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from codelake.graph.link.attributes import provider
from codelake.graph.link.linking import Linking
from codelake.graph.link.parts import Definition, Import
from codelake.graph.link.values import Kind, Known, is_derived
from codelake.ids import external_id

MAX_TARGETS = 24
"""More candidates than this say nothing about a call."""


class Target(NamedTuple):
    id: str
    method: str
    sure: float
    """How sure the way is that led to it, if it is the only one."""
    function: int = -1
    """Its definition, if it is a function of the unit."""
    shift: int = 0
    """How many parameters are filled before the first argument."""


HOW_SURE = {
    Known.MADE: ("receiver", 0.95),
    Known.SAID: ("receiver", 0.95),
    Known.SHAPE: ("shape", 0.6),
    Known.NAME: ("guess", 0.5),
}
"""By how the class of a receiver is known: the method of what follows, and how sure it is."""
OVERRIDE = 0.5
"""A method of a class below that of the receiver, at most."""
OVERRIDES = {known: min(OVERRIDE, sure) for known, (_, sure) in HOW_SURE.items()}
TOO_MANY = 0.5
"""That one of very many functions is called at a place, now or then."""
TOO_MANY_EVERYWHERE = 0.1
"""The same, where very many places may call any of them: each calls hardly more than its own."""
_CERTAIN = 0.9


@cache
def confidence(sure: float, n: int) -> float:
    """Of one among n candidates of a call: certain ways lose a tenth for each further one, until they are as good as a
    guess."""
    return round(max(sure - 0.1 * (n - 1), min(sure, 0.2 if n > 8 else 0.3)), 2)


@cache
def caller_confidence(sure: float, n: int) -> float:
    """That a function calls one of n candidates, now or then: more of them make each hardly less likely. What flows
    there for certain, such as each function of a table, is no less likely than one of those that are too many."""
    return round(max(sure - 0.03 * (n - 1), TOO_MANY if sure >= _CERTAIN else min(sure, 0.3)), 2)


def surest(found: Iterable[Target]) -> list[Target]:
    """Of each id the surest, sorted."""
    best: dict[str, Target] = {}
    for target in found:
        known = best.get(target.id)
        if known is None or (target.sure, target) > (known.sure, known):
            best[target.id] = target
    return sorted(best.values())


def called_by(link: Linking, value: int, *, is_name: bool = False) -> list[Target]:
    """What a call of a value calls. `is_name`: of what is called by its own name."""
    kind, a, b = link.values.keys[value]
    if kind == Kind.FUNCTION:
        return [_function(link, a, "name", 1.0) if is_name else _function(link, a, "flow", 0.9)]
    if kind == Kind.BOUND:
        of, number, _ = link.values.keys[a]
        if of != Kind.FUNCTION:
            return called_by(link, a, is_name=is_name)
        if link.values.keys[int(b)][0] == Kind.CLASS:
            return [_function(link, number, "class", 0.95, shift=1)]
        method, sure = HOW_SURE[link.known(int(b))]
        return [_function(link, number, method, sure, shift=1), *_overriding(link, number, int(b))]
    if kind == Kind.CLASS:
        method, sure = ("name", 1.0) if is_name else ("flow", 0.9)
        return [Target(link.program.definitions[a].id, method, sure)]
    if kind == Kind.BELOW:
        below = [one for one in link.hierarchy.subclasses.get(a, ()) if "__init__" in link.members.get(one, ())]
        found = [Target(link.definition(one).id, "override", OVERRIDE) for one in below]
        return [*called_by(link, a, is_name=is_name), *found]
    if kind == Kind.INSTANCE:
        return _of_instance(link, value, "__call__")
    if kind == Kind.EXTERNAL:
        return _external(link, str(a))
    if kind == Kind.METHOD:
        return [Target(external_id(f"builtins.{_type_name(link, a)}.{b}"), "receiver", 0.9)]
    if kind in (Kind.STATICMETHOD, Kind.CLASSMETHOD, Kind.MANAGER):
        return called_by(link, int(a), is_name=is_name)
    if kind == Kind.PARTIAL:
        made = link.partials[value]
        slots = made.positional[:1]
        inner = [called_by(link, one) for slot in slots for one in link.solver.of(slot) if one != value]
        n = len(made.positional) - 1
        return [target._replace(shift=target.shift + n) for found in inner for target in found]
    if kind == Kind.SETTER:
        return [Target(external_id(f"builtins.property.{b}"), "receiver", 0.9)]
    return []


def _function(link: Linking, number: int, method: str, sure: float, *, shift: int = 0) -> Target:
    return Target(link.program.definitions[number].id, method, sure, number, shift)


def _overriding(link: Linking, number: int, receiver: int) -> list[Target]:
    """Where the receiver may be of a class below: the methods that classes below have in place of a method."""
    name = link.program.definitions[number].name
    sure = OVERRIDES[link.known(receiver)]
    found = overriding(link, receiver, name, number)
    return [_function(link, one, "override", sure, shift=1) for one in found if one != number]


def overriding(link: Linking, receiver: int, name: str, number: int | None = None) -> list[int]:
    """The methods of a name in classes below that of a receiver, of which `number` is the method."""
    if link.known(receiver) == Known.MADE:
        return []
    own = provider(link, link.hierarchy.order(link.class_of(receiver)), name)
    if number is not None and (own is None or number not in functions_in(link, own)):
        return []  # by `super()`: what is below does not matter
    below = link.hierarchy.below(link.class_of(receiver))
    slots = [slot for one in below if (slot := link.members.get(one, {}).get(name)) is not None]
    return sorted({number for slot in slots for number in functions_in(link, slot)})


def _external(link: Linking, name: str) -> list[Target]:
    if is_derived(name):
        return []
    if name.startswith("builtins."):
        return [Target(external_id(name), "builtin", 0.95)]
    stub = link.stubs.find(name)
    is_method = stub is not None and stub.kind == "method"
    return [Target(external_id(name), "receiver", 0.9) if is_method else Target(external_id(name), "import", 0.95)]


def _of_instance(link: Linking, value: int, name: str) -> list[Target]:
    method, sure = HOW_SURE[link.known(value)]
    own = [_function(link, number, method, min(sure, 0.9), shift=1) for number in special_functions(link, value, name)]
    below = [one for one in overriding(link, value, name) if all(one != target.function for target in own)]
    return own + [_function(link, number, "override", OVERRIDES[link.known(value)], shift=1) for number in below]


def special_functions(link: Linking, value: int, name: str) -> list[int]:
    """The functions that are a special method of an instance of the unit."""
    of = link.class_of(value)
    if link.values.keys[of][0] != Kind.CLASS:
        return []
    slot = provider(link, link.hierarchy.order(of), name)
    return [] if slot is None else functions_in(link, slot)


def functions_in(link: Linking, slot: int) -> list[int]:
    """The functions that a slot holds, also under what classes wrap methods in."""
    found = set()
    for value in link.solver.of(slot):
        kind, a, _ = link.values.keys[value]
        while kind in (Kind.PROPERTY, Kind.CLASSMETHOD, Kind.STATICMETHOD, Kind.MANAGER, Kind.BOUND):
            kind, a, _ = link.values.keys[int(a)]
        if kind == Kind.FUNCTION:
            found.add(a)
    return sorted(found)


def _type_name(link: Linking, value: int) -> str:
    kind, _, name = link.values.keys[value]
    if kind in (Kind.FUNCTION, Kind.EXTERNAL):
        return "function"
    return str(name) if kind == Kind.CONTAINER else "generator"


def is_named(link: Linking, slot: int) -> bool:
    """Whether a slot is just the name of a definition or of something imported."""
    return slot in link.program.of_slot or slot in link.imports


def type_id(link: Linking, value: int) -> str | None:
    """The type of which a value is."""
    kind, a, b = link.values.keys[value]
    if kind == Kind.INSTANCE:
        of, text, _ = link.values.keys[a]
        if of == Kind.CLASS:
            return f"{link.program.definitions[text].id}@type"
        return None if is_derived(str(text)) else f"{external_id(str(text))}@type"
    if kind == Kind.CONTAINER:
        return f"{external_id(_CONTAINERS.get(str(b), f'builtins.{b}'))}@type"
    if kind == Kind.EXTERNAL:
        stub = link.stubs.find(str(a))
        name = None if stub is None else _TYPES_OF_STUBS.get(stub.kind)
    else:
        name = _TYPES.get(kind)
    return None if name is None else f"{external_id(name)}@type"


_TYPES = {
    Kind.FUNCTION: "types.FunctionType",
    Kind.BOUND: "types.MethodType",
    Kind.METHOD: "types.BuiltinMethodType",
    Kind.CLASS: "builtins.type",
    Kind.BELOW: "builtins.type",
    Kind.MODULE: "types.ModuleType",
    Kind.GENERATOR: "types.GeneratorType",
    Kind.COROUTINE: "types.CoroutineType",
    Kind.PARTIAL: "functools.partial",
    Kind.PROPERTY: "builtins.property",
}
"""What is no instance of a class of the lake, by kind."""
_CONTAINERS = {
    "generator": "types.GeneratorType",
    "iterator": "collections.abc.Iterator",
    "deque": "collections.deque",
}
_TYPES_OF_STUBS = {
    "function": "types.FunctionType",
    "method": "types.BuiltinMethodType",
    "class": "builtins.type",
    "module": "types.ModuleType",
}


# names of modules --------------------------------------------------------------------------------


def module_id(link: Linking, value: int) -> str:
    _, file, name = link.values.keys[value]
    if file >= 0:
        return f"{link.program.files[file].id}#<module>"
    return link.modules.folders[str(name)]  # a package without a file of its own: its folder


def things_of_import(link: Linking, one: Import, seen: frozenset[tuple[int, str]] = frozenset()) -> list[str]:
    """What an import names: a module, or what the module has under the name."""
    target = link.modules.target(one)
    if target is None or one.name == "*":
        return []
    if one.name is None:
        return [_module_or_external(link, target, one.file)]
    file = link.modules.found(target, one.file)
    below = link.modules.found(f"{target}.{one.name}", one.file)
    if file is None or (file == one.file and below is not None):
        return [_module_or_external(link, f"{target}.{one.name}", one.file)]
    return things(link, file, one.name, seen)


def things_bound(link: Linking, one: Import) -> list[str]:
    """What the name means that an import binds: `import a.b` names a.b, and binds a."""
    target = link.modules.target(one)
    if one.name is None and one.as_name is None and target is not None:
        return [_module_or_external(link, target.partition(".")[0], one.file)]
    return things_of_import(link, one)


def _module_or_external(link: Linking, name: str, asking: int) -> str:
    file = link.modules.found(name, asking)
    if file is not None:
        return f"{link.program.files[file].id}#<module>"
    if link.modules.is_package(name):
        return module_id(link, link.values.make(Kind.MODULE, -1, name))
    return external_id(name)


def things(link: Linking, file: int, name: str, seen: frozenset[tuple[int, str]] = frozenset()) -> list[str]:
    """What a module's attribute is: definitions, variables and modules, through imports and stars."""
    if (file, name) in seen:
        return []
    seen = seen | {(file, name)}
    slot = link.modules.names[file].get(name)
    own = link.program.files[file]
    if slot is not None:
        found: list[str] = []
        for source in link.stores.get(slot, [slot]):
            if source in link.imports:
                one = link.imports[source]
                found += things_of_import(link, one, seen) if one.name else things_bound(link, one)
            elif source in link.program.of_slot and link.program.definitions[link.program.of_slot[source]].file == file:
                found.append(link.program.definitions[link.program.of_slot[source]].id)
            else:
                found.append(f"{own.id}#:{name}")
        return sorted(set(found))
    for source_name in link.modules.bringing(file, name):
        brought = link.modules.found(source_name, file)
        return [external_id(f"{source_name}.{name}")] if brought is None else things(link, brought, name, seen)
    if own.module is not None:
        below = f"{own.module}.{name}"
        if link.modules.found(below, file) is not None or link.modules.is_package(below):
            return [_module_or_external(link, below, file)]
    return []


def parameter_of(function: Definition, key: str, shift: int) -> str | None:
    """The name of the parameter that an argument fills, by its position or keyword."""
    if key.startswith("="):
        name = key[1:]
        if any(p.name == name and p.kind in ("positional", "keyword_only") for p in function.parameters):
            return name
        return next((p.name for p in function.parameters if p.kind == "var_keyword"), None)
    if not key.isdigit():
        return None
    places = [p for p in function.parameters if p.kind in ("positional", "positional_only")]
    place = int(key) + shift
    if place < 0:
        return None  # what a partial is made of
    if place < len(places):
        return places[place].name
    return next((p.name for p in function.parameters if p.kind == "var_positional"), None)
