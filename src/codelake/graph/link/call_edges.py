"""Edges of calls, written and implied, and the call sites themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from codelake.contracts.claims import ORIGINS
from codelake.graph.link.attributes import provider
from codelake.graph.link.call import Call
from codelake.graph.link.found import FEW, NONE, Candidates, Edge, Found, Site
from codelake.graph.link.parts import Fact
from codelake.graph.link.reasons import Reasons
from codelake.graph.link.targets import (
    HOW_SURE,
    MAX_TARGETS,
    OVERRIDES,
    TOO_MANY,
    TOO_MANY_EVERYWHERE,
    Target,
    called_by,
    caller_confidence,
    confidence,
    functions_in,
    is_named,
    overriding,
    parameter_of,
    special_functions,
)
from codelake.graph.link.too_many import called_everywhere, many_in
from codelake.graph.link.values import Kind, Known, is_derived
from codelake.ids import external_id


def add_calls(links: Found) -> None:
    link, program = links.link, links.program
    reasons, called = Reasons(links), _Called(links)
    places, everywhere = _call_places(links), called_everywhere(link)
    arguments = _arguments(links)
    for call in link.written:
        file = program.scope_files[call.scope]
        if not links.is_own[file]:
            continue
        found = called.of(call)
        if links.weighed is not None:
            found = links.weighed(file, "CALLS", call.node, found)
        caller = program.around(call.scope).id
        reason = None
        if found.rivals > MAX_TARGETS or many_in(link, call.callee):
            for target in found.targets if found.rivals <= MAX_TARGETS else ():
                called.add_callee(file, caller, target, found.rivals)
            found, reason = NONE, "too many"
        elif not found.targets:
            reason = reasons.of(call)
            derived = reasons.derived(call.callee)
            if derived is not None and is_derived(derived):
                _add_derived(links, file, call, derived)
        _add_too_many(links, file, caller, call, everywhere)
        best = found.best
        links.add_candidates(file, "CALLS", found, node=call.node, origin=_origin(found.targets))
        links.calls[file].append(
            Site(
                places[file][call.node],
                caller,
                best and best.id,
                len(found.targets),
                best and confidence(best.sure, found.rivals),
                best and best.method,
                reason,
            )
        )
        for target in found.targets:
            called.add_callee(file, caller, target, found.rivals)
            if found.rivals <= FEW and target.method != "override":
                _add_passes(links, file, arguments.get(call.result, ()), call, target)
    for call in link.solver.marked("call"):  # what partials and known functions call on behalf of a written call
        file = program.scope_files[call.scope]
        if call.scope >= 0 and links.is_own[file] and (call.through or not call.is_written):
            found, caller = called.of(call), program.around(call.scope).id
            for target in found.targets if found.rivals <= MAX_TARGETS else ():
                called.add_callee(file, caller, target, found.rivals)
            _add_too_many(links, file, caller, call, everywhere)


class _Called:
    """What calls may call, by what their callees hold, and who is then called."""

    def __init__(self, links: Found) -> None:
        self._links = links
        self._found: dict[tuple[frozenset[int], bool, Known], Candidates] = {}
        self._callees: dict[str, list[tuple[str, float]]] = {}
        self._loaded_from = {fact.dst: fact.src for fact in _loads_of_callees(links)}
        self._guessed: dict[frozenset[int], Known] = {}

    def of(self, call: Call) -> Candidates:
        link = self._links.link
        held, is_name = link.solver.of(call.callee), not call.through and is_named(link, call.callee)
        guess = self._guess(call.callee) if held else Known.MADE
        found = self._found.get((held, is_name, guess))
        if found is None:
            every = (target for value in held for target in called_by(link, value, is_name=is_name))
            if guess != Known.MADE:
                method, most = HOW_SURE[guess]
                every = (t if t.sure <= most else t._replace(method=method, sure=most) for t in every)
            found = self._found[held, is_name, guess] = Candidates(every)
        return found

    def _guess(self, callee: int) -> Known:
        """What is stored on something whose class is a guess is no surer than that."""
        link = self._links.link
        receivers = link.solver.of(self._loaded_from.get(callee, link.nowhere))
        if receivers not in self._guessed:
            guess = min(map(link.known, receivers), default=Known.MADE)
            self._guessed[receivers] = guess if guess in (Known.SHAPE, Known.NAME) else Known.MADE
        return self._guessed[receivers]

    def add_callee(self, file: int, caller: str, target: Target, n: int) -> None:
        """CALLER_OF."""
        sure = caller_confidence(target.sure, 1 if target.method == "override" else n)
        callees = self._callees.get(target.id)
        if callees is None:
            callees = self._callees[target.id] = list(_callees(self._links, target.id))
        for callee, most in callees:
            self._links.note_caller(file, caller, callee, min(sure, most), target.method)


def _loads_of_callees(links: Found) -> Iterator[Fact]:
    """The loads of attributes that are called, wherever they stand: a partial may be called in another file."""
    link, program = links.link, links.program
    calls = (call for call in link.solver.marked("call") if call.scope >= 0)
    callees = {call.callee for call in calls if links.is_own[program.scope_files[call.scope]]}
    return program.into("load_attribute", callees)


def _callees(links: Found, target: str) -> Iterator[tuple[str, float]]:
    """Who is called, and how sure that can be: of a class its `__init__`, where it has one, also of one outside."""
    number = links.program.of_id.get(target)
    if number is None or links.program.definitions[number].kind != "class":
        yield target, 1.0
        return
    made_by = [links.program.definitions[one].id for one in _made_by(links, number)]
    yield from ((one, 1.0) for one in made_by or [target])
    outer = None if made_by else _base_outside(links, number)
    if outer is not None:
        yield external_id(f"{outer}.__init__"), 0.6


def _add_too_many(links: Found, file: int, caller: str, call: Call, everywhere: set[int]) -> None:
    """Of functions that are too many to follow, such as all that a decorator is put on, it is still known that they
    are called."""
    link = links.link
    for slot in many_in(link, call.callee):
        sure = TOO_MANY_EVERYWHERE if slot in everywhere else TOO_MANY
        for value in link.solver.kept_out(slot):
            for target in called_by(link, value):
                links.note_caller(file, caller, target.id, sure, "flow")


def _add_derived(links: Found, file: int, call: Call, name: str) -> None:
    """A name on the result of external code is a method of its own, and no target."""
    edge = Edge("CALLS", call.node, None, external_id(name), "flow", "derived", 0.3, None, 1)
    links.edges[file].append(edge)


def _base_outside(links: Found, number: int) -> str | None:
    """The first base that no repository of the lake defines, nor Python."""
    for one in links.link.hierarchy.order(links.link.defined[number]):
        kind, name, _ = links.link.values.keys[one]
        if kind == Kind.EXTERNAL:
            return None if str(name).startswith("builtins.") else str(name)
    return None


def _made_by(links: Found, number: int) -> list[int]:
    """The functions that calling a class calls."""
    link, value = links.link, links.link.defined[number]
    metaclass = link.metaclasses.get(value)
    if metaclass is not None:
        slot = provider(link, link.hierarchy.order(metaclass), "__call__")
        if slot is not None:
            return functions_in(link, slot)
    order = link.hierarchy.order(value)
    names = ("__new__", "__init__") if value in link.solver.marked("started") else ("__new__",)
    slots = [slot for name in names if (slot := provider(link, order, name)) is not None]
    return [one for slot in slots for one in functions_in(link, slot)]


def _arguments(links: Found) -> dict[int, list[tuple[int, str]]]:
    """By slot of a written call's result: nodes and keys of what it passes."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for node, fact in links.placed("argument"):
        found[fact.dst].append((node, fact.key))
    return found


