"""One link unit from its evidence to its links."""

from __future__ import annotations

import pyarrow as pa

from codelake.graph.link.binding import bind
from codelake.graph.link.constraints import add_bare, add_entries, add_names, add_receivers, add_values
from codelake.graph.link.hierarchy import Hierarchy
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import Modules
from codelake.graph.link.program import Program
from codelake.graph.link.results import links
from codelake.graph.link.values import Kind, Values

VERSION = 1
"""Grows when the same evidence would give other links."""
_MAX_ROUNDS = 8


def link(table: pa.Table, *, backwards: bool = False) -> pa.Table:
    """Files of a unit (repo, path, module, is_own, digest, and nested evidence) to rows of `links` of its own."""
    return links(linked(table, backwards=backwards))


def linked(table: pa.Table, *, backwards: bool = False) -> Linking:
    program = Program(table.sort_by([("repo", "ascending"), ("path", "ascending")]))
    modules = Modules(program)
    values = Values()
    bases, metaclasses = _bases(program, modules, values, backwards)
    link = Linking(program, modules, Hierarchy(bases), values, bind, backwards=backwards)
    link.metaclasses = metaclasses
    _solve(link)
    if link.solver.widen():
        link.restart()
        _solve(link)
        link.solver.widen()
    return link


def _solve(link: Linking) -> None:
    add_receivers(link)
    add_bare(link)
    add_names(link)
    add_values(link)
    link.solver.solve()
    add_entries(link)
    link.solver.solve()


Bases = dict[int, list[int]]


def _bases(program: Program, modules: Modules, values: Values, backwards: bool) -> tuple[Bases, dict[int, int]]:
    """Bases and metaclasses by value of class. What a base is may hang on the attributes that a class inherits, so
    this is done until nothing more comes of it."""
    bases: Bases = {}
    for _ in range(_MAX_ROUNDS):
        link = Linking(program, modules, Hierarchy(bases), values, None, backwards=backwards)
        for value, one in zip(link.defined, program.definitions, strict=True):
            if one.kind != "module":
                link.solver.add(one.slot, value)
        add_names(link)
        link.solver.solve()
        found: Bases = {link.defined[n]: [] for n, one in enumerate(program.definitions) if one.kind == "class"}
        for fact in program.every("base"):
            base = _class_among(link, [fact.src, *_given(link, fact.src)])
            owner = link.defined[program.of_slot[fact.dst]]
            if base is not None and base != owner and base not in found[owner]:
                found[owner].append(base)
        if found == bases:
            break
        bases = found
    metaclasses = {}
    for fact in program.every("class_keyword"):
        found_one = _class_among(link, [fact.src]) if fact.key == "metaclass" else None
        if found_one is not None and values.keys[found_one][0] == Kind.CLASS:
            metaclasses[link.defined[program.of_slot[fact.dst]]] = found_one
    hierarchy = Hierarchy(bases)
    for value in bases:
        inherited = [metaclasses[one] for one in hierarchy.order(value) if one in metaclasses]
        if inherited:
            metaclasses.setdefault(value, inherited[0])
    return bases, metaclasses


def _given(link: Linking, slot: int) -> list[int]:
    """Where a slot is the result of a call of a function of the unit: what that returns."""
    program = link.program
    callee = program.callees.get(slot)
    called = link.solver.of(callee) if callee is not None else ()
    functions = {link.definition(value).slot for value in called if link.values.keys[value][0] == Kind.FUNCTION}
    return [fact.src for fact in program.every("return") if fact.dst in functions] if functions else []


def _class_among(link: Linking, slots: list[int]) -> int | None:
    """The class that slots hold; of several, one of the unit, and always the same."""
    found = []
    for value in {value for slot in slots for value in link.solver.of(slot)}:
        kind, a, _ = link.values.keys[value]
        if kind == Kind.CLASS:
            found.append((0, link.program.definitions[a].id, value))
        elif kind == Kind.EXTERNAL:
            found.append((1, str(a), value))
    return min(found)[2] if found else None
