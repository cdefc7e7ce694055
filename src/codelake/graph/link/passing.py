"""What calls of functions of the unit pass to parameters, and what they give."""

from __future__ import annotations

from codelake.graph.link.call import Call
from codelake.graph.link.containers import pass_key
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.parts import Definition, Parameter
from codelake.graph.link.replaying import replay
from codelake.graph.link.values import Kind

_MAX_INDEX = 8


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


def add_public_defaults(link: Linking) -> None:
    """Functions of a module that are not named as its own may be called by others than those that are known: there a
    default holds, also where all calls of the unit pass something else."""
    program = link.program
    for _, one in program.every_definition():
        if one.kind == "function" and program.scope_kinds[one.scope] == "module" and not one.name.startswith("_"):
            for parameter in one.parameters:
                default = link.defaults.get(parameter.slot)
                if default is not None:
                    link.solver.copy(default, parameter.slot)


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
        """Names of parameters that the call passes something to, whatever `*` and `**` turn out to hold."""

    def give(self, parameter: Parameter, slot: int) -> None:
        self.passed.add(parameter.name)
        self.slots.setdefault(parameter.slot, []).append(slot)
        self.link.solver.copy(slot, parameter.slot)
        pass_key(self.link, parameter.slot, slot)

    def spread(self, parameter: Parameter, key: str, slot: int) -> None:
        """Into a parameter that holds the rest."""
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
            self.passed.add(self.rest.name)
            self.spread(self.rest, str(position - len(self.positional)), slot)

    def keyword(self, name: str, slot: int) -> None:
        parameter = self.by_name.get(name)
        if parameter is not None:
            self.give(parameter, slot)
        elif self.others is not None:
            self.passed.add(self.others.name)
            self.spread(self.others, repr(name), slot)

    def star(self, position: int, slot: int) -> None:
        self.link.waits(slot, _spread_star, self, position)

    def double_star(self, slot: int) -> None:
        self.link.waits(slot, _spread_double_star, self)

    def at_site(self, slot: int) -> int:
        """What a call gives to a parameter; any other slot is the same for all calls."""
        given = self.slots.get(slot, [slot])
        if len(given) == 1:
            return given[0]
        every = self.link.solver.named("given at", self.call.result, slot)
        for one in given:
            self.link.solver.copy(one, every)
        return every

    def late(self, slot: int) -> None:
        for parameter in self.positional:
            if parameter.slot not in self.slots:
                self.link.solver.copy(slot, parameter.slot)
        if self.rest is not None:
            self.passed.add(self.rest.name)
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
            if not self.is_whole:
                pass_key(self.link, parameter.slot, None)
            if default is None or parameter.slot in self.slots:
                continue
            if self.is_whole:
                self.slots[parameter.slot] = [default]
                self.link.solver.copy(default, parameter.slot)
                pass_key(self.link, parameter.slot, default)
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
    if function.slot in link.ending:
        link.solver.mark("nothing", result)
    link.solver.copy(link.returned(number), result)
    value = link.defined[number]
    for of, conditions in link.handed.get(number, ()):
        if of in link.made and value not in given.call.through:
            replay(link, given.call, of, result, given.at_site, value)
        elif not conditions or given.allows(conditions):
            for slot in given.slots.get(of) or (of,):
                link.solver.copy(slot, result)
