"""Builtins that ask a special method of what they are given, and what comes of sums."""

from __future__ import annotations

from collections.abc import Callable

from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.protocols import call_outside, call_special, is_of_outside, iterate


def asking(name: str, type_name: str | None, *others: str) -> Callable[[Linking, Call], None]:
    """A builtin that calls a special method of its argument, or one of others where there is none."""

    def ask(link: Linking, call: Call, value: int) -> None:
        if type_name:
            any(call_special(link, call.scope, value, one, link.nowhere) for one in (name, *others))
        elif not call_special(link, call.scope, value, name, call.result) and is_of_outside(link, value):
            call_outside(link, value, name, call.result)

    def known(link: Linking, call: Call) -> None:
        if type_name:
            link.solver.add(call.result, link.builtin(type_name))
        for slot in call.positional[:1]:
            link.waits(slot, ask, call)

    return known


def sum_(link: Linking, call: Call) -> None:
    """It begins with 0, if with nothing else: what is added to that is what comes out."""
    for slot in call.positional[:1]:
        element = link.solver.named("summed", call.result)
        link.waits(slot, iterate, call.scope, element)
        link.waits(element, _add_summed, call.result)
    for slot in (*call.positional[1:2], *call.keywords.values()):
        link.solver.copy(slot, call.result)


def _add_summed(link: Linking, result: int, value: int) -> None:
    link.solver.add(result, link.builtin("int") if value == link.builtin("bool") else value)


def round_(link: Linking, call: Call) -> None:
    """To so many digits, what it was; without, what its class says."""
    if len(call.positional) > 1 or call.keywords:
        for slot in call.positional[:1]:
            link.solver.copy(slot, call.result)
    else:
        asking("__round__", None)(link, call)
