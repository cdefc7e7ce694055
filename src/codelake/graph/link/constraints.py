"""The facts of a unit as constraints between its slots."""

from __future__ import annotations

from codelake.graph.link.asking import add_keys, ask_looked_up
from codelake.graph.link.attributes import load
from codelake.graph.link.call import Call
from codelake.graph.link.containers import look_up
from codelake.graph.link.dicts import add_dicts
from codelake.graph.link.linking import ANY, KEY, Linking
from codelake.graph.link.making import add_classes
from codelake.graph.link.names import add_global, add_import
from codelake.graph.link.narrowing import among, if_instance, if_subclass
from codelake.graph.link.operators import compare, contain, operate
from codelake.graph.link.passing import add_public_defaults
from codelake.graph.link.protocols import (
    add_elements,
    aenter,
    aiterate,
    catch,
    delete_item,
    enter,
    formatted,
    iterate,
    load_item,
    raised,
    store_item,
    test,
    unpack,
    unpack_rest,
    wait_for,
)
from codelake.graph.link.stores import delete, store
from codelake.graph.link.types import add_annotations
from codelake.graph.link.values import Kind, Known

_WRAPPING = (Kind.PROPERTY, Kind.CLASSMETHOD, Kind.STATICMETHOD, Kind.MANAGER)
_FEW_CONSTANTS = 8
"""As many constants of a container are told apart by their keys, where they are of several types."""
_CONTAINERS = ("list", "tuple", "set", "dict", "generator")
_TRUTHS = ("Is", "IsNot", "In", "NotIn", "Not")
"""Operators that give True or False, whatever they are asked of."""


def add_names(link: Linking) -> None:
    """Names, imports, definitions, attributes: all that needs no call."""
    program, solver = link.program, link.solver
    for each in program.every_import():
        add_import(link, each)
    for fact in program.every("copy"):
        solver.copy(fact.src, fact.dst)
    for fact in program.every("global"):
        add_global(link, fact)
    for fact in program.every("load_attribute"):
        link.waits(fact.src, load, fact.key, fact.dst)
    for fact in program.every("load_item"):
        index = link.indices.get(fact.dst)
        ask_looked_up(link, fact, index)
        if index in link.lookups:
            look_up(link, index, fact)
            continue
        key = fact.key if index is None else link.key(index) or fact.key
        link.waits(fact.src, load_item, fact.scope, key, fact.dst)
    for fact in program.every("known"):
        solver.copy(fact.src, fact.dst)


def add_values(link: Linking, made: dict[int, int]) -> None:
    """Everything else. `made` are containers by the slot that makes them."""
    _add_stubs(link)
    _add_elements(link, made)
    _add_functions(link)
    _add_moves(link)
    _add_operators(link)
    add_public_defaults(link)
    add_annotations(link)
    add_calls(link)
    add_classes(link)
    _add_decorators(link)


def _add_stubs(link: Linking) -> None:
    """What a stub says of a function holds for the function beside it."""
    program, stubs = link.program, link.modules.stubs
    if not stubs:
        return
    for number, one in program.every_definition():
        stub = stubs.get(program.files[one.file].id)
        twin = None if stub is None else program.of_id.get(f"{program.files[stub].id}#{one.label}")
        if twin is None or one.kind != "function":
            continue
        link.solver.copy(link.returned(twin), link.returned(number))
        slots = {parameter.name: parameter.slot for parameter in program.definitions[twin].parameters}
        for parameter in one.parameters:
            if parameter.name in slots:
                link.solver.copy(slots[parameter.name], parameter.slot)


def add_made(link: Linking) -> dict[int, int]:
    """Containers by the slot that makes them."""
    made: dict[int, int] = {}
    constants = {f.dst: link.builtin(f.key) for f in link.program.every("make") if f.key not in _CONTAINERS}
    constants.update(dict.fromkeys(_truths(link), link.builtin("bool")))
    for slot, value in constants.items():
        link.solver.fix(slot, value)
    held: dict[int, list[tuple[str, int]]] = {}
    for fact in link.program.every("element"):
        held.setdefault(fact.dst, []).append((fact.key, fact.src))
    for fact in link.program.every("elements_of", "key"):
        held.setdefault(fact.dst, []).append((ANY, -1))
    # What is within another container comes behind it in the source, and is looked at first.
    for fact in sorted(link.program.every("make"), key=lambda fact: -fact.dst):
        if fact.key not in _CONTAINERS:
            continue
        every = held.get(fact.dst, [(ANY, -1)])
        elements = [(key, constants[slot]) for key, slot in every if slot in constants]
        if len(elements) < len(every):
            made[fact.dst] = link.container(fact.dst, fact.key)
            link.solver.fix(fact.dst, made[fact.dst])
        else:
            is_of_one = len({one for _, one in elements}) == 1 or len(elements) > _FEW_CONSTANTS
            known = {(ANY if is_of_one else key, one) for key, one in elements}
            if fact.key == "dict":
                known |= {(KEY, link.values.of_key(key)) for key, _ in elements if key != ANY}
            constants[fact.dst] = link.constants(fact.key, tuple(sorted(known)))
            link.solver.fix(fact.dst, constants[fact.dst])
    return made


