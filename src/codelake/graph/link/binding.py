"""What a call does, for each value that it may call."""

from __future__ import annotations

from codelake.graph.link.attributes import provider, special
from codelake.graph.link.call import Call
from codelake.graph.link.containers import call_method
from codelake.graph.link.external import call_external
from codelake.graph.link.known import KNOWN, WRAPPERS
from codelake.graph.link.linking import Linking
from codelake.graph.link.passing import pass_arguments
from codelake.graph.link.stub_calls import call_bound
from codelake.graph.link.values import Kind, Known

_MAX_THROUGH = 4


def bind(link: Linking, call: Call, value: int) -> None:
    if value in call.through or len(call.through) > _MAX_THROUGH:
        return
    does = _CALLED.get(link.values.keys[value][0])
    if does is not None:
        does(link, call, value)


def _function(link: Linking, call: Call, value: int) -> None:
    number = link.values.keys[value][1]
    pass_arguments(link, call, number, receiver=None)


def _bound(link: Linking, call: Call, value: int) -> None:
    _, function, receiver = link.values.keys[value]
    kind, number, _ = link.values.keys[function]
    if kind == Kind.FUNCTION:
        pass_arguments(link, call, number, receiver=int(receiver))
    elif str(number) == "builtins.type.__call__":
        _make(link, call, int(receiver))
        for name in ("__new__", "__init__"):
            slot = provider(link, link.hierarchy.order(int(receiver)), name)
            if slot is not None:
                link.waits(slot, _imply, call.scope)
    elif str(number) in KNOWN or not call_bound(link, call, function, int(receiver)):
        first = link.holding(int(receiver))
        stars = [(position + 1, slot) for position, slot in call.stars]
        link.make_call(call.instead(value, link.holding(function), positional=[first, *call.positional], stars=stars))


def _class(link: Linking, call: Call, value: int) -> None:
    metaclass = link.metaclasses.get(value)
    if metaclass is not None:
        of_meta = provider(link, link.hierarchy.order(metaclass), "__call__")
        if of_meta is not None:
            link.waits(of_meta, _construct, call, value, call.result)
            return
    _make(link, call, value)


def _below(link: Linking, call: Call, value: int) -> None:
    """What is made may be an instance of a class below."""
    of = int(link.values.keys[value][1])
    made = link.solver.named("made below", call.result, value)
    _class(link, call.instead(value, call.callee, result=made), of)
    link.waits(made, _as_said, call.result)
    for one in link.hierarchy.subclasses.get(of, ()):
        if "__init__" in link.members.get(one, ()):
            link.solver.mark("started", one)


def _as_said(link: Linking, result: int, value: int) -> None:
    kind, of, known = link.values.keys[value]
    is_made = kind == Kind.INSTANCE and known == Known.MADE
    link.solver.add(result, link.instance(of, Known.SAID) if is_made else value)


def _imply(link: Linking, scope: int, function: int) -> None:
    if link.values.keys[function][0] == Kind.FUNCTION:
        link.imply_function(scope, function)


def _make(link: Linking, call: Call, value: int) -> None:
    """An instance of a class, as `type.__call__` makes it."""
    for one in link.hierarchy.order(value):
        name = str(link.values.keys[one][1])
        if name in WRAPPERS:
            KNOWN[name](link, call)  # a kind of property or class method of one's own
    result = call.result
    if call.positional and link.gets(value):
        link.waits(call.positional[0], _hold, value, result)
        result = link.nowhere
    maker = provider(link, link.hierarchy.order(value), "__new__")
    if maker is None:
        link.solver.add(result, link.instance(value))
        _start(link, call, value, link.instance(value))
    else:
        made = link.solver.named("made", call.result, value)
        link.waits(maker, _construct, call, value, made)
        link.solver.copy(made, result)
        link.waits(made, _start, call, value)


def _hold(link: Linking, of: int, result: int, value: int) -> None:
    """A descriptor that calls what it was made with is as good as a property; one made with something else is not."""
    is_function = link.values.keys[value][0] == Kind.FUNCTION
    link.solver.add(result, link.values.make(Kind.PROPERTY, value, of) if is_function else link.instance(of))


def _start(link: Linking, call: Call, of: int, made: int) -> None:
    """`__init__` of what was made, if that is an instance of the class."""
    if link.values.keys[made][0] == Kind.INSTANCE and of in link.hierarchy.order(link.class_of(made)):
        link.solver.mark("started", link.class_of(made))
        starter = provider(link, link.hierarchy.order(link.class_of(made)), "__init__")
        if starter is not None:
            link.waits(starter, _construct, call, made, link.nowhere)


def _construct(link: Linking, call: Call, receiver: int, result: int, member: int) -> None:
    kind, a, _ = link.values.keys[member]
    function = int(a) if kind in (Kind.STATICMETHOD, Kind.CLASSMETHOD) else member
    if link.values.keys[function][0] == Kind.FUNCTION:
        number = link.values.keys[function][1]
        pass_arguments(link, call, number, receiver=receiver, result=result)


def _instance(link: Linking, call: Call, value: int) -> None:
    method = special(link, value, "__call__")
    if method is not None:
        link.make_call(call.instead(value, method))


def _wrapped(link: Linking, call: Call, value: int) -> None:
    link.make_call(call.instead(value, link.holding(link.values.keys[value][1])))


def _partial(link: Linking, call: Call, value: int) -> None:
    made = link.partials[value]
    if not made.positional:
        return
    n = len(made.positional) - 1
    before = [(position - 1, slot) for position, slot in made.stars]
    link.make_call(
        call.instead(
            value,
            made.positional[0],
            positional=[*made.positional[1:], *call.positional],
            keywords={**made.keywords, **call.keywords},
            stars=[*before, *((position + n, slot) for position, slot in call.stars)],
            double_stars=[*made.double_stars, *call.double_stars],
            late=[*made.late, *call.late],
        )
    )


def _manager(link: Linking, call: Call, value: int) -> None:
    function = link.values.keys[value][1]
    link.make_call(call.instead(value, link.holding(function), result=link.nowhere))
    link.solver.add(call.result, link.values.make(Kind.ENTERED, function))


def _setter(link: Linking, call: Call, value: int) -> None:
    _, of, name = link.values.keys[value]
    link.solver.add(call.result, of)
    if name in ("setter", "deleter") and call.positional:
        link.solver.copy(call.positional[0], link.setter_slot(of, name))


_CALLED = {
    Kind.FUNCTION: _function,
    Kind.BOUND: _bound,
    Kind.CLASS: _class,
    Kind.BELOW: _below,
    Kind.INSTANCE: _instance,
    Kind.EXTERNAL: call_external,
    Kind.METHOD: call_method,
    Kind.PARTIAL: _partial,
    Kind.STATICMETHOD: _wrapped,
    Kind.CLASSMETHOD: _wrapped,
    Kind.MANAGER: _manager,
    Kind.SETTER: _setter,
}
