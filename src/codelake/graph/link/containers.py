"""What methods of containers do, and what builtins that take containers share with them."""

from __future__ import annotations

from copy import copy

from codelake.graph.link.asking import ask_keys, ask_order
from codelake.graph.link.call import Call
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.parts import Fact
from codelake.graph.link.protocols import add_elements, iterate, load_item
from codelake.graph.link.stub_calls import call_stub
from codelake.graph.link.values import Kind

_ADDING = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1, "put": 0}
_OF_ITSELF = ("copy", "difference", "intersection", "symmetric_difference")
_TAKING = ("pop", "popleft", "get", "setdefault")


def pass_key(link: Linking, parameter: int, slot: int | None) -> None:
    """A call passes this, or something unknown, to a parameter: items may be looked up by it."""
    if parameter in link.lookups:
        link.solver.add_key(-1 - parameter, (None if slot is None else link.key(slot)) or ANY)


def look_up(link: Linking, parameter: int, fact: Fact) -> None:
    """An item is looked up by a parameter: those that calls ask for. What is any of them, for where nobody calls, is
    kept aside."""

    def each(key: str) -> None:
        link.waits(fact.src, load_item, fact.scope, key, fact.dst)

    link.each_key(-1 - parameter, each)
    link.waits(fact.src, load_item, fact.scope, ANY, link.solver.named("looked up", fact.dst))


def call_key(link: Linking, call: Call) -> None:
    key = call.keywords.get("key")
    if key is not None and call.positional:
        element = link.solver.named("key", call.result)
        if len(call.positional) == 1:
            link.waits(call.positional[0], iterate, call.scope, element)
        else:
            for slot in call.positional:
                link.solver.copy(slot, element)
        link.make_call(Call(call.scope, key, link.nowhere, call.node, positional=[element]))


def pairs(link: Linking, call: Call, type_name: str) -> int:
    """The result gives tuples, which are taken for one."""
    made = link.container(call.result, type_name)
    link.solver.add(call.result, made)
    elements = link.element(made, ANY)
    pair = link.container(elements, "tuple")
    link.solver.add(elements, pair)
    return pair


def bind_by_hand(link: Linking, call: Call) -> None:
    """`types.MethodType(function, receiver)`."""
    if len(call.positional) > 1:
        link.waits(call.positional[0], _bind_function, call.positional[1], call.result)


def _bind_function(link: Linking, receivers: int, result: int, function: int) -> None:
    if link.values.keys[function][0] in (Kind.FUNCTION, Kind.EXTERNAL):
        link.waits(receivers, _bind, result, function)


def _bind(link: Linking, result: int, function: int, receiver: int) -> None:
    link.solver.add(result, link.values.make(Kind.BOUND, function, receiver))


def call_method(link: Linking, call: Call, value: int) -> None:
    _, receiver, attribute = link.values.keys[value]
    name = str(attribute)
    if link.values.keys[receiver][0] != Kind.CONTAINER:
        if name in ("send", "__next__"):
            iterate(link, call.scope, call.result, receiver)
        if name == "send" and call.positional:
            link.solver.copy(call.positional[0], link.solver.named("sent", link.values.keys[receiver][1]))
        if name == "__get__" and call.positional:
            _bind_function(link, call.positional[0], call.result, receiver)  # `function.__get__(receiver)`
        return
    type_name = str(link.values.keys[receiver][2])
    text = link.text(call.positional[0]) if call.positional and type_name == "dict" else None
    key = ANY if text is None else repr(text)
    ask_keys(link, call, type_name, name)
    is_open = receiver not in link.constant
    if is_open and name in _ADDING and len(call.positional) > _ADDING[name]:
        link.solver.copy(call.positional[_ADDING[name]], link.element(receiver, key))
    if name in _TAKING:
        link.item(receiver, key, call.result)
        for slot in call.positional[1:2]:
            link.solver.copy(slot, call.result)
        if name == "setdefault" and type_name == "dict" and text is None and is_open and call.positional:
            link.solver.copy(call.positional[0], link.keys_of(receiver))
        if name == "get" and len(call.positional) == 1:
            link.solver.mark("nothing", call.result)
    elif name in ("extend", "update", "union", "extendleft") and is_open:
        for slot in call.positional:
            link.waits(slot, add_elements, call.scope, receiver, ())
        for keyword, slot in call.keywords.items():
            link.solver.copy(slot, link.element(receiver, repr(keyword)))
        if name == "union":
            link.solver.add(call.result, receiver)
    elif name in _OF_ITSELF:
        link.solver.add(call.result, receiver)
    elif name in ("values", "keys") and type_name == "dict":
        made = link.container(call.result, f"dict_{name}")
        link.solver.add(call.result, made)
        source = link.all_elements(receiver) if name == "values" else link.keys_of(receiver)
        link.solver.copy(source, link.element(made, ANY))
    elif name == "popitem":
        made = link.container(call.result, "tuple")
        link.solver.add(call.result, made)
        link.solver.copy(link.keys_of(receiver), link.element(made, "0"))
        link.solver.copy(link.all_elements(receiver), link.element(made, "1"))
    elif name == "items":
        pair = pairs(link, call, "dict_items")
        link.solver.copy(link.keys_of(receiver), link.element(pair, "0"))
        link.solver.copy(link.all_elements(receiver), link.element(pair, "1"))
    elif name == "sort":
        itself = copy(call)
        itself.positional = [link.holding(receiver)]
        call_key(link, itself)
        ask_order(link, itself, "__lt__")
    else:
        member = link.stubs.member(f"builtins.{type_name}", name)
        if member is not None and member.stub.is_called:
            call_stub(link, call, member.stub, {}, receiver)
