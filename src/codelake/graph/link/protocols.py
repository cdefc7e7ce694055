"""What Python calls by itself: iteration, items, operators, `with`, `await`, `except`."""

from __future__ import annotations

from collections.abc import Container
from functools import partial

from codelake.graph.link.attributes import special, view
from codelake.graph.link.call import Call
from codelake.graph.link.enums import is_enum
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.outside import member_of
from codelake.graph.link.records import field_at, fields_of
from codelake.graph.link.values import Kind, Known

_N_OF_GENERATOR = 3


def is_of_unit(link: Linking, value: int) -> bool:
    """Whether a value is an instance of a class of the unit."""
    kind, of, _ = link.values.keys[value]
    return kind == Kind.INSTANCE and link.values.keys[of][0] == Kind.CLASS


def call_special(link: Linking, scope: int, value: int, name: str, result: int, *arguments: int) -> bool:
    """Call a special method of an instance, if its class has it."""
    method = special(link, value, name)
    if method is None:
        return False
    link.imply(scope, value, name)
    if arguments:
        link.make_call(Call(-1, method, result, positional=list(arguments)))
        return True
    given = link.solver.named("gives", value, name)
    link.solver.once(given, link.make_call, Call(-1, method, given))
    link.solver.copy(given, result)
    return True


def call_outside(link: Linking, value: int, name: str, result: int) -> bool:
    """Call a special method of an instance of an external class, if stubs know it."""
    member = member_of(link, link.class_of(value), name)
    if member is None or not member.stub.is_called:
        return False
    given = link.solver.named("gives", value, name)
    link.solver.once(given, _call_member, link, value, name, given)
    link.solver.copy(given, result)
    return True


def _call_member(link: Linking, value: int, name: str, given: int) -> None:
    link.make_call(Call(-1, view(link, value, name), given))


def is_of_outside(link: Linking, value: int) -> bool:
    """Whether a value is an instance of an external class."""
    kind, of, _ = link.values.keys[value]
    return kind == Kind.INSTANCE and link.values.keys[of][0] == Kind.EXTERNAL


# iteration ---------------------------------------------------------------------------------------


def iterate(link: Linking, scope: int, dst: int, value: int) -> None:
    """What iterating a value gives goes to a slot."""
    kind, a, b = link.values.keys[value]
    if kind == Kind.CONTAINER:
        link.solver.copy(link.keys_of(value) if b == "dict" else link.all_elements(value), dst)
    elif kind == Kind.GENERATOR:
        link.solver.copy(link.yielded(a), dst)
    elif kind == Kind.INSTANCE:
        link.solver.copy(_iterated(link, value), dst)
        if scope >= 0 and is_of_unit(link, value):
            link.imply(scope, value, "__iter__" if special(link, value, "__iter__") is not None else "__getitem__")
            link.waits(link.solver.named("iterator", value), _imply_next, scope)
    elif kind == Kind.CLASS:
        link.solver.add(dst, link.instance(value))  # of an enumeration


def _imply_next(link: Linking, scope: int, value: int) -> None:
    link.imply(scope, value, "__next__")


def _iterated(link: Linking, value: int) -> int:
    slot = link.solver.named("iterated", value)
    link.solver.once(slot, _add_iterated, link, value, slot)
    return slot


def _add_iterated(link: Linking, value: int, slot: int) -> None:
    own = link.solver.named("iterator", value)
    if is_of_outside(link, value):
        if call_outside(link, value, "__iter__", own):
            link.waits(own, _advance, -1, slot)
    elif call_special(link, -1, value, "__iter__", own):
        link.waits(own, _advance, -1, slot)
    elif fields := fields_of(link, link.class_of(value)):
        for name in fields:
            link.solver.copy(view(link, value, name), slot)
    else:
        call_special(link, -1, value, "__getitem__", slot)


def _advance(link: Linking, scope: int, dst: int, value: int) -> None:
    if is_of_unit(link, value):
        call_special(link, scope, value, "__next__", dst)
    elif is_of_outside(link, value):
        call_outside(link, value, "__next__", dst)
    else:
        iterate(link, scope, dst, value)


def aiterate(link: Linking, scope: int, dst: int, value: int) -> None:
    if not is_of_unit(link, value):
        iterate(link, scope, dst, value)
        return
    own = link.solver.named("aiterator", value)
    link.imply(scope, value, "__aiter__")
    link.solver.once(own, call_special, link, -1, value, "__aiter__", own)
    link.waits(own, _advance_later, scope, dst)


