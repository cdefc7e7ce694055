"""Functions that are too many to follow: they go on as one value, which says in which slot they were."""

from __future__ import annotations

from collections import defaultdict

from codelake.graph.link.linking import Linking

_MOST_DISPATCHERS = 8
"""Tables of functions are called from a place or two. What is called from more came through something that all of them
pass, such as a decorator of decorators."""


def many_in(link: Linking, slot: int) -> list[int]:
    """The slots whose functions are too many, and would be in this one."""
    held = link.solver.of(slot)
    if link.many.isdisjoint(held):
        return []
    return [int(link.values.keys[value][1]) for value in held & link.many]


def called_everywhere(link: Linking) -> set[int]:
    """The slots whose functions are too many, and may be called by very many."""
    callers: dict[int, set[int]] = defaultdict(set)
    for call in link.solver.marked("call"):
        for slot in many_in(link, call.callee):
            if call.scope >= 0:
                callers[slot].add(call.scope)
    return {slot for slot, scopes in callers.items() if len(scopes) > _MOST_DISPATCHERS}
