"""Types of stubs as values in slots.

What a type variable stands for is a code: a value, or, below zero, a slot (-1 - slot). An external class keeps the
codes of its variables, so that `re.Pattern[str]` is another value than `re.Pattern`. Whatever needs a slot of its own
is named by the site that it is made for.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.signatures import Alternative, Type
from codelake.graph.link.stubs import Member
from codelake.graph.link.values import Kind

Codes = Mapping[str, int]
_CONTAINERS = ("list", "tuple", "set", "frozenset", "dict")
_SILENT = ("Callable", "...", "*", "builtins.object", "builtins.None")
_DEEPEST = 3


class Filling:
    """`site` names what is made here. `is_implied`: the site is named by the receiver, whose own codes then must not
    be slots that come from such sites, or there would be ever more of them."""

    def __init__(
        self, link: Linking, site: tuple[Hashable, ...], codes: Codes, receiver: int, *, is_implied: bool = False
    ) -> None:
        self.link, self.site, self.codes, self.receiver = link, site, codes, receiver
        self.is_closed = is_implied and any(code < 0 for code in codes.values())

    def fill(self, type_: Type, slot: int, *path: int) -> None:
        for number, one in enumerate(type_):
            self._fill(one, slot, (*path, number))

    def _fill(self, one: Alternative, slot: int, path: tuple[int, ...]) -> None:
        link, head = self.link, one.head
        if head.startswith("~"):
            code = self.codes.get(head)
            if code is not None:
                _copy(link, code, slot)
        elif head == "Self":
            if self.receiver >= 0:
                link.solver.add(slot, _instance_of(link, self.receiver))
        elif head.startswith("'"):
            link.solver.add(slot, link.builtin("str"))
        elif head == "builtins.type":
            for inner in one.inner[:1]:
                self._fill_class(inner, slot)
        elif head.startswith("builtins.") and head[9:] in _CONTAINERS:
            self._fill_container(head[9:], one.inner, slot, path)
        elif head not in _SILENT:
            self._fill_named(one, slot, path)

    def _fill_named(self, one: Alternative, slot: int, path: tuple[int, ...]) -> None:
        stub = self.link.stubs.find(one.head)
        if stub is None or stub.kind not in ("class", "type"):
            return
        if stub.kind == "type":
            if len(path) <= _DEEPEST:  # a type may be named within itself
                self.fill(self.link.stubs.expanded(one, stub), slot, *path)
            return
        codes = [self.code(inner, (*path, number)) for number, inner in enumerate(one.inner)]
        self.link.solver.add(slot, self.link.instance(self.link.values.generic(stub.name, codes)))

    def _fill_class(self, inner: Type, slot: int) -> None:
        for one in inner:
            if one.head == "Self" and self.receiver >= 0:
                self.link.solver.add(slot, self.link.class_of(self.receiver))
            elif one.head.startswith("~"):
                code = self.codes.get(one.head)
                if code is not None and code >= 0:
                    self.link.solver.add(slot, self.link.class_of(code))
            elif (stub := self.link.stubs.class_named(one.head)) is not None:
                self.link.solver.add(slot, self.link.values.external(stub.name))

    def _fill_container(self, type_name: str, inner: tuple[Type, ...], slot: int, path: tuple[int, ...]) -> None:
        link = self.link
        place = link.solver.named("stub", *self.site, path)
        made = link.container(place, type_name)
        link.solver.add(slot, made)
        if type_name == "dict" and len(inner) == 2:
            self.fill(inner[0], link.keys_of(made), *path, 0)
            self.fill(inner[1], link.element(made, ANY), *path, 1)
        elif type_name == "tuple" and not (len(inner) == 2 and inner[1] and inner[1][0].head == "..."):
            for number, each in enumerate(inner):
                self.fill(each, link.element(made, str(number)), *path, number)
        elif inner:
            self.fill(inner[0], link.element(made, ANY), *path, 0)

    def code(self, type_: Type, path: tuple[int, ...] = ()) -> int | None:
        """What a type is as the variable of a class; None where nothing is said, or it would lead too far."""
        if len(type_) == 1 and type_[0].head.startswith("~"):
            return self.codes.get(type_[0].head)
        plain = plain_values(self.link, type_)
        if plain is not None:
            if not plain:
                return None
            if len(plain) == 1:
                return plain[0]
        if self.is_closed or len(path) > _DEEPEST:
            return None
        slot = self.link.solver.named("stub", *self.site, "code", path)
        self.link.solver.once(slot, self.fill, type_, slot, *path)
        return -1 - slot

    def slot(self, type_: Type, path: tuple[int, ...]) -> int:
        """A slot that holds what a type says."""
        code = self.code(type_, path)
        return self.link.nowhere if code is None else -1 - code if code < 0 else self.link.holding(code)


def plain_values(link: Linking, type_: Type) -> tuple[int, ...] | None:
    """The values of a type that are the same wherever it stands; None where it has variables or containers."""
    found = []
    for one in type_:
        head = one.head
        if head.startswith("'"):
            found.append(link.builtin("str"))
        elif head in _SILENT:
            continue
        elif head == "Self" or head.startswith("~") or one.inner or head.removeprefix("builtins.") in _CONTAINERS:
            return None
        else:
            stub = link.stubs.find(head)
            if stub is not None and stub.kind == "type":
                return None
            if stub is not None and stub.kind == "class":
                found.append(link.instance(link.values.external(stub.name)))
    return tuple(dict.fromkeys(found))


def codes_of(link: Linking, member: Member, of: int) -> dict[str, int]:
    """What the variables of the class that has a member stand for, where an external class (a value) is asked."""
    given = link.values.codes(of)
    if not given:
        return {}
    stub = link.stubs.class_named(str(link.values.keys[of][1]))
    names = [] if stub is None else link.stubs.variables(stub)
    own = {name: code for name, code in zip(names, given, strict=False) if code is not None}
    filling = Filling(link, ("codes", of), own, -1, is_implied=True)
    found = {name: filling.code(type_) for name, type_ in member.bound.items()}
    return {name: code for name, code in found.items() if code is not None}


def _copy(link: Linking, code: int, slot: int) -> None:
    if code < 0:
        link.solver.copy(-1 - code, slot)
    else:
        link.solver.add(slot, code)


def _instance_of(link: Linking, receiver: int) -> int:
    """The receiver as an instance: a class stands for one of its own."""
    kind = link.values.keys[receiver][0]
    return link.instance(receiver) if kind in (Kind.CLASS, Kind.EXTERNAL) else receiver
