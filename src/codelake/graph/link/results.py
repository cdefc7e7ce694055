"""Rows of `links` from a solved unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import LINKS
from codelake.graph.link.attributes import provider
from codelake.graph.link.linking import Call, Linking
from codelake.graph.link.reasons import Reasons
from codelake.graph.link.targets import (
    MAX_TARGETS,
    Target,
    called_by,
    confidence,
    functions_in,
    parameter_of,
    special_functions,
    surest,
    targets,
    things,
    things_of_import,
    type_id,
)
from codelake.graph.link.values import Kind, is_derived
from codelake.ids import external_id

SCHEMA = pa.schema([one for one in arrow_schema(LINKS) if one.name != "made_from"])
_FEW = 6
"""Types, attributes and parameters with more candidates than this are left out."""


class Edge(NamedTuple):
    kind: str
    node: int
    src: str | None
    dst: str
    origin: str
    method: str
    confidence: float
    score: float | None
    n: int


def links(link: Linking) -> pa.Table:
    found = _Links(link)
    for part in (found.add_calls, found.add_implied, found.add_imports, found.add_attributes, found.add_classes):
        part()
    found.add_types()
    found.add_callers()
    rows = []
    for number, file in enumerate(link.program.files):
        if file.is_own:
            rows.append(
                {
                    "repo": file.repo,
                    "path": file.path,
                    "digest": file.digest,
                    "edges": [edge._asdict() for edge in sorted(set(found.edges[number]), key=_order)],
                    "calls": found.calls[number],
                    "classes": found.classes[number],
                }
            )
    return pa.Table.from_pylist(rows, SCHEMA)


def _order(edge: Edge) -> tuple[Any, ...]:
    return edge.kind, edge.node, edge.src or "", edge.dst, -edge.confidence


class _Links:
    def __init__(self, link: Linking) -> None:
        self.link = link
        self.program = link.program
        self.is_own = [file.is_own for file in self.program.files]
        self.edges: dict[int, list[Edge]] = defaultdict(list)
        self.calls: dict[int, list[dict[str, Any]]] = defaultdict(list)
        self.classes: dict[int, list[dict[str, Any]]] = defaultdict(list)
        self.callers: dict[tuple[int, str, str], tuple[float, str]] = {}
        """File, caller and callee: how sure, and how it was found."""

    # edges -----------------------------------------------------------------------------------------

    def add_candidates(
        self, file: int, kind: str, found: Iterable[Target], *, node: int = -1, src: str | None = None, origin: str
    ) -> None:
        """One edge for each candidate of a place, the surest first."""
        every = sorted(found, key=lambda target: (-target.sure, target.id))
        n = len(every)
        for rank, target in enumerate(every):
            sure = confidence(target.sure, n)
            score = round(1 - rank / n, 3) if n > 1 else None
            self.edges[file].append(Edge(kind, node, src, target.id, origin, target.method, sure, score, n))

    def add_sure(self, file: int, kind: str, dst: str, *, node: int = -1, src: str | None = None, n: int = 1) -> None:
        score = 1.0 if n > 1 else None
        self.edges[file].append(Edge(kind, node, src, dst, "names", "name", confidence(1.0, n), score, n))

    # calls -----------------------------------------------------------------------------------------

    def add_calls(self) -> None:
        link, program = self.link, self.program
        reasons = Reasons(link)
        places = _call_places(link)
        arguments = self._arguments()
        more: dict[int, list[Call]] = defaultdict(list)
        for call in link.calls:  # what partials and known functions call on behalf of a written call
            if call.scope >= 0 and (call.number < 0 or call is not link.written[call.number]):
                more[call.number].append(call)
        for call in link.written:
            file = program.scope_files[call.scope]
            if not self.is_own[file]:
                continue
            found = targets(link, call)
            caller = program.around(call.scope)
            reason = None
            if len(found) > MAX_TARGETS:
                found, reason = [], "too many"
            elif not found:
                reason = reasons.of(call)
                derived = reasons.derived(call.callee)
                if derived is not None and is_derived(derived):
                    self._add_derived(file, call, derived)
            self.add_candidates(file, "CALLS", found, node=call.node, origin=_origin(found))
            best = max(found, key=lambda t: (t.sure, t.id), default=None)
            self.calls[file].append(
                {
                    "call": places[file][call.node],
                    "caller": caller.id,
                    "target": best and best.id,
                    "n_targets": len(found),
                    "confidence": best and confidence(best.sure, len(found)),
                    "method": best and best.method,
                    "reason": reason,
                }
            )
            for target in found:
                self._add_callee(file, call, target, len(found))
                if len(found) <= _FEW:
                    self._add_passes(file, arguments.get(call.number, ()), call, target)
        for call in more[-1] + [one for number, every in more.items() if number >= 0 for one in every]:
            file = program.scope_files[call.scope]
            if self.is_own[file]:
                found = targets(link, call)
                for target in found if len(found) <= MAX_TARGETS else ():
                    self._add_callee(file, call, target, len(found))

    def _add_derived(self, file: int, call: Call, name: str) -> None:
        """A name on the result of external code is a method of its own, and no target."""
        edge = Edge("CALLS", call.node, None, external_id(name), "flow", "derived", 0.3, None, 1)
        self.edges[file].append(edge)

    def _add_callee(self, file: int, call: Call, target: Target, n: int) -> None:
        """CALLER_OF: a class is called by its `__init__`, where it has one."""
        caller = self.program.around(call.scope).id
        sure = confidence(target.sure, n)
        callees = [target.id]
        number = self.program.of_id.get(target.id)
        if number is not None and self.program.definitions[number].kind == "class":
            callees = [self.program.definitions[one].id for one in self._made_by(number)] or callees
        for callee in callees:
            self._note_caller(file, caller, callee, sure, target.method)

    def _made_by(self, number: int) -> list[int]:
        """The functions that calling a class calls."""
        link, value = self.link, self.link.defined[number]
        metaclass = link.metaclasses.get(value)
        if metaclass is not None:
            slot = provider(link, link.hierarchy.order(metaclass), "__call__")
            if slot is not None:
                return functions_in(link, slot)
        order = link.hierarchy.order(value)
        names = ("__new__", "__init__") if value in link.started else ("__new__",)
        slots = [slot for name in names if (slot := provider(link, order, name)) is not None]
        return [one for slot in slots for one in functions_in(link, slot)]

    def _note_caller(self, file: int, caller: str, callee: str, sure: float, method: str) -> None:
        known = self.callers.get((file, caller, callee))
        if known is None or (sure, method) > known:
            self.callers[file, caller, callee] = sure, method

    def _arguments(self) -> dict[int, list[tuple[int, str]]]:
        """By written call: nodes and keys of what it passes."""
        numbers = {call.result: call.number for call in self.link.written}
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        nodes = self.program.places.get("argument", [])
        for node, fact in zip(nodes, self.program.every("argument"), strict=True):
            found[numbers[fact.dst]].append((node, fact.key))
        return found

    def _add_passes(self, file: int, arguments: Iterable[tuple[int, str]], call: Call, target: Target) -> None:
        functions = [(target.function, target.shift)] if target.function >= 0 else self._starters(target.id)
        if target.id == external_id("functools.partial") and call.positional:
            held = self.link.solver.of(call.positional[0])
            functions = [(t.function, t.shift - 1) for v in held for t in called_by(self.link, v) if t.function >= 0]
        for number, shift in functions:
            function = self.program.definitions[number]
            for node, key in arguments:
                name = parameter_of(function, key, shift)
                if name is not None:
                    dst = f"{function.id}({name})"
                    self.edges[file].append(
                        Edge("PASSES_TO", node, None, dst, "flow", target.method, target.sure, None, 1)
                    )

    def _starters(self, of: str) -> list[tuple[int, int]]:
        """The `__init__` of a class, which takes what the class is called with."""
        number = self.program.of_id.get(of)
        if number is None or self.program.definitions[number].kind != "class":
            return []
        slot = provider(self.link, self.link.hierarchy.order(self.link.defined[number]), "__init__")
        return [] if slot is None else [(one, 1) for one in functions_in(self.link, slot)]

    def add_implied(self) -> None:
        """What Python calls by itself."""
        for scope, value, name in self.link.implied:
            file = self.program.scope_files[scope]
            if self.is_own[file]:
                for number in special_functions(self.link, value, name):
                    callee = self.program.definitions[number].id
                    self._note_caller(file, self.program.around(scope).id, callee, 0.8, "protocol")
        for scope, number in self.link.implied_functions:
            file = self.program.scope_files[scope]
            if self.is_own[file]:
                callee = self.program.definitions[number].id
                self._note_caller(file, self.program.around(scope).id, callee, 0.8, "protocol")

    def add_callers(self) -> None:
        for (file, caller, callee), (sure, method) in self.callers.items():
            origin = "names" if method == "name" else "flow"
            self.edges[file].append(Edge("CALLER_OF", -1, caller, callee, origin, method, sure, None, 1))

    # imports and attributes ------------------------------------------------------------------------

    def add_imports(self) -> None:
        program, link = self.program, self.link
        for one in program.imports:
            if not self.is_own[one.file]:
                continue
            module = f"{program.files[one.file].id}#<module>"
            target = link.modules.target(one)
            named = link.modules.found(target, one.file) if target else None
            if named is not None and named != one.file:
                self.add_sure(one.file, "IMPORTS", f"{program.files[named].id}#<module>", src=module)
            found = things_of_import(link, one)
            for thing in found:
                self.add_sure(one.file, "IMPORTS", thing, node=one.node, n=len(found))
            if self._is_offered(one.file, one.as_name or one.name, one.scope):
                for thing in found:
                    if not thing.startswith("::"):
                        self.add_sure(one.file, "RE_EXPORTS", thing, src=module)
            if one.name == "*" and named is not None and program.files[one.file].is_package:
                for name in sorted(link.modules.names[named]):
                    if link.modules.is_public(named, name):
                        for thing in things(link, named, name):
                            self.add_sure(one.file, "RE_EXPORTS", thing, src=module)
        for loaded in program.imported_names:
            if self.is_own[loaded.file]:
                found = self._things_of_name(loaded.src)
                for thing in found:
                    self.add_sure(loaded.file, "RESOLVES_TO", thing, node=loaded.dst, n=len(found))
        for node, fact in zip(program.places.get("global", []), program.every("global"), strict=True):
            if self.is_own[fact.file]:
                found = [
                    str(a)
                    for k, a, _ in map(link.values.keys.__getitem__, link.solver.of(fact.dst))
                    if k == Kind.EXTERNAL
                ]
                for external in found:
                    if not is_derived(external):
                        self.add_sure(fact.file, "RESOLVES_TO", external_id(external), node=node, n=len(found))

    def _things_of_name(self, slot: int) -> list[str]:
        found: list[str] = []
        for source in self.link.stores.get(slot, [slot]):
            if source in self.link.imports:
                found += things_of_import(self.link, self.link.imports[source])
        return sorted(set(found))

    def _is_offered(self, file: int, name: str | None, scope: int) -> bool:
        if name is None or name == "*" or self.program.scope_parents[scope] >= 0:
            return False
        listed = self.link.modules.listed[file]
        return self.program.files[file].is_package or (listed is not None and name in listed)

    def add_attributes(self) -> None:
        """What attributes are that code loads; getters of properties are called by who loads them."""
        program, link = self.program, self.link
        nodes = program.places.get("load_attribute", [])
        for node, fact in zip(nodes, program.every("load_attribute"), strict=True):
            if not self.is_own[fact.file]:
                continue
            held = link.solver.of(fact.src)
            found = surest(one for value in held for one in self._attribute(fact.scope, value, fact.key))
            if 0 < len(found) <= _FEW:
                self.add_candidates(fact.file, "RESOLVES_TO", found, node=node, origin="flow")

    def _attribute(self, scope: int, value: int, name: str) -> list[Target]:
        link = self.link
        kind, a, _ = link.values.keys[value]
        if kind == Kind.MODULE and a >= 0:
            return [Target(thing, "import", 0.95) for thing in things(link, a, name)]
        if kind == Kind.EXTERNAL:
            longer = f"{a}.{name}"
            return [] if is_derived(longer) else [Target(external_id(longer), "import", 0.95)]
        if kind == Kind.CONTAINER:
            return [Target(external_id(f"builtins.{link.values.keys[value][2]}.{name}"), "receiver", 0.9)]
        if kind not in (Kind.INSTANCE, Kind.CLASS, Kind.SUPER):
            return []
        return self._member(scope, value, name)

    def _member(self, scope: int, value: int, name: str) -> list[Target]:
        link = self.link
        kind, a, b = link.values.keys[value]
        of = link.class_of(int(b)) if kind == Kind.SUPER else link.class_of(value)
        if link.values.keys[of][0] == Kind.EXTERNAL:
            longer = f"{link.values.keys[of][1]}.{name}"
            return [] if is_derived(longer) else [Target(external_id(longer), "receiver", 0.8)]
        order = link.hierarchy.order(of)
        if kind == Kind.SUPER:
            order = order[order.index(a) + 1 :] if a in order else link.hierarchy.order(a)[1:]
        for one in order:
            if name in link.members.get(one, ()):
                functions = functions_in(link, link.members[one][name])
                self._note_getters(scope, kind, link.members[one][name])
                if functions:
                    return [Target(self.program.definitions[n].id, "receiver", 0.9) for n in functions]
                return self._class_member(one, name)
            if name in link.stored.get(one, ()):
                return [Target(f"{self.program.definitions[link.values.keys[one][1]].id}:{name}", "receiver", 0.9)]
        dynamic = provider(link, order, "__getattr__")
        if dynamic is not None and kind == Kind.INSTANCE:
            caller = self.program.around(scope)
            for number in functions_in(link, dynamic):
                callee = self.program.definitions[number].id
                self._note_caller(caller.file, caller.id, callee, 0.7, "protocol")
            return []
        for one in order:
            if link.values.keys[one][0] == Kind.EXTERNAL:
                longer = f"{link.values.keys[one][1]}.{name}"
                return [] if is_derived(longer) else [Target(external_id(longer), "receiver", 0.6)]
        return []

    def _class_member(self, one: int, name: str) -> list[Target]:
        """A class's attribute that is no function: a class, something imported, or a variable."""
        link, program = self.link, self.program
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

    def _note_getters(self, scope: int, kind: Kind, slot: int) -> None:
        if kind != Kind.INSTANCE:
            return
        caller = self.program.around(scope)
        for value in self.link.solver.of(slot):
            of, a, _ = self.link.values.keys[value]
            functions = []
            if of == Kind.PROPERTY:
                functions = [target.function for target in called_by(self.link, int(a)) if target.function >= 0]
            elif of == Kind.INSTANCE:
                functions = special_functions(self.link, value, "__get__")
            for number in functions:
                callee = self.program.definitions[number].id
                self._note_caller(caller.file, caller.id, callee, 0.8, "protocol")

    # classes and types -----------------------------------------------------------------------------

    def add_classes(self) -> None:
        link, program = self.link, self.program
        for number, one in enumerate(program.definitions):
            if one.kind != "class" or not self.is_own[one.file]:
                continue
            value = link.defined[number]
            order = link.hierarchy.order(value)
            bases = [self._class_id(base) for base in link.hierarchy.bases.get(value, ())]
            for base in bases:
                self.add_sure(one.file, "INHERITS", base, src=one.id)
            self.classes[one.file].append(
                {
                    "definition": one.place,
                    "bases": bases,
                    "mro": [self._class_id(each) for each in order],
                    "problem": link.hierarchy.problems.get(value),
                }
            )
            for name, slot in link.members.get(value, {}).items():
                own = program.of_slot.get(slot)
                above = self._method_above(order[1:], name)
                if own is not None and program.definitions[own].kind == "function" and above is not None:
                    self.add_sure(one.file, "OVERRIDES", above, src=program.definitions[own].id)
            told = provider(link, order[1:], "__init_subclass__")
            for other in functions_in(link, told) if told is not None else ():
                caller = program.around(one.scope)
                self._note_caller(one.file, caller.id, program.definitions[other].id, 0.8, "protocol")
            for name in sorted(link.stored.get(value, set()) - set(link.members.get(value, {}))):
                self.add_sure(one.file, "HAS_ATTRIBUTE", f"{one.id}:{name}", src=one.id)

    def _class_id(self, value: int) -> str:
        kind, a, _ = self.link.values.keys[value]
        return self.program.definitions[a].id if kind == Kind.CLASS else external_id(str(a))

    def _method_above(self, order: list[int], name: str) -> str | None:
        for one in order:
            slot = self.link.members.get(one, {}).get(name)
            if slot is not None:
                number = self.program.of_slot.get(slot)
                is_function = number is not None and self.program.definitions[number].kind == "function"
                return self.program.definitions[number].id if is_function else None  # type: ignore[index]
        return None

    def add_types(self) -> None:
        link, program = self.link, self.program
        for number, one in enumerate(program.definitions):
            if not self.is_own[one.file]:
                continue
            if one.kind in ("function", "lambda"):
                for name, slot in link.locals.get(one.slot, {}).items():
                    if self._is_variable(slot):
                        self._add_types(one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
                for parameter in one.parameters:
                    self._add_types(one.file, "HAS_TYPE", f"{one.id}({parameter.name})", parameter.slot)
                self._add_types(one.file, "RETURNS_TYPE", one.id, link.returned(number))
            elif one.kind == "class":
                value = link.defined[number]
                for name in link.stored.get(value, set()) - set(link.members.get(value, {})):
                    slot = link.field_of(link.instance(value), name)
                    self._add_types(one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
                for name, slot in link.members.get(value, {}).items():
                    if self._is_variable(slot):
                        self._add_types(one.file, "HAS_TYPE", f"{one.id}:{name}", slot)
            else:
                for name, slot in link.modules.names[one.file].items():
                    if self._is_variable(slot):
                        self._add_types(one.file, "HAS_TYPE", f"{program.files[one.file].id}#:{name}", slot)

    def _is_variable(self, slot: int) -> bool:
        sources = self.link.stores.get(slot, [slot])
        return any(one not in self.link.imports and one not in self.program.of_slot for one in sources)

    def _add_types(self, file: int, kind: str, src: str, slot: int) -> None:
        found = {one for value in self.link.solver.of(slot) if (one := type_id(self.link, value))}
        if 0 < len(found) <= _FEW:
            types = [Target(one, "flow", 0.9) for one in found]
            self.add_candidates(file, kind, types, src=src, origin="flow")


def _origin(found: list[Target]) -> str:
    return "names" if found and all(target.method in ("name", "builtin", "import") for target in found) else "flow"


def _call_places(link: Linking) -> dict[int, dict[int, int]]:
    """By file and node: the place of a call in the evidence."""
    rows = link.program.calls
    found: dict[int, dict[int, int]] = defaultdict(dict)
    columns = rows.files.tolist(), rows.numbers("node").tolist(), np.asarray(rows.places).tolist()
    for file, node, place in zip(*columns, strict=True):
        found[file][node] = place
    return found