def _advance_later(link: Linking, scope: int, dst: int, value: int) -> None:
    slot = link.solver.named("anext", value)
    if call_special(link, scope, value, "__anext__", slot):
        link.waits(slot, wait_for, scope, dst)
    else:
        iterate(link, scope, dst, value)


# items -------------------------------------------------------------------------------------------


def load_item(link: Linking, scope: int, key: str, dst: int, value: int) -> None:
    kind, a, b = link.values.keys[value]
    if kind == Kind.CONTAINER:
        if key == ":" or (key == "0:" and b != "dict"):
            link.solver.add(dst, value)
        elif key.endswith(":") and key[:-1].isdigit():
            _slice(link, int(key[:-1]), str(b), dst, value)
        else:
            link.item(value, key if b == "dict" or key.lstrip("-").isdigit() else ANY, dst)
    elif kind == Kind.INSTANCE:
        if is_of_outside(link, value):
            call_outside(link, value, "__getitem__", dst)
        elif (field := field_at(link, value, key)) is not None:
            link.solver.copy(view(link, value, field), dst)
        else:
            call_special(link, scope, value, "__getitem__", dst)
    elif kind == Kind.CLASS and is_enum(link, value):
        link.solver.add(dst, link.instance(value))  # the member of a name
    elif kind in (Kind.CLASS, Kind.BELOW):
        link.solver.add(dst, value)  # a generic class with its parameters
    elif kind == Kind.EXTERNAL and str(a).rpartition(".")[2][:1].isupper():
        link.solver.add(dst, value)  # the same, as far as its name tells


def _slice(link: Linking, start: int, type_name: str, dst: int, value: int) -> None:
    """A container from a place on is a new one."""
    made = link.container(dst, type_name)
    link.solver.add(dst, made)

    def take(key: str) -> None:
        if not key.isdigit():
            link.solver.copy(link.element(value, key), link.element(made, key))
        elif int(key) >= start:
            link.solver.copy(link.element(value, key), link.element(made, str(int(key) - start)))

    if made != value:
        link.each_key(value, take)


def store_item(link: Linking, scope: int, key: str, src: int, value: int) -> None:
    if value in link.constant:
        return
    if link.values.keys[value][0] == Kind.CONTAINER:
        link.solver.copy(src, link.element(value, key if not key.endswith(":") and not key.startswith("-") else ANY))
    else:
        call_special(link, scope, value, "__setitem__", link.nowhere, link.nowhere, src)


def unpack(link: Linking, scope: int, key: str, dst: int, value: int) -> None:
    if (field := field_at(link, value, key)) is not None:
        link.solver.copy(view(link, value, field), dst)
    elif link.values.keys[value][0] == Kind.CONTAINER and link.values.keys[value][2] in ("tuple", "list"):
        link.item(value, key, dst)
    else:
        iterate(link, scope, dst, value)


def unpack_rest(link: Linking, scope: int, key: str, dst: int, value: int) -> None:
    made = link.container(dst, "list")
    link.solver.add(dst, made)
    if link.values.keys[value][0] == Kind.CONTAINER:
        start, _, stop = key.partition(":")
        first = int(start)

        def take(key: str) -> None:
            if not key.isdigit():
                link.solver.copy(link.element(value, key), link.element(made, ANY))
            elif first <= int(key) and (not stop or int(key) < int(stop)):
                link.solver.copy(link.element(value, key), link.element(made, str(int(key) - first)))

        link.each_key(value, take)
    else:
        iterate(link, scope, link.element(made, ANY), value)


def add_elements(link: Linking, scope: int, container: int, but: Container[str], value: int) -> None:
    """A container takes all that another, or anything that can be iterated, holds; but not under some keys, which
    are given something else behind."""
    is_dict = link.values.keys[container][2] == "dict"
    if link.values.keys[value][0] == Kind.CONTAINER and (is_dict or link.values.keys[value][2] != "dict"):
        link.each_key(value, partial(_take_element, link, container, value, is_dict, but))
        if is_dict:
            link.solver.copy(link.keys_of(value), link.keys_of(container))
    else:
        iterate(link, scope, link.element(container, ANY), value)


def add_pairs(link: Linking, scope: int, container: int, but: Container[str], value: int) -> None:
    """A dict takes what another holds, or pairs of a key and what is under it."""
    if link.values.keys[value][0] == Kind.CONTAINER and link.values.keys[value][2] == "dict":
        add_elements(link, scope, container, but, value)
        return
    pair = link.solver.named("pair", container, value)
    iterate(link, scope, pair, value)
    link.waits(pair, unpack, scope, "0", link.keys_of(container))
    link.waits(pair, unpack, scope, "1", link.element(container, ANY))


