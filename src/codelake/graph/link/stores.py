"""What comes of storing to an attribute of a value, and of deleting it."""

from __future__ import annotations

from codelake.graph.link.attributes import provider
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.protocols import call_special
from codelake.graph.link.values import Kind


def store(link: Linking, scope: int, name: str, src: int, value: int) -> None:
    """`value.name = src`."""
    kind, a, _ = link.values.keys[value]
    if kind == Kind.BELOW:
        value, kind = int(a), Kind.CLASS
    if kind not in (Kind.INSTANCE, Kind.CLASS, Kind.MODULE, Kind.FUNCTION):
        return
    if kind == Kind.INSTANCE and link.values.keys[a][0] == Kind.CLASS:
        call_special(link, scope, value, "__setattr__", link.nowhere)
        found = provider(link, link.hierarchy.order(a), name)
        if found is not None:
            link.waits(found, _set, scope, value, name, src)
            if link.decorates(found):
                return  # what sets it decides what becomes of it
    link.solver.copy(src, link.field_of(value, name))
    if kind == Kind.MODULE and a >= 0 and name in link.modules.names[a]:
        link.solver.copy(src, link.modules.names[a][name])


def keep(link: Linking, name: str, src: int, value: int) -> None:
    """`value.__dict__['name'] = src`, `object.__setattr__(value, 'name', src)`: nothing is asked."""
    if link.values.keys[value][0] in (Kind.INSTANCE, Kind.FUNCTION):
        link.solver.copy(src, link.field_of(value, name))


def _set(link: Linking, scope: int, receiver: int, name: str, src: int, member: int) -> None:
    kind, _, of = link.values.keys[member]
    if kind in (Kind.FUNCTION, Kind.STATICMETHOD, Kind.CLASSMETHOD) or (kind == Kind.PROPERTY and of):
        link.solver.copy(src, link.field_of(receiver, name))  # nothing sets these: they are hidden
    elif kind == Kind.PROPERTY:
        link.waits(link.setter_slot(member, "setter"), _call_setter, scope, receiver, [src])
    elif kind == Kind.INSTANCE:
        of = link.class_of(member)
        setter = provider(link, link.hierarchy.order(of), "__set__")
        if setter is not None:
            link.waits(setter, _call_setter, scope, member, [link.holding(receiver), src])


def _call_setter(link: Linking, scope: int, receiver: int, arguments: list[int], function: int) -> None:
    if link.values.keys[function][0] == Kind.FUNCTION:
        link.imply_function(scope, function)
        bound = link.values.make(Kind.BOUND, function, receiver)
        link.make_call(Call(-1, link.holding(bound), link.nowhere, positional=arguments))


def delete(link: Linking, scope: int, name: str, value: int) -> None:
    """`del value.name`."""
    kind, a, _ = link.values.keys[value]
    if kind == Kind.INSTANCE and link.values.keys[a][0] == Kind.CLASS:
        call_special(link, scope, value, "__delattr__", link.nowhere)
        found = provider(link, link.hierarchy.order(a), name)
        if found is not None:
            link.waits(found, _delete, scope, value)


def _delete(link: Linking, scope: int, receiver: int, member: int) -> None:
    kind = link.values.keys[member][0]
    if kind == Kind.PROPERTY:
        link.waits(link.setter_slot(member, "deleter"), _call_setter, scope, receiver, [])
