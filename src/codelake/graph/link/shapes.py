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
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind, Known

_BUILTIN = (str, bytes, list, dict, set, int, float, io.TextIOWrapper, io.BytesIO, re.Match, re.Pattern)
_OTHERS = (datetime.datetime, datetime.timedelta, pathlib.Path, BaseException, type, type(re), type(re.sub), property)
_COMMON = frozenset(name for one in (*_BUILTIN, *_OTHERS) for name in dir(one))
_OBJECT = frozenset((*dir(object), "__dict__"))
"""What everything has."""
_MAX_ROOTS = 3
_MAX_OWNERS = 40
KEPT, CALLED, REST = "kept", "called", "rest"
"""Of which slots is asked at a time: those with a slot in `Uses.kept`, with a name in `Uses.called`, or all."""


@dataclass
class Uses:
    """How slots of a program, or of one of its files, are used."""

    asked: dict[int, set[str]] = field(default_factory=dict)
    """By slot: the attributes that are loaded from it."""
    called: dict[int, str] = field(default_factory=dict)
    """By slot of a parameter or of an attribute that is loaded: its name."""
    kept: dict[int, int] = field(default_factory=dict)
    """By slot of a parameter: itself. By slot where a method loads an attribute of its receiver: the slot of what
    instances of its class hold."""


class Shapes:
    """Classes by what they have, and uses by what they ask for. What external bases have is not known."""

    def __init__(self, link: Linking) -> None:
        self.link = link
        self.uses = self.read()
        self.owners: dict[str, set[int]] = {}
        """By name: the classes that define it, or store it on their instances."""
        for value in {*link.members, *link.stored}:
            for name in self.names_of(value):
                self.owners.setdefault(name, set()).add(value)
        self.instances: dict[frozenset[str], tuple[int, ...]] = {}
        """By names: instances of the classes that have them all."""

    def read(self) -> Uses:
        """The uses of the file that is looked at, or of all."""
        link, found = self.link, Uses()
        for _, one in link.program.every_definition():
            for parameter in one.parameters:
                found.called[parameter.slot] = parameter.name
                found.kept[parameter.slot] = parameter.slot
        for fact in link.program.every("load_attribute"):
            if fact.key not in _OBJECT:
                found.asked.setdefault(fact.src, set()).add(fact.key)
            found.called.setdefault(fact.dst, fact.key)
            owner = link.receivers.get(fact.src)
            if owner is not None and self._stores(link.defined[owner], fact.key):
                found.kept[fact.dst] = link.field_of(link.instance(link.defined[owner]), fact.key)
        return found

    def names_of(self, of: int) -> set[str]:
        """What a class has by itself."""
        return {*self.link.members.get(of, ()), *self.link.stored.get(of, ())}

    def _stores(self, of: int, name: str) -> bool:
        return any(name in self.link.stored.get(one, ()) for one in self.link.hierarchy.order(of))

    # said by phases ----------------------------------------------------------------------------------

    def add_kept(self) -> None:
        """Fill parameters and attributes that hold nothing, by all their uses."""
        self._add_used(self._unknown(KEPT))

    def add_named(self) -> None:
        """Of what is called like something that is known elsewhere: the same, if that has what is asked for. Code
        calls one kind of thing by one name."""
        link, called = self.link, self.uses.called
        unknown = self._unknown(CALLED)
        known = self.known({called[slot] for slot in unknown})
        for slot, names in unknown.items():
            roots = self._roots(known.get(called[slot], ()), names)
            for of in roots if len(roots) <= _MAX_ROOTS else ():
                link.solver.add(slot, link.instance(of, Known.SHAPE))

    def add_rest(self) -> None:
        """Fill whatever else holds nothing."""
        unknown = self._unknown(REST)
        outside = self._of_outside(unknown)
        self._add_used({slot: names for slot, names in unknown.items() if slot not in outside})

    # what holds nothing, and what is known ---------------------------------------------------------

    def open(self, which: str) -> Iterable[int]:
        """Slots of which attributes are asked and nothing is known."""
        return (src for src in self.uses.asked if self.is_open(src, which))

    def is_open(self, src: int, which: str) -> bool:
        link, slot = self.link, self.slot_of(src, which)
        return slot is not None and not (
            link.holds(src) or (slot != src and link.holds(slot)) or link.solver.is_closed(src)
        )

    def slot_of(self, src: int, which: str) -> int | None:
        """The slot that is to be filled by what is asked of another, if any is."""
        if which == KEPT:
            return self.uses.kept.get(src)
        return src if which == REST or src in self.uses.called else None

    def known(self, names: Collection[str]) -> Mapping[str, Collection[int]]:
        """By name: the classes of what is called so."""
        found: dict[str, set[int]] = {}
        for slot, name in self.uses.called.items():
            if name in names:
                for of in self.classes_in(slot):
                    found.setdefault(name, set()).add(of)
        return found

    def classes_in(self, slot: int) -> Iterator[int]:
        """The classes of the unit of which a slot holds instances."""
        keys = self.link.values.keys
        for value in self.link.solver.of(slot):
            kind, of, how = keys[value]
            if kind == Kind.INSTANCE and how != Known.NAME and keys[of][0] == Kind.CLASS:
                yield of

    def _unknown(self, which: str) -> dict[int, set[str]]:
        """Slots that are to be filled, with the attributes that are asked of them."""
        used: dict[int, set[str]] = {}
        for src in self.open(which):
            slot = self.slot_of(src, which)
            if slot is not None:
                used.setdefault(slot, set()).update(self.uses.asked[src])
        return used

    def _of_outside(self, slots: Collection[int]) -> set[int]:
        """Those that calls and attributes of something external give: hardly anything of the unit."""
        link = self.link
        external: dict[frozenset[int], bool] = {}

        def is_external(slot: int) -> bool:
            held = link.solver.of(slot)
            if held not in external:
                kinds = (link.values.keys[link.class_of(value)][0] for value in held)
                external[held] = any(kind == Kind.EXTERNAL for kind in kinds)
            return external[held]

        loads = link.program.into("load_attribute", slots)
        return {one.result for one in link.written if one.result in slots and is_external(one.callee)} | {
            fact.dst for fact in loads if is_external(fact.src)
        }

    # classes ---------------------------------------------------------------------------------------

    def _add_used(self, unknown: dict[int, set[str]]) -> None:
        for slot, names in unknown.items():
            for value in self._instances(frozenset(names)):
                self.link.solver.add(slot, value)

    def _instances(self, names: frozenset[str]) -> tuple[int, ...]:
        """Of the most general classes that have all names; none where they are too many."""
        found = self.instances.get(names)
        if found is None:
            found = self.instances[names] = self._instances_of(names)
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