def _truths(link: Linking) -> set[int]:
    """What gives True or False, and nothing else; in a chain of comparisons each may be what it gives."""
    found = {fact.dst for fact in link.program.every("operate", "compare") if fact.key in _TRUTHS}
    return found - {fact.dst for fact in link.program.every("compare") if fact.key not in _TRUTHS}


def _add_elements(link: Linking, made: dict[int, int]) -> None:
    program = link.program
    written: dict[int, list[tuple[int, str]]] = {}
    for node, fact in program.placed("element"):
        if fact.dst not in made:
            continue  # of constants
        link.solver.copy(fact.src, link.element(made[fact.dst], fact.key))
        written.setdefault(fact.dst, []).append((node, fact.key))
    for node, fact in program.placed("elements_of"):
        later = frozenset(key for at, key in written.get(fact.dst, ()) if at > node and key != ANY)
        link.waits(fact.src, add_elements, fact.scope, made[fact.dst], later)
    add_keys(link, made)


def _add_functions(link: Linking) -> None:
    program = link.program
    for fact in program.every("return"):
        number = program.of_slot.get(fact.dst)
        if number is None:
            continue
        is_parameter = any(parameter.slot == fact.src for parameter in program.definitions[number].parameters)
        if is_parameter or (not fact.key and fact.src in link.made):
            link.handed.setdefault(number, []).append((fact.src, fact.key))
        elif fact.key:
            slot = link.solver.named("returned where", number, fact.key)
            link.solver.copy(fact.src, slot)
            if (slot, fact.key) not in link.handed.setdefault(number, []):
                link.handed[number].append((slot, fact.key))
        else:
            link.solver.copy(fact.src, link.returned(number))
    for fact in program.every("yield"):
        number = program.of_slot.get(fact.dst)
        if number is not None:
            link.solver.copy(fact.src, link.yielded(number))
    for fact in program.every("yield_from"):
        number = program.of_slot.get(fact.dst)
        if number is not None:
            link.waits(fact.src, iterate, fact.scope, link.yielded(number))


def _add_moves(link: Linking) -> None:
    every = link.program.every
    for fact in every("store_attribute"):
        link.waits(fact.dst, store, fact.scope, fact.key, fact.src)
    add_dicts(link)
    for fact in every("delete_attribute"):
        link.waits(fact.src, delete, fact.scope, fact.key)
    for fact in every("store_item"):
        link.waits(fact.dst, store_item, fact.scope, fact.key, fact.src)
    for kind, does in (("unpack", unpack), ("unpack_rest", unpack_rest)):
        for fact in every(kind):
            link.waits(fact.src, does, fact.scope, fact.key, fact.dst)
    for kind, move in (
        ("iterate", iterate),
        ("aiterate", aiterate),
        ("await", wait_for),
        ("enter", enter),
        ("aenter", aenter),
    ):
        for fact in every(kind):
            link.waits(fact.src, move, fact.scope, fact.dst)
    for fact in every("catch", "narrow"):
        link.waits(fact.src, catch, fact.dst)
    for kind, pass_on in (("narrow", if_instance), ("narrow_class", if_subclass)):
        for fact in every(kind):
            link.waits(link.program.beside[fact.dst], among, pass_on, fact.src, fact.dst)
    for fact in every("narrow_class"):
        link.solver.copy(fact.src, fact.dst)
    for fact in every("format"):
        link.solver.add(fact.dst, link.builtin("str"))
    for kind, ask in (("format", formatted), ("test", test), ("delete_item", delete_item), ("raise", raised)):
        for fact in every(kind):
            link.waits(fact.src, ask, fact.scope)
    for fact in every("sent"):
        number = link.program.of_slot.get(fact.src)
        if number is not None:
            link.solver.copy(link.solver.named("sent", number), fact.dst)


def _add_operators(link: Linking) -> None:
    operands: dict[int, list[int]] = {}
    for fact in link.program.every("operand"):
        operands.setdefault(fact.dst, []).append(fact.src)
    constants = {fact.dst: fact.key for fact in link.program.every("make") if fact.key in ("float", "complex")}
    for fact in link.program.every("operate"):
        operand = operands.get(fact.dst, [-1])[0]
        link.waits(fact.src, operate, fact.scope, fact.key, operand, constants.get(operand, ""), fact.dst)
    numbers: dict[int, int] = {}
    for fact in link.program.every("compare"):
        number = numbers[fact.dst] = numbers.get(fact.dst, -1) + 1
        operand = operands[fact.dst][number]
        if fact.key in ("In", "NotIn"):
            link.waits(operand, contain, fact.scope, fact.src, fact.dst)
        else:
            link.waits(fact.src, compare, fact.scope, fact.key, fact.dst)


# calls -------------------------------------------------------------------------------------------


