"""Bases and method resolution orders. A base is a value: a class of the unit, or something external."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

One = TypeVar("One", bound=Hashable)
_SEVERAL = 2


class Hierarchy:
    """Orders of classes, each by its value; a class comes first in its own."""

    def __init__(self, bases: Mapping[int, Sequence[int]], partly: frozenset[int] = frozenset()) -> None:
        """`partly` are the classes that have a base of which nothing is known."""
        self.bases, self.partly = bases, partly
        self.orders: dict[int, list[int]] = {}
        self.problems: dict[int, str] = {}
        self._open: set[int] = set()
        self._below: dict[int, list[int]] = {}
        for value in bases:
            self.order(value)
        self.subclasses: dict[int, list[int]] = {}
        for value, order in self.orders.items():
            for above in order[1:]:
                self.subclasses.setdefault(above, []).append(value)

    def above(self, classes: Sequence[int]) -> int | None:
        """The first class in the order of the first of these that is in all their orders, if the unit has it."""
        if len(classes) < _SEVERAL:
            return None
        rest = [set(self.order(one)) for one in classes[1:]]
        found = (one for one in self.order(classes[0]) if one in self.bases and all(one in other for other in rest))
        return next(found, None)

    def below(self, value: int) -> list[int]:
        """What may come before a class in the order of an instance of it: classes below, and what they mix in."""
        found = self._below.get(value)
        if found is None:
            orders = (self.orders[one] for one in self.subclasses.get(value, ()))
            before = {one for order in orders for one in order[: order.index(value)]}
            found = self._below[value] = sorted(before)
        return found

    def order(self, value: int) -> list[int]:
        """C3. Where that fails, Python refuses the class; the order is then depth first, each class once."""
        found = self.orders.get(value)
        if found is not None:
            return found
        bases = self.bases.get(value)
        if bases is None:
            return [value]  # external: what is above it is not known
        if value in self._open:
            self.problems[value] = "it is a base of itself"
            return [value]
        self._open.add(value)
        above = [self.order(base) for base in bases]
        self._open.discard(value)
        found = merged([*above, list(bases)])
        if found is None:
            self.problems[value] = "no consistent order of its bases"
            found = list(dict.fromkeys(one for order in above for one in order))
        order = self.orders[value] = [value, *(one for one in found if one != value)]
        return order


def merged(orders: list[list[One]]) -> list[One] | None:
    """C3: each order stays as it is. None where they contradict each other."""
    found: list[One] = []
    rest = [order for order in orders if order]
    while rest:
        for order in rest:
            head = order[0]
            if not any(head in other[1:] for other in rest):
                break
        else:
            return None
        found.append(head)
        rest = [left for order in rest if (left := order[1:] if order[0] == head else order)]
    return found
