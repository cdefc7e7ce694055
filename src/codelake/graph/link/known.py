"""What builtins and the standard library do with what they are given.

KNOWN is a table from the full name to a function. What is not in it gives a name derived from its own.
"""

from __future__ import annotations

from collections.abc import Callable

from codelake.graph.link.asked import asking, round_, sum_
from codelake.graph.link.asking import ask_class, ask_order, format_all
from codelake.graph.link.below import class_of_instance
from codelake.graph.link.call import Call
from codelake.graph.link.containers import bind_by_hand, call_key, pairs
from codelake.graph.link.evaluated import evaluate
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.making import call_metaclass
from codelake.graph.link.names import module
from codelake.graph.link.protocols import add_bases, add_elements, add_pairs, call_special, iterate, text_of, wait_for
from codelake.graph.link.spelled import get_named, keep_named, set_named
from codelake.graph.link.values import Kind, Known

_N_OF_CLASS = 3
"""A name, bases, and what its body left."""
_CONTAINERS = ("list", "tuple", "set", "frozenset", "dict")


# builtins ----------------------------------------------------------------------------------------


def _first(does: Callable[..., None]) -> Callable[[Linking, Call], None]:
    """Do something with each value of the first argument."""

    def first(link: Linking, call: Call) -> None:
        if call.positional:
            link.waits(call.positional[0], does, call)

    return first


def _super(link: Linking, call: Call) -> None:
    if len(call.positional) >= 2:
        link.waits(call.positional[0], _super_of, call.positional[1], call.result)
        return
    program = link.program
    function = program.around(call.scope)
    while function.kind not in ("function", "module") or (function.kind == "function" and function.owner < 0):
        if function.scope < 0:
            return
        function = program.around(function.scope)
    if function.owner >= 0 and function.parameters:
        _super_of(link, function.parameters[0].slot, call.result, link.defined[function.owner])


def _super_of(link: Linking, receiver: int, result: int, of: int) -> None:
    kind, above, _ = link.values.keys[of]
    if kind in (Kind.CLASS, Kind.BELOW):
        link.waits(receiver, _add_super, of if kind == Kind.CLASS else above, result)


def _add_super(link: Linking, of: int, result: int, receiver: int) -> None:
    if link.values.keys[receiver][0] in (Kind.INSTANCE, Kind.CLASS):
        link.solver.add(result, link.values.make(Kind.SUPER, of, receiver))


def _wrap(kind: Kind) -> Callable[[Linking, Call], None]:
    def wrap(link: Linking, call: Call, value: int) -> None:
        link.solver.add(call.result, link.values.make(kind, value))

    return _first(wrap)


def _property(link: Linking, call: Call) -> None:
    arguments = [*call.positional, *(call.keywords.get(name, -1) for name in ("fget", "fset")[len(call.positional) :])]
    setter = arguments[1] if len(arguments) > 1 else -1
    if arguments[0] >= 0:
        link.waits(arguments[0], _make_property, call.result, setter)


def _make_property(link: Linking, result: int, setter: int, getter: int) -> None:
    made = link.values.make(Kind.PROPERTY, getter)
    link.solver.add(result, made)
    if setter >= 0:
        link.solver.copy(setter, link.setter_slot(made, "setter"))


def _type(link: Linking, call: Call) -> None:
    if len(call.positional) == 1:
        link.waits(call.positional[0], _type_of, call.result)
    elif len(call.positional) >= _N_OF_CLASS:
        link.waits(call.positional[1], add_bases, call.result)
        link.waits(call.result, call_metaclass, call.scope)


def _type_of(link: Linking, result: int, value: int) -> None:
    kind = link.values.keys[value][0]
    if kind == Kind.INSTANCE:
        link.solver.add(result, class_of_instance(link, value))
    elif kind == Kind.CLASS and value in link.metaclasses:
        link.solver.add(result, link.metaclasses[value])


def _new_type(link: Linking, call: Call) -> None:
    """What `type.__new__` gives a metaclass."""
    if call.positional:
        link.waits(call.positional[0], _made_by, call)


