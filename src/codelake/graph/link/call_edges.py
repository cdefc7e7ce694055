"""Edges of calls, written and implied, and the call sites themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from codelake.graph.link.attributes import provider
from codelake.graph.link.found import FEW, Edge, Found, Site
from codelake.graph.link.linking import Call, Linking
from codelake.graph.link.reasons import Reasons
from codelake.graph.link.targets import (
    HOW_SURE,
    MAX_TARGETS,
    OVERRIDE,
    TOO_MANY,
    Target,
    called_by,
    caller_confidence,
    confidence,
    functions_in,
    n_rivals,
    overriding,
    parameter_of,
    special_functions,
    targets,
)
from codelake.graph.link.values import Kind, is_derived
from codelake.ids import external_id


def add_calls(links: Found) -> None:
    link, program = links.link, links.program
    reasons = Reasons(link)
    places = _call_places(link)
    arguments = _arguments(links)
    more: dict[int, list[Call]] = defaultdict(list)
    for call in link.calls:  # what partials and known functions call on behalf of a written call
        if call.scope >= 0 and (call.number < 0 or call is not link.written[call.number]):
            more[call.number].append(call)
    for call in link.written:
        file = program.scope_files[call.scope]
        if not links.is_own[file]:
            continue
        found = targets(link, call)
        caller = program.around(call.scope)
        reason = None
        rivals = n_rivals(found)
        if rivals > MAX_TARGETS:
            found, reason = [], "too many"
        elif not found:
            reason = reasons.of(call)
            if reason == "too many":
                _add_too_many(links, file, caller.id, reasons.too_large(call.callee))
            derived = reasons.derived(call.callee)
            if derived is not None and is_derived(derived):
                _add_derived(links, file, call, derived)
        links.add_candidates(file, "CALLS", found, node=call.node, origin=_origin(found))
        best = max(found, key=lambda t: (t.sure, t.id), default=None)
        links.calls[file].append(
            Site(
                places[file][call.node],
                caller.id,
                best and best.id,
                len(found),
                best and confidence(best.sure, rivals),
                best and best.method,
                reason,
            )
        )
        for target in found:
            _add_callee(links, file, call, target, rivals)
            if rivals <= FEW and target.method != "override":
                _add_passes(links, file, arguments.get(call.number, ()), call, target)
    for call in more[-1] + [one for number, every in more.items() if number >= 0 for one in every]:
        file = program.scope_files[call.scope]
        if links.is_own[file]:
            found = targets(link, call)
            rivals = n_rivals(found)
            for target in found if rivals <= MAX_TARGETS else ():
                _add_callee(links, file, call, target, rivals)


def _add_too_many(links: Found, file: int, caller: str, slots: Iterable[int]) -> None:
    """Of functions that are too many to follow, such as all that a decorator is put on, it is still known that they
    are called."""
    for value in {value for slot in slots for value in links.link.solver.kept_out(slot)}:
        if links.link.values.keys[value][0] == Kind.FUNCTION:
            links.note_caller(file, caller, links.link.definition(value).id, TOO_MANY, "flow")


def _add_derived(links: Found, file: int, call: Call, name: str) -> None:
    """A name on the result of external code is a method of its own, and no target."""
    edge = Edge("CALLS", call.node, None, external_id(name), "flow", "derived", 0.3, None, 1)
    links.edges[file].append(edge)


def _add_callee(links: Found, file: int, call: Call, target: Target, n: int) -> None:
    """CALLER_OF: a class is called by its `__init__`, where it has one, be it of a class outside."""
    caller = links.program.around(call.scope).id
    sure = caller_confidence(target.sure, 1 if target.method == "override" else n)
    callees = [target.id]
    number = links.program.of_id.get(target.id)
    if number is not None and links.program.definitions[number].kind == "class":
        callees = [links.program.definitions[one].id for one in _made_by(links, number)] or callees
        if callees == [target.id] and (outer := _base_outside(links, number)) is not None:
            links.note_caller(file, caller, external_id(f"{outer}.__init__"), min(sure, 0.6), target.method)
    for callee in callees:
        links.note_caller(file, caller, callee, sure, target.method)


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
    names = ("__new__", "__init__") if value in link.started else ("__new__",)
    slots = [slot for name in names if (slot := provider(link, order, name)) is not None]
    return [one for slot in slots for one in functions_in(link, slot)]


def _arguments(links: Found) -> dict[int, list[tuple[int, str]]]:
    """By written call: nodes and keys of what it passes."""
    numbers = {call.result: call.number for call in links.link.written}
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for node, fact in links.program.placed("argument"):
        found[numbers[fact.dst]].append((node, fact.key))
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
                links.edges[file].append(
                    Edge("PASSES_TO", node, None, dst, "flow", target.method, target.sure, None, 1)
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
    for scope, value, name in links.link.implied:
        file = links.program.scope_files[scope]
        if links.is_own[file]:
            caller = links.program.around(scope).id
            sure = min(0.8, HOW_SURE[links.link.known(value)][1])
            for number in special_functions(links.link, value, name):
                links.note_caller(file, caller, links.program.definitions[number].id, sure, "protocol")
            for number in overriding(links.link, value, name):
                links.note_caller(file, caller, links.program.definitions[number].id, min(sure, OVERRIDE), "protocol")
    for scope, number in links.link.implied_functions:
        file = links.program.scope_files[scope]
        if links.is_own[file]:
            callee = links.program.definitions[number].id
            links.note_caller(file, links.program.around(scope).id, callee, 0.8, "protocol")


def add_callers(links: Found) -> None:
    for (file, caller, callee), (sure, method) in links.callers.items():
        origin = "names" if method == "name" else "flow"
        links.edges[file].append(Edge("CALLER_OF", -1, caller, callee, origin, method, sure, None, 1))


def _origin(found: list[Target]) -> str:
    return "names" if found and all(target.method in ("name", "builtin", "import") for target in found) else "flow"


def _call_places(link: Linking) -> dict[int, dict[int, int]]:
    """By file and node: the place of a call in the evidence."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for file, place, node in zip(*(column.tolist() for column in link.program.calls), strict=True):
        found[file][node] = place
    return found
