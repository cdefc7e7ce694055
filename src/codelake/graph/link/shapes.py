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
from collections.abc import Iterable

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind, Known

_BUILTIN = (str, bytes, list, dict, set, int, float, io.TextIOWrapper, io.BytesIO, re.Match, re.Pattern)
_OTHERS = (datetime.datetime, datetime.timedelta, pathlib.Path, BaseException, type, type(re), type(re.sub), property)
_COMMON = frozenset(name for one in (*_BUILTIN, *_OTHERS) for name in dir(one))
_MAX_ROOTS = 3
_MAX_OWNERS = 40


class Shapes:
    """Classes by what they have. Of the attributes of external bases nothing is known."""

    def __init__(self, link: Linking) -> None:
        self.link = link
        self.owners: dict[str, set[int]] = {}
        """By name: the classes that define it, or store it on their instances."""
        for every in (link.members, link.stored):
            for value, names in every.items():
                for name in names:
                    self.owners.setdefault(name, set()).add(value)
        self._found: dict[frozenset[str], tuple[int, ...]] = {}

    def of(self, names: frozenset[str]) -> tuple[int, ...]:
        """Instances of the most general classes that have all names; none where they are too many."""
        found = self._found.get(names)
        if found is None:
            found = self._found[names] = self._instances(names)
        return found

    def _instances(self, names: frozenset[str]) -> tuple[int, ...]:
        telling = [name for name in names if name not in _COMMON]
        owners = [self.owners.get(name) for name in names]
        if not telling or not all(owners):
            return ()
        fewest = min((self.owners[name] for name in telling), key=len)
        if len(fewest) > _MAX_OWNERS:
            return ()
        roots = self._roots(fewest, names)
        is_guess = len(telling) == 1
        if len(roots) > (1 if is_guess else _MAX_ROOTS):
            return ()
        return tuple(self.link.instance(one, Known.NAME if is_guess else Known.SHAPE) for one in sorted(roots))

    def _roots(self, first: Iterable[int], names: frozenset[str]) -> set[int]:
        subclasses, order = self.link.hierarchy.subclasses, self.link.hierarchy.order
        every = {one for owner in first for one in (owner, *subclasses.get(owner, ()))}
        having = {one for one in every if self.has(one, names)}
        return {one for one in having if having.isdisjoint(order(one)[1:])}

    def has(self, of: int, names: Iterable[str]) -> bool:
        order = self.link.hierarchy.order(of)
        return all(name in self.owners and not self.owners[name].isdisjoint(order) for name in names)


def add_shapes(link: Linking) -> None:
    shapes = Shapes(link)
    _add_used(link, shapes, _kept(link))
    link.solver.solve()
    _add_named(link, shapes)
    link.solver.solve()
    _add_used(link, shapes, None)
    link.solver.solve()


def _kept(link: Linking) -> dict[int, int]:
    """By slot of a parameter: itself. By slot where a method loads an attribute of its receiver: the slot of what
    instances of its class hold."""
    found = {p.slot: p.slot for one in link.program.definitions for p in one.parameters}
    receivers = {d.parameters[0].slot: d.owner for d in link.program.definitions if d.owner >= 0 and d.parameters}
    for fact in link.program.every("load_attribute"):
        owner = receivers.get(fact.src)
        if owner is not None and any(
            fact.key in link.stored.get(one, ()) for one in link.hierarchy.order(link.defined[owner])
        ):
            found[fact.dst] = link.field_of(link.instance(link.defined[owner]), fact.key)
    return found


def _add_used(link: Linking, shapes: Shapes, kept: dict[int, int] | None) -> None:
    """Of slots that hold nothing; where `kept` is given only of those that it names, by the slots that it says."""
    for slot, names in _unknown(link, kept).items():
        for value in shapes.of(frozenset(names)):
            link.solver.add(slot, value)


def _unknown(link: Linking, kept: dict[int, int] | None) -> dict[int, set[str]]:
    """Slots that hold nothing, with the attributes that are asked of them."""
    solver = link.solver
    used: dict[int, set[str]] = {}
    for fact in link.program.every("load_attribute"):
        if not solver.of(fact.src) and not solver.is_closed(fact.src):
            slot = fact.src if kept is None else kept.get(fact.src, -1)
            if slot >= 0 and not solver.of(slot):
                used.setdefault(slot, set()).add(fact.key)
    return used


def _add_named(link: Linking, shapes: Shapes) -> None:
    """Of what holds nothing and is called like something that is known elsewhere: the same, if that has what is asked
    for. Code calls one kind of thing by one name."""
    called = {p.slot: p.name for one in link.program.definitions for p in one.parameters}
    for fact in link.program.every("load_attribute"):
        called.setdefault(fact.dst, fact.key)
    unknown = _unknown(link, {slot: slot for slot in called})
    wanted = {called[slot] for slot in unknown}
    known: dict[str, set[int]] = {}
    for slot, name in called.items():
        if name in wanted:
            for value in link.solver.of(slot):
                kind, of, how = link.values.keys[value]
                if kind == Kind.INSTANCE and how != Known.NAME and link.values.keys[of][0] == Kind.CLASS:
                    known.setdefault(name, set()).add(of)
    for slot, names in unknown.items():
        having = {of for of in known.get(called[slot], ()) if shapes.has(of, names)}
        roots = {of for of in having if having.isdisjoint(link.hierarchy.order(of)[1:])}
        if len(roots) <= _MAX_ROOTS:
            for of in roots:
                link.solver.add(slot, link.instance(of, Known.SHAPE))