def _made_by(link: Linking, call: Call, metaclass: int) -> None:
    made = link.made_by.get(metaclass, ())
    for one in made:
        link.solver.add(call.result, one)
    if not made and len(call.positional) > _N_OF_CLASS:
        link.waits(call.positional[2], add_bases, call.result)


def _new_class(link: Linking, call: Call) -> None:
    for slot in call.positional[1:2]:
        link.waits(slot, add_bases, call.result)


def _container(type_name: str) -> Callable[[Linking, Call], None]:
    def make(link: Linking, call: Call) -> None:
        made = link.container(call.result, type_name)
        link.solver.add(call.result, made)
        for slot in call.positional[:1]:
            link.waits(slot, add_pairs if type_name == "dict" else add_elements, call.scope, made, ())
        for name, slot in call.keywords.items():
            if type_name == "dict":
                link.solver.copy(slot, link.element(made, repr(name)))

    return make


def _sorted(link: Linking, call: Call) -> None:
    _container("list")(link, call)
    call_key(link, call)
    ask_order(link, call, "__lt__")


def _extreme(name: str) -> Callable[[Linking, Call], None]:
    def extreme(link: Linking, call: Call) -> None:
        if len(call.positional) == 1:
            link.waits(call.positional[0], iterate, call.scope, call.result)
        else:
            for slot in call.positional:
                link.solver.copy(slot, call.result)
        call_key(link, call)
        ask_order(link, call, name)

    return extreme


def _enumerate(link: Linking, call: Call) -> None:
    pair = pairs(link, call, "enumerate")
    link.solver.add(link.element(pair, "0"), link.builtin("int"))
    for slot in call.positional[:1]:
        link.waits(slot, iterate, call.scope, link.element(pair, "1"))


def _zip(link: Linking, call: Call) -> None:
    pair = pairs(link, call, "zip")
    for number, slot in enumerate(call.positional):
        link.waits(slot, iterate, call.scope, link.element(pair, str(number)))


def _map(link: Linking, call: Call) -> None:
    if not call.positional:
        return
    made = link.container(call.result, "map")
    link.solver.add(call.result, made)
    arguments = []
    for slot in call.positional[1:]:
        element = link.solver.named("map", call.result, slot)
        link.waits(slot, iterate, call.scope, element)
        arguments.append(element)
    results = link.element(made, ANY)
    link.make_call(Call(call.scope, call.positional[0], results, call.node, positional=arguments))


def _filter(link: Linking, call: Call) -> None:
    if len(call.positional) < 2:
        return
    made = link.container(call.result, "filter")
    link.solver.add(call.result, made)
    link.waits(call.positional[1], iterate, call.scope, link.element(made, ANY))
    element = link.all_elements(made)
    link.make_call(Call(call.scope, call.positional[0], link.nowhere, call.node, positional=[element]))


def _iter(link: Linking, call: Call, value: int) -> None:
    if link.values.keys[value][0] == Kind.CONTAINER:
        _container("iterator")(link, call)
    elif not call_special(link, call.scope, value, "__iter__", call.result):
        link.solver.add(call.result, value)


def _next(link: Linking, call: Call, value: int) -> None:
    if not call_special(link, call.scope, value, "__next__", call.result):
        iterate(link, call.scope, call.result, value)


def _same(link: Linking, call: Call) -> None:
    for slot in call.positional[:1]:
        link.solver.copy(slot, call.result)


# functools and others ----------------------------------------------------------------------------


def _partial(link: Linking, call: Call) -> None:
    given = tuple(call.positional), tuple(sorted(call.keywords.items())), tuple(call.stars), tuple(call.double_stars)
    value = link.values.make(Kind.PARTIAL, link.solver.named("partial", call.result, given))
    link.partials[value] = call
    link.solver.add(call.result, value)


def _reduce(link: Linking, call: Call) -> None:
    if len(call.positional) >= 2:
        element = link.solver.named("reduce", call.result)
        link.waits(call.positional[1], iterate, call.scope, element)
        link.make_call(Call(call.scope, call.positional[0], call.result, call.node, positional=[call.result, element]))
        link.solver.copy(element, call.result)