def _add_passes(links: Found, file: int, arguments: Iterable[tuple[int, str]], call: Call, target: Target) -> None:
    functions = [(target.function, target.shift)] if target.function >= 0 else _starters(links, target.id)
    if target.id == external_id("functools.partial") and call.positional:
        held = links.link.solver.of(call.positional[0])
        functions = [(t.function, t.shift - 1) for v in held for t in called_by(links.link, v) if t.function >= 0]
    for number, shift in functions:
        function = links.program.definitions[number]
        for node, key in arguments:
            name = parameter_of(function, key, shift)
            if name is not None:
                dst = f"{function.id}({name})"
                origin = _claimed_or_flow(target.method)
                links.edges[file].append(
                    Edge("PASSES_TO", node, None, dst, origin, target.method, target.sure, None, 1)
                )


def _starters(links: Found, of: str) -> list[tuple[int, int]]:
    """The `__init__` of a class, which takes what the class is called with."""
    number = links.program.of_id.get(of)
    if number is None or links.program.definitions[number].kind != "class":
        return []
    slot = provider(links.link, links.link.hierarchy.order(links.link.defined[number]), "__init__")
    return [] if slot is None else [(one, 1) for one in functions_in(links.link, slot)]


def add_implied(links: Found) -> None:
    """What Python calls by itself."""
    known: dict[tuple[int, str], list[tuple[str, float]]] = {}
    for scope, value, name in links.link.solver.marked("implied"):
        file = links.program.scope_files[scope]
        if links.is_own[file]:
            caller = links.program.around(scope).id
            called = known.get((value, name))
            if called is None:
                called = known[value, name] = list(_called_special(links, value, name))
            for callee, sure in called:
                links.note_caller(file, caller, callee, sure, "protocol")
    for scope, number in links.link.solver.marked("implied function"):
        file = links.program.scope_files[scope]
        if links.is_own[file]:
            callee = links.program.definitions[number].id
            links.note_caller(file, links.program.around(scope).id, callee, 0.8, "protocol")


def _called_special(links: Found, value: int, name: str) -> Iterator[tuple[str, float]]:
    """The special method of a value, and those of classes below, with how sure that is."""
    sure = min(0.8, HOW_SURE[links.link.known(value)][1])
    for number in special_functions(links.link, value, name):
        yield links.program.definitions[number].id, sure
    for number in overriding(links.link, value, name):
        yield links.program.definitions[number].id, OVERRIDES[links.link.known(value)]


def add_callers(links: Found) -> None:
    while links.callers:  # they are many: no two of both at a time
        (file, caller, callee), (sure, method) = links.callers.popitem()
        origin = "names" if method == "name" else _claimed_or_flow(method)
        links.edges[file].append(Edge("CALLER_OF", -1, caller, callee, origin, method, sure, None, 1))


def _claimed_or_flow(method: str) -> str:
    return method if method in ORIGINS else "flow"


def _origin(found: list[Target]) -> str:
    return "names" if found and all(target.method in ("name", "builtin", "import") for target in found) else "flow"


def _call_places(links: Found) -> dict[int, dict[int, int]]:
    """By file and node: the place of a call in the evidence."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for file, place, node in links.program.call_places(links.files):
        found[file][node] = place
    return found