def add_calls(link: Linking) -> None:
    program = link.program
    made: dict[int, Call] = {}
    for node, fact in program.placed("call"):
        made[fact.dst] = Call(fact.scope, fact.src, fact.dst, node, is_written=True)
    for fact in program.every("argument"):
        call = made[fact.dst]
        if fact.key == "*":
            call.stars = (*call.stars, (len(call.positional), fact.src))
        elif fact.key == "**":
            call.double_stars = (*call.double_stars, fact.src)
        elif fact.key == "?":
            call.late = (*call.late, fact.src)
        elif fact.key.startswith("="):
            call.keywords = {**call.keywords, fact.key[1:]: fact.src}
        else:
            call.positional = (*call.positional, fact.src)
    link.written = list(made.values())
    for call in link.written:
        link.make_call(call)


def _add_decorators(link: Linking) -> None:
    """A definition goes through its decorators, the innermost first; its slot holds what comes out."""
    program, solver = link.program, link.solver
    decorators: dict[int, list[tuple[int, int, int]]] = {}
    for fact in program.every("decorate"):
        decorators.setdefault(fact.dst, []).append((int(fact.key), fact.src, fact.scope))
    for slot, found in decorators.items():
        one = program.definitions[program.of_slot[slot]]
        inner = link.bare[slot]
        for position, decorator, scope in sorted(found, reverse=True):
            result = slot if position == 0 else solver.named("decorated", slot, position)
            given = solver.named("given", slot, position)
            call = Call(scope, decorator, given, positional=[inner], is_decorator=True)
            link.waits(given, _come_out, (one.scope, one.name), result)
            link.decorated.append((call, result))
            link.make_call(call)
            inner = result


def _come_out(link: Linking, name: tuple[int, str], result: int, value: int) -> None:
    """What a decorator gives: what it was given, perhaps wrapped, but not what it was given elsewhere. What it makes
    itself is defined within a function."""
    one = value
    while link.values.keys[one][0] in _WRAPPING:
        one = link.values.keys[one][1]
    kind, number, _ = link.values.keys[one]
    if kind not in (Kind.FUNCTION, Kind.CLASS) or link.outer.get(number, name) == name:
        link.solver.add(result, value)


def add_bare(link: Linking) -> None:
    """Definitions as they are before decorators."""
    decorated = {fact.dst for fact in link.program.every("decorate")}
    for number, one in link.program.every_definition():
        if one.kind == "module":
            continue
        if one.slot in decorated:
            link.bare[one.slot] = link.holding(link.defined[number])
        else:
            link.solver.add(one.slot, link.defined[number])


# what has no caller ------------------------------------------------------------------------------


def add_entries(link: Linking) -> None:
    """What nobody of the unit calls may be called by others: methods by instances of their class, functions with
    their defaults. A decorator of which nothing is known, or not what it gives, gives what it is given."""
    program, solver = link.program, link.solver
    unknown = [(call, result) for call, result in link.decorated if not link.holds(result)]
    left = [(default, slot) for default, slot in solver.marked("perhaps") if not solver.of(slot)]
    called = solver.marked("called")
    looked_up: dict[int, list[int]] = {}
    for fact in program.every("load_item") if link.lookups else ():
        if link.indices.get(fact.dst) in link.lookups:
            looked_up.setdefault(link.indices[fact.dst], []).append(fact.dst)
    for number, one in enumerate(program.definitions):
        if one.kind not in ("function", "lambda") or number in called:
            continue
        for parameter in one.parameters:
            default = link.defaults.get(parameter.slot)
            if default is not None:
                solver.copy(default, parameter.slot)
            for slot in looked_up.get(parameter.slot, ()):
                solver.copy(solver.named("looked up", slot), slot)
            if parameter.kind in ("var_positional", "var_keyword"):
                type_name = "tuple" if parameter.kind == "var_positional" else "dict"
                solver.add(parameter.slot, link.container(parameter.slot, type_name))
    for one in program.definitions:
        if one.kind == "function" and one.owner >= 0 and one.parameters:
            first = one.parameters[0]
            if first.kind.startswith("positional") and not solver.of(first.slot):
                owner = link.defined[one.owner]
                is_of_class = one.name in ("__new__", "__init_subclass__", "__class_getitem__") or _is_classmethod(
                    link, one.slot
                )
                if not _is_static(link, one.slot):
                    solver.add(first.slot, owner if is_of_class else link.instance(owner, Known.SAID))
    for default, parameter_slot in left:
        solver.copy(default, parameter_slot)
    for slot in {fact.dst for fact in program.every("compare") if not solver.of(fact.dst)}:
        solver.add(slot, link.builtin("bool"))  # of what nothing is known; few classes say otherwise
    for call, result in unknown:
        for slot in call.positional:
            solver.copy(slot, result)


def _is_classmethod(link: Linking, slot: int) -> bool:
    return any(link.values.keys[value][0] == Kind.CLASSMETHOD for value in link.solver.of(slot))


def _is_static(link: Linking, slot: int) -> bool:
    return any(link.values.keys[value][0] == Kind.STATICMETHOD for value in link.solver.of(slot))