def _take_element(link: Linking, container: int, value: int, is_dict: bool, but: Container[str], key: str) -> None:
    if is_dict and key in but:
        return
    link.solver.copy(link.element(value, key), link.element(container, key if is_dict else ANY))


def delete_item(link: Linking, scope: int, value: int) -> None:
    call_special(link, scope, value, "__delitem__", link.nowhere)


def add_bases(link: Linking, result: int, value: int) -> None:
    """A class that is made by a call is taken for what is given as its bases."""
    if link.values.keys[value][0] == Kind.CONTAINER:
        link.waits(link.all_elements(value), _add_class, result)


def _add_class(link: Linking, result: int, value: int) -> None:
    if link.values.keys[value][0] in (Kind.CLASS, Kind.EXTERNAL):
        link.solver.add(result, value)


# truth and text ----------------------------------------------------------------------------------


def test(link: Linking, scope: int, value: int) -> None:
    if not call_special(link, scope, value, "__bool__", link.nowhere):
        call_special(link, scope, value, "__len__", link.nowhere)


def text_of(link: Linking, scope: int, value: int) -> None:
    """What `print` asks for."""
    if not call_special(link, scope, value, "__str__", link.nowhere):
        call_special(link, scope, value, "__repr__", link.nowhere)


def formatted(link: Linking, scope: int, value: int) -> None:
    if not call_special(link, scope, value, "__format__", link.nowhere):
        text_of(link, scope, value)


def raised(link: Linking, scope: int, value: int) -> None:
    """A class that is raised is called."""
    if link.values.keys[value][0] in (Kind.CLASS, Kind.BELOW):
        link.make_call(Call(scope, link.holding(value), link.nowhere))


# with, await, except -----------------------------------------------------------------------------


def enter(link: Linking, scope: int, dst: int, value: int) -> None:
    kind, a, _ = link.values.keys[value]
    if kind == Kind.ENTERED:
        function = link.values.keys[a]
        if function[0] == Kind.FUNCTION:
            link.solver.copy(link.yielded(function[1]), dst)
    elif is_of_unit(link, value):
        if call_special(link, scope, value, "__enter__", dst):
            call_special(link, scope, value, "__exit__", link.nowhere)
        elif any(link.values.keys[one][0] == Kind.EXTERNAL for one in link.hierarchy.order(link.class_of(value))):
            link.solver.add(dst, value)
    elif not is_of_outside(link, value) or not call_outside(link, value, "__enter__", dst):
        link.solver.add(dst, value)


def aenter(link: Linking, scope: int, dst: int, value: int) -> None:
    slot = link.solver.named("aenter", value)
    if call_special(link, scope, value, "__aenter__", slot):
        link.waits(slot, wait_for, scope, dst)
        call_special(link, scope, value, "__aexit__", link.nowhere)
    elif is_of_outside(link, value) and call_outside(link, value, "__aenter__", slot):
        link.waits(slot, wait_for, scope, dst)
    else:
        enter(link, scope, dst, value)


def wait_for(link: Linking, scope: int, dst: int, value: int) -> None:
    """What awaiting a value, or delegating to it, gives."""
    kind, a, _ = link.values.keys[value]
    if kind in (Kind.COROUTINE, Kind.GENERATOR):
        link.solver.copy(link.returned(a), dst)
        for slot, _ in link.handed.get(a, ()):
            link.solver.copy(slot, dst)
    elif kind == Kind.EXTERNAL:
        link.solver.add(dst, value)
    elif is_of_unit(link, value):
        slot = link.solver.named("await", value)
        if call_special(link, scope, value, "__await__", slot):
            link.waits(slot, wait_for, scope, dst)
    elif is_of_outside(link, value):
        slot = link.solver.named("await", value)
        if call_outside(link, value, "__await__", slot):
            link.waits(slot, _returned_by, dst)


def _returned_by(link: Linking, dst: int, value: int) -> None:
    """What a generator of the outside returns, which is the last of its type variables."""
    codes = link.values.codes(link.class_of(value))
    if len(codes) == _N_OF_GENERATOR and codes[-1] is not None:
        link.solver.copy(link.holding(codes[-1]) if codes[-1] >= 0 else -1 - codes[-1], dst)


def catch(link: Linking, dst: int, value: int) -> None:
    kind = link.values.keys[value][0]
    if kind in (Kind.CLASS, Kind.EXTERNAL):
        link.solver.add(dst, link.instance(value, Known.SAID))
    elif kind == Kind.BELOW:
        link.solver.add(dst, link.instance(int(link.values.keys[value][1]), Known.SAID))
    elif kind == Kind.CONTAINER:
        link.waits(link.all_elements(value), catch, dst)
