"""What methods of containers do, and what builtins that take containers share with them."""

from __future__ import annotations

from codelake.graph.link.call import Call
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.protocols import add_elements, iterate
from codelake.graph.link.values import Kind

_ADDING = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1, "put": 0}
_TAKING = ("pop", "popleft", "get", "setdefault", "popitem")


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


def call_method(link: Linking, call: Call, value: int) -> None:
    _, receiver, name = link.values.keys[value]
    if link.values.keys[receiver][0] != Kind.CONTAINER:
        if name in ("send", "__next__"):
            iterate(link, call.scope, call.result, receiver)
        if name == "send" and call.positional:
            link.solver.copy(call.positional[0], link.solver.named("sent", link.values.keys[receiver][1]))
        return
    type_name = str(link.values.keys[receiver][2])
    text = link.text(call.positional[0]) if call.positional and type_name == "dict" else None
    key = ANY if text is None else repr(text)
    is_open = receiver not in link.constant
    if is_open and name in _ADDING and len(call.positional) > _ADDING[name]:
        link.solver.copy(call.positional[_ADDING[name]], link.element(receiver, key))
    if name in _TAKING:
        link.item(receiver, key, call.result)
        for slot in call.positional[1:2]:
            link.solver.copy(slot, call.result)
    elif name in ("extend", "update", "union", "extendleft") and is_open:
        for slot in call.positional:
            link.waits(slot, add_elements, call.scope, receiver, ())
        for keyword, slot in call.keywords.items():
            link.solver.copy(slot, link.element(receiver, repr(keyword)))
        if name == "union":
            link.solver.add(call.result, receiver)
    elif name == "copy":
        link.solver.add(call.result, receiver)
    elif name in ("values", "keys") and type_name == "dict":
        made = link.container(call.result, f"dict_{name}")
        link.solver.add(call.result, made)
        source = link.all_elements(receiver) if name == "values" else link.keys_of(receiver)
        link.solver.copy(source, link.element(made, ANY))
    elif name == "items":
        pair = pairs(link, call, "dict_items")
        link.solver.copy(link.keys_of(receiver), link.element(pair, "0"))
        link.solver.copy(link.all_elements(receiver), link.element(pair, "1"))
    elif name == "sort":
        call_key(
            link,
            Call(
                call.scope,
                call.callee,
                call.result,
                call.node,
                positional=[link.holding(receiver)],
                keywords=call.keywords,
            ),
        )
