"""A link unit that stays open: linked once, then brought up to date with what has changed in its files.

The solver keeps why everything holds (`live`), so an edit costs what hangs on it. What rules look up by name (members
of classes, names of modules, orders, defaults) is not followed: where that comes to be another, and somebody may have
asked for it, the unit says so and is to be linked anew.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from codelake.graph.link.binding import bind
from codelake.graph.link.call import Call
from codelake.graph.link.kept.live import Live
from codelake.graph.link.kept.looked_up import LookedUp
from codelake.graph.link.kept.nodes import NEVER, Root, beginning
from codelake.graph.link.kept.patching import Kept, keep
from codelake.graph.link.kept.program import ChangingProgram
from codelake.graph.link.kept.shapes import KeptShapes
from codelake.graph.link.kept.touched import Touched
from codelake.graph.link.kernel import find_bases, phases, state
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import Modules
from codelake.graph.link.program import Program
from codelake.graph.link.results import SCHEMA, links
from codelake.graph.link.spelled import matches
from codelake.graph.link.stubs import Stubs
from codelake.graph.link.targets import things, things_of_import
from codelake.graph.link.too_many import called_everywhere
from codelake.graph.link.values import Kind, Values
from codelake.lean import lean

_NAME = re.compile(r"\w+")
_NAMING = ("copy", "known", "global", "load_attribute", "load_item", "base", "class_keyword")
Place = tuple[str, str]
"""Repository and path."""


class _Stated(NamedTuple):
    """What the facts of a file said."""

    root: Root
    written: list[Call]
    decorated: list[tuple[Call, int]]
    bare: dict[int, int]
    handed: dict[int, list[tuple[int, str]]]


class _Before(NamedTuple):
    """Of a file before it was replaced."""

    stated: _Stated
    naming: set[tuple[int, int, str]]
    asked: set[str]


class Unit:
    def __init__(self, table: pa.Table, stubs: Stubs) -> None:
        """`table` is what the kernel takes; nothing may be claimed of its files."""
        with lean():
            table = table.sort_by([("repo", "ascending"), ("path", "ascending")]).combine_chunks()
            self._program = program = ChangingProgram(table)
            self._rows = {place: table.slice(number, 1) for number, place in enumerate(places(table))}
            self._files = {place: number for number, place in enumerate(self._rows)}
            self._link = link = Linking(program, Modules(program), Values(), stubs, backwards=False)
            find_bases(link)
            link.bind = bind
            self._live = Live(program.n_slots, link.values.is_function, link.widened)
            link.solver = self._live  # type: ignore[assignment]
            link.begin()
            self._blocks: list[tuple[int, int]] = []
            """Where slots of replaced files begin, and of which file they are."""
            self._stated = [self._state(file) for file in range(len(program.files))]
            self._gather()
            self._shapes = KeptShapes(link, self._live)
            self._solve()
            self._everywhere = called_everywhere(link)
            self._looked_up = LookedUp(link)
            self._asked = [self._asked_by(file) for file in range(len(program.files))]
            """By file: names by which it may look something up."""

    def _state(self, file: int) -> _Stated:
        link = self._link
        link.written, link.decorated, link.bare, link.handed = [], [], {}, {}
        with link.program.looking_at(file):
            root = self._live.state(lambda: state(link))
        return _Stated(root, link.written, link.decorated, link.bare, link.handed)

    def _gather(self) -> None:
        link = self._link
        link.written = [call for one in self._stated for call in one.written]
        link.decorated = [call for one in self._stated for call in one.decorated]
        link.bare = {slot: bare for one in self._stated for slot, bare in one.bare.items()}
        link.handed = {number: slots for one in self._stated for number, slots in one.handed.items()}

    def _solve(self) -> None:
        self._live.solve(beginning(1))
        for number, says in enumerate(phases(self._link, self._shapes), 1):
            self._live.phase(number, says)
        self._live.solve()

    def all_links(self) -> pa.Table:
        with lean():
            return pa.Table.from_batches(links(self._link, {}), SCHEMA)

    # another content ---------------------------------------------------------------------------------

    def update(self, rows: pa.Table) -> pa.Table | None:
        """The links of files that may have changed, where these files have other contents. None where that changes what
        others look up by name: then this unit is of no more use, and is to be opened anew."""
        with lean():
            files = [self._files[place] for place in places(rows) if place in self._files]
            if len(files) < rows.num_rows or any(map(self._is_stub, files)):
                return None
            link, live = self._link, self._live
            live.touched = touched = Touched(link.values.is_function)
            shown = [_shown(link, file) for file in files]
            before = [_Before(self._stated[file], set(_naming(link, file)), self._asked[file]) for file in files]
            self._shapes.leave(files)
            kept = [self._replaced(place, rows.slice(at, 1)) for at, place in enumerate(places(rows))]
            self._read_again(files)
            names = self._other_names(files, before, kept)
            if names is None:
                return None
            self._shapes.enter(files)
            for one in before:
                live.drop(one.stated.root)
            self._solve()
            is_shown_as_before = shown == [_shown(link, file) for file in files]
            concerned = self._files_concerned(touched, names) if is_shown_as_before or names else None
            everywhere, self._everywhere = self._everywhere, called_everywhere(link)
            if everywhere != self._everywhere:
                concerned = None
            only = None if concerned is None else concerned | set(files)
            return pa.Table.from_batches(links(link, {}, only), SCHEMA)

    def _read_again(self, files: Iterable[int]) -> None:
        """What the program says by now, in all and in these files."""
        link = self._link
        link.modules = Modules(link.program)
        link.read()
        for name in ("stores", "specials", "outer", "getting", "delegates"):
            link.__dict__.pop(name, None)
        for file in files:
            self._stated[file] = self._state(file)
            self._asked[file] = self._asked_by(file)
        self._gather()

    def _other_names(self, files: Sequence[int], before: Sequence[_Before], kept: Sequence[Kept]) -> set[str] | None:
        """The names under which something else is found than before, which nobody else asks for. None where somebody
        may have found what is not there any more."""
        link = self._link
        old, self._looked_up = self._looked_up, LookedUp(link)
        if not old.finds_the_same(self._looked_up, kept):
            return None
        flows = [one.naming for one in before], [set(_naming(link, file)) for file in files]
        if _other_flows(*flows, kept) and not self._has_the_same_bases():
            return None
        names = old.other_names(self._looked_up)
        if not names:
            return names
        asked = (*(one.asked for one in before), *self._asked)
        is_asked = any(name.startswith("__") for name in names) or any(not names.isdisjoint(one) for one in asked)
        is_asked = is_asked or any(
            matches(name, form) for form in {one for every in link.forms.values() for one in every} for name in names
        )
        return None if is_asked or self._is_brought_by_stars(files, names) else names

    def _is_stub(self, file: int) -> bool:
        return self._link.program.files[file].path.endswith(".pyi")

    def _replaced(self, place: Place, row: pa.Table) -> Kept:
        file, program = self._files[place], self._program
        new = Program(row)
        kept = keep(program, file, Program(self._rows[place]), new, self._live.take)
        program.replace(file, new, kept.slots, kept.scopes, kept.definitions)
        self._rows[place] = row
        if kept.fresh:
            self._blocks.append((min(kept.fresh), file))
        return kept

    def _asked_by(self, file: int) -> set[str]:
        program = self._program
        with program.looking_at(file):
            found = {fact.key for kind in program.kinds() if kind != "bind" for fact in program.every(kind)}
            found.update(name for fact in program.every("text") for name in _NAME.findall(fact.key))
            for one in program.every_import():
                found |= {one.name or "", *(one.module or "").split(".")}
            for each in program.every_annotation():
                found |= {part for one in each.types for part in (one["name"] or "").split(".")}
        return found

    def _is_brought_by_stars(self, files: Iterable[int], names: set[str]) -> bool:
        """Whether others may take these names from files without naming them."""
        modules, wanted = self._link.modules, set()
        for file in files:
            listed = modules.listed[file]
            is_whole = listed is not None and "*" not in listed and file not in modules.listed_of
            if not names.isdisjoint(listed or ()) if is_whole else any(not name.startswith("_") for name in names):
                wanted.add(file)
        stars = (one for every in modules.stars for one in every)
        return any(modules.found(modules.target(one) or "", one.file) in wanted for one in stars)

    def _has_the_same_bases(self) -> bool:
        link = self._link
        other = Linking(link.program, link.modules, Values(), link.stubs, backwards=False)
        find_bases(other)
        return dict(_bases(other)) == dict(_bases(link))

    # what came of it ---------------------------------------------------------------------------------

    def _files_concerned(self, touched: Touched, unasked: set[str]) -> set[int] | None:
        """The files whose links may be others; None for all. Nobody else asks for members with `unasked` names."""
        live, link = self._live, self._link
        changed: set[int] = set()
        for slot, (held, was_closed) in touched.slots.items():
            if was_closed != (slot.closes < NEVER):
                return None
            if live.of(slot.number) != held:
                changed.add(slot.number)
        members = (pair for every in link.members.values() for pair in every.items())
        of_classes = {slot for name, slot in members if name not in unasked}
        of_partials = {slot for call in link.partials.values() for slot in call.positional[:1]}
        if touched.is_outside or not changed.isdisjoint(of_classes | of_partials):
            return None
        scopes = {call.scope for call in live.marked("call") if call.callee in changed}
        for kind, what in touched.marks:
            if kind == "started":
                return None
            if kind == "call":
                scopes.add(what.scope)
            elif kind in ("implied", "implied function"):
                scopes.add(what[0])
            elif kind == "said":
                changed.add(what[0])
            elif kind == "nothing":
                changed.add(what)
        beside = {one: slot for slot, one in self._program.beside.items()}
        found = {self._file_of(slot, beside) for slot in changed}
        return {file for file in found if file is not None} | {
            link.program.scope_files[scope] for scope in scopes if scope >= 0
        }

    def _file_of(self, slot: int, beside: Mapping[int, int]) -> int | None:
        """The file whose links may say what a slot holds. `beside` says beside which it is."""
        program, name = self._program, self._live.name_of.get(slot)
        if name is None:
            slot = beside.get(slot, slot)
            if slot < program.bases[-1]:
                return bisect(program.bases, slot) - 1
            return self._blocks[bisect(self._blocks, (slot, len(program.files))) - 1][1]
        role, of = name[0], name[1]
        if role in ("return", "returned where", "yield") and isinstance(of, int):
            return program.definitions[of].file
        if role == "field" and isinstance(of, int):
            kind, number, _ = self._link.values.keys[self._link.class_of(of)]
            is_own = kind in (Kind.CLASS, Kind.FUNCTION) and isinstance(number, int)
            return program.definitions[int(number)].file if is_own else None
        return None


def _naming(link: Linking, file: int) -> Iterator[tuple[int, int, str]]:
    """The flow of names, by which bases of classes are found."""
    kinds = _NAMING if not link.program.callees else (*_NAMING, "return", "call")
    with link.program.looking_at(file):
        yield from ((fact.dst, fact.src, f"{kind} {fact.key}") for kind in kinds for fact in link.program.every(kind))


def _other_flows(before: Iterable[set[Any]], now: Iterable[set[Any]], kept: Iterable[Kept]) -> bool:
    """Whether something else comes into slots that are in both."""
    return any(
        {flow for flow in old if flow[0] not in one.gone} != {flow for flow in new if flow[0] not in one.fresh}
        for old, new, one in zip(before, now, kept, strict=True)
    )


def places(table: pa.Table) -> Iterator[Place]:
    return zip(table.column("repo").to_pylist(), table.column("path").to_pylist(), strict=True)


def _bases(link: Linking) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Of each class its bases and its metaclass."""

    def name(value: int | None) -> Hashable:
        kind, a, b = link.values.keys[value] if value is not None else (None, "", "")
        return link.program.definitions[int(a)].id if kind == Kind.CLASS else (a, b)

    for value, bases in link.hierarchy.bases.items():
        is_partly = value in link.hierarchy.partly
        yield str(name(value)), (*map(name, bases), name(link.metaclasses.get(value)), is_partly)


def _shown(link: Linking, file: int) -> dict[Hashable, object]:
    """What names of a module and members of its classes are to others, beside what they hold."""
    found: dict[Hashable, object] = {name: things(link, file, name) for name in link.modules.names[file]}
    for number, one in enumerate(link.program.definitions):
        if one.kind == "class" and one.file == file:
            for name, slot in link.members.get(link.defined[number], {}).items():
                found[one.id, name] = sorted(_source(link, source) for source in link.stores.get(slot, [slot]))
    return found


def _source(link: Linking, slot: int) -> str:
    """What is stored in a member of a class: something imported, a definition, or anything else."""
    if slot in link.imports:
        return " ".join(things_of_import(link, link.imports[slot]))
    number = link.program.of_slot.get(slot)
    return "" if number is None else link.program.definitions[number].id
