"""Special methods that Python calls of what is compared, put in order, looked up by, or made a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codelake.graph.link.attributes import provider
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.parts import Fact
from codelake.graph.link.protocols import call_special, formatted, iterate, text_of
from codelake.graph.link.values import Kind

_HASHED = ("dict", "set", "frozenset", "dict_keys")
_COMPARED = ("list", "tuple", "deque", "dict_values")
_BY_KEY = {
    **dict.fromkeys(("get", "pop", "setdefault", "has_key"), "dict"),
    **dict.fromkeys(("add", "discard"), "set"),
}
"""Methods whose first argument is a key, by the type that has them; `remove` is of lists too."""
_BY_ITEM = ("index", "remove", "count")


def ask(link: Linking, scope: int, slot: int, name: str) -> None:
    """Code of a scope makes Python call a special method of what a slot holds, if any class of the unit has it."""
    if scope >= 0 and name in link.specials:
        link.waits(slot, _ask, scope, name)


def _ask(link: Linking, scope: int, name: str, value: int) -> None:
    call_special(link, scope, value, name, link.nowhere)


def ask_keys(link: Linking, call: Call, type_name: str, name: str) -> None:
    """A method of a container is given a key or an item."""
    for slot in call.positional[:1]:
        if type_name in _HASHED and (name == "remove" or _BY_KEY.get(name) == type_name):
            ask(link, call.scope, slot, "__hash__")
        elif type_name in _COMPARED and name in _BY_ITEM:
            ask(link, call.scope, slot, "__eq__")


def ask_contained(link: Linking, scope: int, left: int, container: int) -> None:
    """`left in container`."""
    kind, _, type_name = link.values.keys[container]
    if kind != Kind.CONTAINER:
        return
    if type_name in _HASHED:
        ask(link, scope, left, "__hash__")
    elif type_name in _COMPARED:
        ask(link, scope, left, "__eq__")
        ask(link, scope, link.all_elements(container), "__eq__")


def ask_looked_up(link: Linking, fact: Fact, index: int | None) -> None:
    """`container[index]`."""
    if index is not None and "__hash__" in link.specials:
        link.waits(fact.src, _ask_dict, fact.scope, index)


def _ask_dict(link: Linking, scope: int, index: int, value: int) -> None:
    if link.values.keys[value][0] == Kind.CONTAINER and link.values.keys[value][2] == "dict":
        ask(link, scope, index, "__hash__")


def add_keys(link: Linking, made: Mapping[int, int]) -> None:
    """Keys that are not constants, of displays and of what is stored to. `made` are containers by their slot."""
    for fact in link.program.every("key"):
        if fact.dst in made:
            link.solver.copy(fact.src, link.keys_of(made[fact.dst]))
            ask(link, fact.scope, fact.src, "__hash__")
        else:
            link.waits(fact.dst, add_key, fact.scope, fact.src)
    sets = {fact.dst for fact in link.program.every("make") if fact.key == "set"} if "__hash__" in link.specials else ()
    for fact in link.program.every("element") if sets else ():
        if fact.dst in sets:
            ask(link, fact.scope, fact.src, "__hash__")


def add_key(link: Linking, scope: int, key: int, value: int) -> None:
    """A dict comes to have a key."""
    if link.values.keys[value][0] == Kind.CONTAINER and link.values.keys[value][2] == "dict":
        if value not in link.constant:
            link.solver.copy(key, link.keys_of(value))
        ask(link, scope, key, "__hash__")


def ask_order(link: Linking, call: Call, name: str) -> None:
    """A builtin puts what it is given in order, as it is."""
    if "key" in call.keywords or name not in link.specials:
        return
    if len(call.positional) > 1:
        for slot in call.positional:
            ask(link, call.scope, slot, name)
    for slot in call.positional[:1] if len(call.positional) == 1 else ():
        element = link.solver.named("put in order", call.result)
        link.waits(slot, iterate, call.scope, element)
        ask(link, call.scope, element, name)


def ask_text(link: Linking, scope: int, value: int) -> None:
    """What `'%s' % value` asks for: a tuple is several."""
    if link.values.keys[value][0] == Kind.CONTAINER and link.values.keys[value][2] == "tuple":
        link.waits(link.all_elements(value), text_of, scope)
    else:
        text_of(link, scope, value)


def format_all(link: Linking, call: Call) -> None:
    """`text.format(...)`."""
    link.solver.add(call.result, link.builtin("str"))
    for slot in (*call.positional, *call.keywords.values()):
        link.waits(slot, formatted, call.scope)


def ask_class(name: str) -> Callable[[Linking, Call], None]:
    """`isinstance` and `issubclass` ask the metaclass of what they are given."""

    def known(link: Linking, call: Call) -> None:
        link.solver.add(call.result, link.builtin("bool"))
        for slot in call.positional[1:2] if call.scope >= 0 and name in link.specials else ():
            link.waits(slot, _ask_metaclass, call.scope, name)

    return known


def _ask_metaclass(link: Linking, scope: int, name: str, value: int) -> None:
    if link.values.keys[value][0] == Kind.CONTAINER:
        link.waits(link.all_elements(value), _ask_metaclass, scope, name)
    elif value in link.metaclasses:
        method = provider(link, link.hierarchy.order(link.metaclasses[value]), name)
        if method is not None:
            link.waits(method, _imply, scope)


def _imply(link: Linking, scope: int, function: int) -> None:
    if link.values.keys[function][0] == Kind.FUNCTION:
        link.imply_function(scope, function)
