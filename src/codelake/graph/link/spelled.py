"""Attributes whose names are put together: all that are called so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codelake.graph.link.attributes import view
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind, Known


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
