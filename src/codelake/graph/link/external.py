"""A call of something external: what is known of it, or what its name tells."""

from __future__ import annotations

from codelake.graph.link.call import Call
from codelake.graph.link.known import KNOWN
from codelake.graph.link.linking import Linking
from codelake.graph.link.stub_calls import call_name


def call_external(link: Linking, call: Call, value: int) -> None:
    name = str(link.values.keys[value][1])
    does = KNOWN.get(name)
    if does is not None:
        does(link, call)
        return
    if call.is_decorator:
        for slot in call.positional:
            link.solver.copy(slot, call.result)
        return
    if f"{name}()" in KNOWN:
        link.solver.add(call.result, link.values.external(f"{name}()"))
    elif not call_name(link, call, value):
        last = name.rpartition(".")[2]
        if last[:1].isupper() and not last.isupper():
            link.solver.add(call.result, link.instance(value))  # named as classes are