def _thread(link: Linking, call: Call) -> None:
    link.solver.add(call.result, link.instance(link.values.external("threading.Thread")))
    target = call.keywords.get("target")
    if target is not None:
        stars = [(0, call.keywords["args"])] if "args" in call.keywords else []
        spread = [call.keywords["kwargs"]] if "kwargs" in call.keywords else []
        link.make_call(Call(call.scope, target, link.nowhere, call.node, stars=stars, double_stars=spread))


def _run(link: Linking, call: Call) -> None:
    for slot in call.positional[:1]:
        link.waits(slot, wait_for, call.scope, call.result)


def _import_module(link: Linking, call: Call) -> None:
    name = link.text(call.positional[0]) if call.positional else None
    if name is None:
        return
    file = link.program.scope_files[call.scope] if call.scope >= 0 else 0
    value = module(link, name, file)
    link.solver.add(call.result, link.values.external(name) if value is None else value)


def _second(link: Linking, call: Call) -> None:
    for slot in call.positional[1:2]:
        link.solver.copy(slot, call.result)


def _new(link: Linking, call: Call, value: int) -> None:
    kind, of, _ = link.values.keys[value]
    if kind in (Kind.CLASS, Kind.BELOW):
        made = link.instance(value) if kind == Kind.CLASS else link.instance(of, Known.SAID)
        link.solver.add(call.result, made)


def _print(link: Linking, call: Call) -> None:
    link.solver.mark("nothing", call.result)
    for slot in call.positional:
        link.waits(slot, text_of, call.scope)


WRAPPERS = ("builtins.property", "builtins.classmethod", "builtins.staticmethod", "functools.cached_property")
"""Classes whose instances say how a method is bound."""

KNOWN: dict[str, Callable[[Linking, Call], None]] = {
    "builtins.super": _super,
    "builtins.property": _property,
    "builtins.classmethod": _wrap(Kind.CLASSMETHOD),
    "builtins.staticmethod": _wrap(Kind.STATICMETHOD),
    "functools.cached_property": _wrap(Kind.PROPERTY),
    "contextlib.contextmanager": _wrap(Kind.MANAGER),
    "contextlib.asynccontextmanager": _wrap(Kind.MANAGER),
    "builtins.object.__new__": _first(_new),
    "builtins.print": _print,
    "builtins.getattr": get_named,
    "builtins.object.__getattribute__": get_named,
    "builtins.setattr": set_named,
    "builtins.object.__setattr__": keep_named,
    "builtins.type": _type,
    "builtins.eval": evaluate,
    "builtins.exec": evaluate,
    "builtins.type.__new__": _new_type,
    "types.new_class": _new_class,
    **{f"builtins.{name}": _container(name) for name in _CONTAINERS},
    "collections.OrderedDict": _container("dict"),
    "collections.deque": _container("deque"),
    "builtins.sorted": _sorted,
    "builtins.reversed": _container("reversed"),
    "builtins.min": _extreme("__lt__"),
    "builtins.max": _extreme("__gt__"),
    "builtins.isinstance": ask_class("__instancecheck__"),
    "builtins.issubclass": ask_class("__subclasscheck__"),
    "builtins.str.format": format_all,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.iter": _first(_iter),
    "builtins.next": _first(_next),
    "builtins.len": asking("__len__", "int"),
    "builtins.str": asking("__str__", "str", "__repr__"),
    "builtins.repr": asking("__repr__", "str"),
    "builtins.bool": asking("__bool__", "bool"),
    "builtins.hash": asking("__hash__", "int"),
    "builtins.int": asking("__int__", "int"),
    "builtins.float": asking("__float__", "float"),
    "builtins.abs": asking("__abs__", None),
    "builtins.divmod": asking("__divmod__", None),
    "builtins.round": round_,
    "builtins.sum": sum_,
    "types.MethodType": bind_by_hand,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.wraps()": _same,
    "functools.update_wrapper": _same,
    "functools.lru_cache": _same,
    "functools.cache": _same,
    "functools.lru_cache()": _same,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "typing.cast": _second,
    "threading.Thread": _thread,
    "asyncio.run": _run,
    "importlib.import_module": _import_module,
    "builtins.__import__": _import_module,
}
