"""What the statement of a class does: its metaclass makes it, what is above it is told, and so are its members.

Who calls whom there is known without solving (`class_edges`). This is what is passed: the class, to those who keep it.
"""

from __future__ import annotations

from codelake.graph.link.attributes import as_descriptor, provider, special
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind


def add_classes(link: Linking) -> None:
    program = link.program
    keywords: dict[int, dict[str, int]] = {}
    for fact in program.every("class_keyword"):
        keywords.setdefault(fact.dst, {})[fact.key] = fact.src
    told = any("__set_name__" in members for members in link.members.values())
    for number, one in program.every_definition():
        if one.kind != "class":
            continue
        value = link.defined[number]
        given = {name: slot for name, slot in keywords.get(one.slot, {}).items() if name not in ("metaclass", "*")}
        if value in link.metaclasses:
            _add_metaclass(link, link.metaclasses[value], value, given)
        above = provider(link, link.hierarchy.order(value)[1:], "__init_subclass__")
        if above is not None:
            link.waits(above, _call_bound, value, (), given)
        for slot in link.members.get(value, {}).values() if told else ():
            link.waits(slot, _tell_name, value)


def _add_metaclass(link: Linking, metaclass: int, value: int, given: dict[str, int]) -> None:
    """It is called with a name, the bases and what the body left."""
    order = link.hierarchy.order(metaclass)
    bases = link.container(link.solver.named("bases", value), "tuple")
    for base in link.hierarchy.bases.get(value, ()):
        link.solver.add(link.element(bases, "*"), base)
    left = link.container(link.solver.named("left", value), "dict")
    passed = (link.holding(link.builtin("str")), link.holding(bases), link.holding(left))
    maker, starter = provider(link, order, "__new__"), provider(link, order, "__init__")
    if maker is not None:
        link.waits(maker, _call_bound, metaclass, passed, given)
    if starter is not None and value in link.made_by[metaclass]:
        link.waits(starter, _call_bound, value, passed, given)


def _call_bound(link: Linking, receiver: int, passed: tuple[int, ...], given: dict[str, int], function: int) -> None:
    kind, a, _ = link.values.keys[function]
    if kind in (Kind.CLASSMETHOD, Kind.STATICMETHOD):
        function = int(a)
    if link.values.keys[function][0] == Kind.FUNCTION:
        bound = link.holding(link.values.make(Kind.BOUND, function, receiver))
        link.make_call(Call(-1, bound, link.nowhere, positional=passed, keywords=given))


def _tell_name(link: Linking, owner: int, member: int) -> None:
    method = special(link, as_descriptor(link, member), "__set_name__")
    if method is not None:
        passed = [link.holding(owner), link.holding(link.builtin("str"))]
        link.make_call(Call(-1, method, link.nowhere, positional=passed))


def call_metaclass(link: Linking, scope: int, base: int) -> None:
    """A class that is made below another is made by the metaclass of that."""
    if base not in link.metaclasses:
        return
    for name in ("__new__", "__init__"):
        slot = provider(link, link.hierarchy.order(link.metaclasses[base]), name)
        if slot is not None:
            link.waits(slot, _imply, scope)


def _imply(link: Linking, scope: int, function: int) -> None:
    if link.values.keys[function][0] in (Kind.STATICMETHOD, Kind.CLASSMETHOD):
        function = link.values.keys[function][1]
    if link.values.keys[function][0] == Kind.FUNCTION:
        link.imply_function(scope, function)
