"""What a call does: arguments into parameters, results out, for each value that it may call."""

from __future__ import annotations

from codelake.graph.link.attributes import provider, special
from codelake.graph.link.call import Call
from codelake.graph.link.containers import call_method
from codelake.graph.link.external import call_external
from codelake.graph.link.known import KNOWN, WRAPPERS
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.program import Definition, Parameter
from codelake.graph.link.stub_calls import call_bound
from codelake.graph.link.values import Kind, Known

_MAX_THROUGH = 4
_MAX_INDEX = 8


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
    elif not call_bound(link, call, function, int(receiver)):
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


# arguments ---------------------------------------------------------------------------------------


def pass_arguments(link: Linking, call: Call, number: int, *, receiver: int | None, result: int | None = None) -> None:
    """A call of a function of the unit."""
    function = link.program.definitions[number]
    link.solver.mark("called", number)
    given = _Given(link, function, call)
    if receiver is not None:
        given.position(0, link.holding(link.received(receiver)))
    shift = 0 if receiver is None else 1
    for position, slot in enumerate(call.positional):
        given.position(position + shift, slot)
    for name, slot in call.keywords.items():
        given.keyword(name, slot)
    for position, slot in call.stars:
        given.star(position + shift, slot)
    for slot in call.double_stars:
        given.double_star(slot)
    for slot in call.late:
        given.late(slot)
    given.fill_defaults()
    _give_result(link, call.result if result is None else result, number, function, given)


class _Given:
    """The arguments of one call of a function, as they find their parameters."""

    def __init__(self, link: Linking, function: Definition, call: Call) -> None:
        self.link, self.call = link, call
        self.is_whole = not call.stars and not call.double_stars
        self.positional = [p for p in function.parameters if p.kind in ("positional", "positional_only")]
        self.by_name = {p.name: p for p in function.parameters if p.kind in ("positional", "keyword_only")}
        self.rest = next((p for p in function.parameters if p.kind == "var_positional"), None)
        self.others = next((p for p in function.parameters if p.kind == "var_keyword"), None)
        self.parameters = function.parameters
        self.slots: dict[int, list[int]] = {}
        """By slot of parameter: what this call gives."""
        self.passed: set[str] = set()
        """Names of parameters that the call passes something to."""

    def give(self, parameter: Parameter, slot: int) -> None:
        self.passed.add(parameter.name)
        self.slots.setdefault(parameter.slot, []).append(slot)
        self.link.solver.copy(slot, parameter.slot)

    def spread(self, parameter: Parameter, key: str, slot: int) -> None:
        """Into a parameter that holds the rest."""
        self.passed.add(parameter.name)
        type_name = "tuple" if parameter is self.rest else "dict"
        container = self.link.container(parameter.slot, type_name)
        self.link.solver.add(parameter.slot, container)
        if key.isdigit() and int(key) >= _MAX_INDEX:
            key = ANY  # a function that hands on all it was given and one more would count without end
        self.link.solver.copy(slot, self.link.element(container, key))

    def position(self, position: int, slot: int) -> None:
        if position < len(self.positional):
            self.give(self.positional[position], slot)
        elif self.rest is not None:
            self.spread(self.rest, str(position - len(self.positional)), slot)

    def keyword(self, name: str, slot: int) -> None:
        parameter = self.by_name.get(name)
        if parameter is not None:
            self.give(parameter, slot)
        elif self.others is not None:
            self.spread(self.others, repr(name), slot)

    def star(self, position: int, slot: int) -> None:
        self.link.waits(slot, _spread_star, self, position)

    def double_star(self, slot: int) -> None:
        self.link.waits(slot, _spread_double_star, self)

    def late(self, slot: int) -> None:
        for parameter in self.positional:
            if parameter.slot not in self.slots:
                self.link.solver.copy(slot, parameter.slot)
        if self.rest is not None:
            self.spread(self.rest, ANY, slot)

    def allows(self, conditions: str) -> bool:
        """Whether the call may meet what must be given. A definition, or what is decorated, is not None, and true."""
        for one in conditions.split():
            sign, name = one[0], one[1:]
            if sign in "+?":
                if self.is_whole and name not in self.passed:
                    return False
            elif name in self.passed and self._is_something(name, sign):
                return False
        return True

    def _is_something(self, name: str, sign: str) -> bool:
        parameter = next(one for one in self.parameters if one.name == name)
        if parameter is self.rest or parameter is self.others:
            return True
        held, link = self.slots.get(parameter.slot, ()), self.link
        if self.call.is_decorator and any(slot in self.call.positional for slot in held):
            return True
        return any(slot in link.program.of_slot or (sign == "-" and link.solver.is_fixed(slot)) for slot in held)

    def fill_defaults(self) -> None:
        for parameter in self.parameters:
            default = self.link.defaults.get(parameter.slot)
            if default is None or parameter.slot in self.slots:
                continue
            if self.is_whole:
                self.slots[parameter.slot] = [default]
                self.link.solver.copy(default, parameter.slot)
            else:
                self.link.solver.mark("perhaps", (default, parameter.slot))


def _spread_star(link: Linking, given: _Given, position: int, value: int) -> None:
    if link.values.keys[value][0] != Kind.CONTAINER:
        return
    for number, parameter in enumerate(given.positional[position:]):
        link.item(value, str(number), parameter.slot)
    rest = given.rest
    if rest is not None:

        def spread(key: str) -> None:
            behind = position + int(key) - len(given.positional) if key.isdigit() else 0
            if behind >= 0:
                given.spread(rest, str(behind) if key.isdigit() else ANY, link.element(value, key))

        link.each_key(value, spread)


def _spread_double_star(link: Linking, given: _Given, value: int) -> None:
    if link.values.keys[value][0] != Kind.CONTAINER:
        return
    for name, parameter in given.by_name.items():
        link.solver.copy(link.element(value, repr(name)), parameter.slot)
    others = given.others
    if others is not None:

        def spread(key: str) -> None:
            if key[1:-1] not in given.by_name:
                given.spread(others, key, link.element(value, key))

        link.each_key(value, spread)


def _give_result(link: Linking, result: int, number: int, function: Definition, given: _Given) -> None:
    if function.is_generator:
        link.solver.add(result, link.values.make(Kind.GENERATOR, number))
        return
    if function.is_coroutine:
        link.solver.add(result, link.values.make(Kind.COROUTINE, number))
        return
    link.solver.copy(link.returned(number), result)
    for of, conditions in link.handed.get(number, ()):
        if not conditions or given.allows(conditions):
            for slot in given.slots.get(of) or (of,):
                link.solver.copy(slot, result)
