"""One link unit from its evidence to its links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa

from codelake.graph.link.binding import bind
from codelake.graph.link.claims import Placed, placed_claims
from codelake.graph.link.constraints import add_bare, add_entries, add_made, add_names, add_values
from codelake.graph.link.hierarchy import Hierarchy
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import Modules
from codelake.graph.link.program import Program
from codelake.graph.link.results import SCHEMA, links
from codelake.graph.link.shapes import Shapes
from codelake.graph.link.signatures import parse_signatures
from codelake.graph.link.stubs import Stubs
from codelake.graph.link.values import Kind, Values
from codelake.lean import lean

_MAX_ROUNDS = 8


def link(table: pa.Table, stubs: Stubs, *, backwards: bool = False) -> pa.Table:
    """Files of a unit (repo, path, module, is_own, digest, and nested evidence) to rows of `links` of its own."""
    with lean():
        return pa.Table.from_batches(_links(table, stubs, backwards=backwards), SCHEMA)


def link_batches(batches: Iterator[pa.RecordBatch], stubs: Stubs) -> Iterator[pa.RecordBatch]:
    """The same, for units of which one copy is as much as there is room for."""
    with lean():
        yield from _links(pa.Table.from_batches(list(batches)), stubs)


def _links(table: pa.Table, stubs: Stubs, *, backwards: bool = False) -> Iterator[pa.RecordBatch]:
    program, placed = _read(table)
    del table
    yield from links(linked(program, stubs, backwards=backwards), placed)


def _read(table: pa.Table) -> tuple[Program, Placed]:
    table = table.sort_by([("repo", "ascending"), ("path", "ascending")])
    return Program(table), placed_claims(table)


def linked(program: Program, stubs: Stubs, *, backwards: bool = False) -> Linking:
    pa.default_memory_pool().release_unused()  # of the tables that it was read from
    link = Linking(program, Modules(program), Values(), stubs, backwards=backwards)
    find_bases(link)
    link.bind = bind
    link.restart()
    state(link)
    link.solver.solve()
    for says in phases(link, Shapes(link)):
        says()
        link.solver.solve()
    link.solver.finish()
    return link


def state(link: Linking) -> None:
    """The facts of a program, or of the file of it that is looked at."""
    made = add_made(link)
    add_bare(link)
    add_names(link)
    add_values(link, made)


def phases(link: Linking, shapes: Shapes) -> tuple[Callable[[], None], ...]:
    """What is said, step by step, of what holds nothing when everything before is solved."""
    return partial(add_entries, link), shapes.add_kept, shapes.add_named, shapes.add_rest


def find_bases(link: Linking) -> None:
    """Bases and metaclasses of all classes. What a base is may hang on the attributes that a class inherits, so this is
    done until nothing more comes of it."""
    program = link.program
    for _ in range(_MAX_ROUNDS):
        link.restart()
        for value, one in zip(link.defined, program.definitions, strict=True):
            if one.kind != "module":
                link.solver.add(one.slot, value)
        add_names(link)
        link.solver.solve()
        partly: set[int] = set()
        found: dict[int, list[int]] = {
            link.defined[number]: [] for number, one in enumerate(program.definitions) if one.kind == "class"
        }
        for fact in program.every("base"):
            base = _class_among(link, [fact.src, *_given(link, fact.src)])
            owner = link.defined[program.of_slot[fact.dst]]
            if base is None:
                partly.add(owner)
            elif base != owner and base not in found[owner]:
                found[owner].append(base)
        if found == link.hierarchy.bases and frozenset(partly) == link.hierarchy.partly:
            break
        link.hierarchy = Hierarchy(found, frozenset(partly))
    for fact in program.every("class_keyword"):
        metaclass = _class_among(link, [fact.src]) if fact.key == "metaclass" else None
        if metaclass is not None and link.values.keys[metaclass][0] == Kind.CLASS:
            link.metaclasses[link.defined[program.of_slot[fact.dst]]] = metaclass
    for value in link.hierarchy.bases:
        inherited = [link.metaclasses[one] for one in link.hierarchy.order(value) if one in link.metaclasses]
        if inherited:
            link.metaclasses.setdefault(value, inherited[0])


def _given(link: Linking, slot: int) -> list[int]:
    """Where a slot is the result of a call of a function of the unit: what that returns; where it is a parameter, its
    default. What stubs say of other functions is a class by itself."""
    program = link.program
    callee = program.callees.get(slot)
    called = link.solver.of(callee) if callee is not None else ()
    for value in called:
        _add_class_given(link, value, slot)
    functions = {link.definition(value).slot for value in called if link.values.keys[value][0] == Kind.FUNCTION}
    defaults = [link.defaults[slot]] if slot in link.defaults else []
    return [fact.src for fact in program.every("return") if fact.dst in functions] if functions else defaults


def _add_class_given(link: Linking, called: int, slot: int) -> None:
    """`namedtuple(...)` gives a class below tuple, as its stub says."""
    kind, name, _ = link.values.keys[called]
    stub = link.stubs.find(str(name)) if kind == Kind.EXTERNAL else None
    for signature in parse_signatures(stub.text) if stub is not None and stub.is_called else ():
        for one in signature.result:
            for of in one.inner if one.head == "builtins.type" else ():
                for given in of[:1]:
                    link.solver.add(slot, link.values.external(given.head))


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
