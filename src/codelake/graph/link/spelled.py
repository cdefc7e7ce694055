"""Attributes that are named by texts; where a text is put together, all that are called so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codelake.graph.link.asking import ask
from codelake.graph.link.attributes import load, view
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.stores import keep, store
from codelake.graph.link.values import Kind, Known

_OF_AND_NAME = 2


def get_named(link: Linking, call: Call) -> None:
    """`getattr(o, 'name')`; what it gives where there is no such attribute comes third."""
    if len(call.positional) > _OF_AND_NAME:
        link.solver.copy(call.positional[2], call.result)
    if len(call.positional) > 1 and (name := link.text(call.positional[1])) is not None:
        link.waits(call.positional[0], load, name, call.result)
    elif len(call.positional) > 1:
        load_like(link, call)


def set_named(link: Linking, call: Call) -> None:
    if len(call.positional) > _OF_AND_NAME and (name := link.text(call.positional[1])) is not None:
        link.waits(call.positional[0], store, call.scope, name, call.positional[2])
    for slot in call.positional[:1]:
        ask(link, call.scope, slot, "__setattr__")


def keep_named(link: Linking, call: Call) -> None:
    """`object.__setattr__(o, name, value)`, and `super().__setattr__(name, value)`."""
    slots = call.positional
    if len(slots) == _OF_AND_NAME:
        function = link.program.around(call.scope)
        slots = (function.parameters[0].slot if function.parameters else link.nowhere, *slots)
    if len(slots) > _OF_AND_NAME and (name := link.text(slots[1])) is not None:
        link.waits(slots[0], keep, name, slots[2])


def load_like(link: Linking, call: Call) -> None:
    """`getattr(o, f'visit_{x}')`, also where the letters are then made small."""
    slot = call.positional[1]
    for form in link.forms.get(slot) or link.forms.get(link.respelled.get(slot, slot)) or ():
        link.waits(call.positional[0], _load_each, form, call.result)


def _load_each(link: Linking, form: str, dst: int, value: int) -> None:
    for name in sorted(name for name in _names(link, value) if matches(name, form)):
        link.solver.copy(view(link, value, name), dst)


def _names(link: Linking, value: int) -> Iterable[str]:
    kind, a, _ = link.values.keys[value]
    if kind == Kind.MODULE and a >= 0:
        return link.modules.names[a]
    if kind not in (Kind.INSTANCE, Kind.CLASS, Kind.BELOW):
        return ()
    of = value if kind == Kind.CLASS else int(a)
    may_be_below = kind == Kind.BELOW or link.known(value) != Known.MADE
    classes = [*link.hierarchy.order(of), *(link.hierarchy.below(of) if may_be_below else ())]
    return {name for one in classes for name in link.members.get(one, ())}


def matches(name: str, form: str) -> bool:
    """Whether a name has a form, in letters of any case."""
    return re.fullmatch(form.replace("*", r"\w*"), name, re.IGNORECASE) is not None
