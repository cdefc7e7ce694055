"""What something is of which nothing is known but how it is used: an instance of the class that has all the attributes
that are asked for.

Asked where solving has ended: of parameters and of attributes that a class stores, by all their uses together; of what
is called like something that is known elsewhere; then of whatever else holds nothing. A single attribute is a guess,
and counts if only one class and what is below it has it. Names that builtin types have tell nothing.
"""

from __future__ import annotations

import datetime
import io
import pathlib
import re
from collections.abc import Container, Iterable

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind, Known

_BUILTIN = (str, bytes, list, dict, set, int, float, io.TextIOWrapper, io.BytesIO, re.Match, re.Pattern)
_OTHERS = (datetime.datetime, datetime.timedelta, pathlib.Path, BaseException, type, type(re), type(re.sub), property)
_COMMON = frozenset(name for one in (*_BUILTIN, *_OTHERS) for name in dir(one))
_OBJECT = frozenset((*dir(object), "__dict__"))
"""What everything has."""
_MAX_ROOTS = 3
_MAX_OWNERS = 40


class Shapes:
    """Classes by what they have, and uses by what they ask for. What external bases have is not known."""

    def __init__(self, link: Linking) -> None:
        self.link = link
        self.owners: dict[str, set[int]] = {}
        """By name: the classes that define it, or store it on their instances."""
        for every in (link.members, link.stored):
            for value, names in every.items():
                for name in names:
                    self.owners.setdefault(name, set()).add(value)
        self.asked: dict[int, set[str]] = {}
        """By slot: the attributes that are loaded from it."""
        self.called = {p.slot: p.name for one in link.program.definitions for p in one.parameters}
        """By slot of a parameter or of an attribute that is loaded: its name."""
        self.kept = {p.slot: p.slot for one in link.program.definitions for p in one.parameters}
        """By slot of a parameter: itself. By slot where a method loads an attribute of its receiver: the slot of what
        instances of its class hold."""
        for fact in link.program.every("load_attribute"):
            if fact.key not in _OBJECT:
                self.asked.setdefault(fact.src, set()).add(fact.key)
            self.called.setdefault(fact.dst, fact.key)
            owner = link.receivers.get(fact.src)
            if owner is not None and self._stores(link.defined[owner], fact.key):
                self.kept[fact.dst] = link.field_of(link.instance(link.defined[owner]), fact.key)
        self._found: dict[frozenset[str], tuple[int, ...]] = {}

    def _stores(self, of: int, name: str) -> bool:
        return any(name in self.link.stored.get(one, ()) for one in self.link.hierarchy.order(of))

    def add_kept(self) -> None:
        """Fill parameters and attributes that hold nothing, by all their uses."""
        self._add_used(self._unknown(self.kept))

    def add_rest(self) -> None:
        """Fill whatever else holds nothing."""
        unknown = self._unknown(None)
        outside = self._of_outside(unknown)
        self._add_used({slot: names for slot, names in unknown.items() if slot not in outside})

    def _of_outside(self, slots: Container[int]) -> set[int]:
        """Those that calls and attributes of something external give: hardly anything of the unit."""
        link = self.link
        external: dict[frozenset[int], bool] = {}

        def is_external(slot: int) -> bool:
            held = link.solver.of(slot)
            if held not in external:
                kinds = (link.values.keys[link.class_of(value)][0] for value in held)
                external[held] = any(kind == Kind.EXTERNAL for kind in kinds)
            return external[held]

        loads = link.program.every("load_attribute")
        return {one.result for one in link.written if one.result in slots and is_external(one.callee)} | {
            fact.dst for fact in loads if fact.dst in slots and is_external(fact.src)
        }

    def _unknown(self, kept: dict[int, int] | None) -> dict[int, set[str]]:
        """Slots that hold nothing, with the attributes that are asked of them; where `kept` is given only of those
        that it names, by the slots that it says."""
        solver = self.link.solver
        used: dict[int, set[str]] = {}
        for src, names in self.asked.items():
            slot = src if kept is None else kept.get(src)
            if slot is not None and not (self.link.holds(src) or self.link.holds(slot) or solver.is_closed(src)):
                used.setdefault(slot, set()).update(names)
        return used

    def _add_used(self, unknown: dict[int, set[str]]) -> None:
        for slot, names in unknown.items():
            for value in self._instances(frozenset(names)):
                self.link.solver.add(slot, value)

    def add_named(self) -> None:
        """Of what is called like something that is known elsewhere: the same, if that has what is asked for. Code
        calls one kind of thing by one name."""
        link = self.link
        unknown = self._unknown({slot: slot for slot in self.called})
        wanted = {self.called[slot] for slot in unknown}
        known: dict[str, set[int]] = {}
        for slot, name in self.called.items():
            for value in link.solver.of(slot) if name in wanted else ():
                kind, of, how = link.values.keys[value]
                if kind == Kind.INSTANCE and how != Known.NAME and link.values.keys[of][0] == Kind.CLASS:
                    known.setdefault(name, set()).add(of)
        for slot, names in unknown.items():
            roots = self._roots(known.get(self.called[slot], ()), names)
            for of in roots if len(roots) <= _MAX_ROOTS else ():
                link.solver.add(slot, link.instance(of, Known.SHAPE))

    def _instances(self, names: frozenset[str]) -> tuple[int, ...]:
        """Of the most general classes that have all names; none where they are too many."""
        found = self._found.get(names)
        if found is None:
            found = self._found[names] = self._instances_of(names)
        return found

    def _instances_of(self, names: frozenset[str]) -> tuple[int, ...]:
        telling = [self.owners.get(name, set()) for name in names if name not in _COMMON]
        fewest = min(telling, key=len, default=set())
        if not fewest or len(fewest) > _MAX_OWNERS:
            return ()
        subclasses = self.link.hierarchy.subclasses
        roots = self._roots({one for owner in fewest for one in (owner, *subclasses.get(owner, ()))}, names)
        is_guess = len(telling) == 1
        if len(roots) > (1 if is_guess else _MAX_ROOTS):
            return ()
        return tuple(self.link.instance(one, Known.NAME if is_guess else Known.SHAPE) for one in sorted(roots))

    def _roots(self, classes: Iterable[int], names: Iterable[str]) -> set[int]:
        """Of the classes that have all names, those that are below no other."""
        order = self.link.hierarchy.order
        owners = [self.owners.get(name, set()) for name in names]
        having = {one for one in classes if not any(each.isdisjoint(order(one)) for each in owners)}
        return {one for one in having if having.isdisjoint(order(one)[1:])}
