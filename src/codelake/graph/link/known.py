"""What builtins and the standard library do with what they are given.

KNOWN is a table from the full name to a function. What is not in it gives a name derived from its own.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

from codelake.graph.link.attributes import store, view
from codelake.graph.link.linking import ANY, Call, Linking
from codelake.graph.link.names import module
from codelake.graph.link.protocols import add_elements, call_special, iterate, text_of, wait_for
from codelake.graph.link.values import Kind

_TYPES = frozenset(name for name, one in vars(builtins).items() if isinstance(one, type))
_CONTAINERS = ("list", "tuple", "set", "frozenset", "dict")
_STR = ("str", "bytes", "bytearray")
_SAME_TYPE = {
    *("capitalize", "casefold", "center", "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip"),
    *("removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate"),
    *("upper", "zfill"),
}
_LISTS = ("split", "rsplit", "splitlines", "partition", "rpartition")
_RESULTS = {
    "builtins.len": "int",
    "builtins.isinstance": "bool",
    "builtins.issubclass": "bool",
    "builtins.hasattr": "bool",
    "builtins.callable": "bool",
    "builtins.repr": "str",
    "builtins.format": "str",
    "builtins.chr": "str",
    "builtins.ord": "int",
    "builtins.hash": "int",
    "builtins.id": "int",
    "builtins.any": "bool",
    "builtins.all": "bool",
    "os.path.join": "str",
    "os.path.dirname": "str",
    "os.path.basename": "str",
    "os.path.abspath": "str",
    "os.getcwd": "str",
    "os.path.exists": "bool",
}


def call_external(link: Linking, call: Call, value: int) -> None:
    name = str(link.values.keys[value][1])
    does = KNOWN.get(name)
    if does is not None:
        does(link, call)
        return
    if name in _RESULTS:
        link.solver.add(call.result, link.builtin(_RESULTS[name]))
        return
    if call.is_decorator:
        for slot in call.positional:
            link.solver.copy(slot, call.result)
        return
    owner, _, last = name.rpartition(".")
    if owner == "builtins" and last in _TYPES:
        link.solver.add(call.result, link.instance(value))
    elif owner.removeprefix("builtins.") in _STR:
        _text_method(link, call, owner.removeprefix("builtins."), last)
    elif last[:1].isupper() and not last.isupper():
        link.solver.add(call.result, link.instance(value))  # named as classes are
    elif f"{name}()" in KNOWN:
        link.solver.add(call.result, link.values.external(f"{name}()"))


def _text_method(link: Linking, call: Call, type_name: str, name: str) -> None:
    if name in _SAME_TYPE:
        link.solver.add(call.result, link.builtin(type_name))
    elif name in _LISTS:
        made = link.container(call.result, "list")
        link.solver.add(call.result, made)
        link.solver.add(link.element(made, ANY), link.builtin(type_name))
    elif name in ("encode", "decode"):
        link.solver.add(call.result, link.builtin("bytes" if name == "encode" else "str"))
    elif name.startswith(("is", "starts", "ends")):
        link.solver.add(call.result, link.builtin("bool"))
    else:
        link.solver.add(call.result, link.builtin("int"))


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
    if link.values.keys[of][0] == Kind.CLASS:
        link.waits(receiver, _add_super, of, result)


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


def _getattr(link: Linking, call: Call) -> None:
    if len(call.positional) > 2:
        link.solver.copy(call.positional[2], call.result)
    if len(call.positional) > 1 and (name := link.texts.get(call.positional[1])) is not None:
        link.waits(call.positional[0], _load_named, name, call.result)


def _load_named(link: Linking, name: str, dst: int, value: int) -> None:
    link.solver.copy(view(link, value, name), dst)


def _setattr(link: Linking, call: Call) -> None:
    if len(call.positional) > 2 and (name := link.texts.get(call.positional[1])) is not None:
        link.waits(call.positional[0], store, call.scope, name, call.positional[2])


def _type(link: Linking, call: Call, value: int) -> None:
    if len(call.positional) == 1:
        kind = link.values.keys[value][0]
        if kind == Kind.INSTANCE:
            link.solver.add(call.result, link.class_of(value))
        elif kind == Kind.CLASS and value in link.metaclasses:
            link.solver.add(call.result, link.metaclasses[value])


def _container(type_name: str) -> Callable[[Linking, Call], None]:
    def make(link: Linking, call: Call) -> None:
        made = link.container(call.result, type_name)
        link.solver.add(call.result, made)
        for slot in call.positional[:1]:
            link.waits(slot, add_elements, call.scope, made, ())
        for name, slot in call.keywords.items():
            if type_name == "dict":
                link.solver.copy(slot, link.element(made, repr(name)))

    return make


def _sorted(link: Linking, call: Call) -> None:
    _container("list")(link, call)
    _call_key(link, call)


def _call_key(link: Linking, call: Call) -> None:
    key = call.keywords.get("key")
    if key is not None and call.positional:
        element = link.solver.named("key", call.result)
        if len(call.positional) == 1:
            link.waits(call.positional[0], iterate, call.scope, element)
        else:
            for slot in call.positional:
                link.solver.copy(slot, element)
        link.make_call(Call(call.scope, key, link.nowhere, call.node, positional=[element]))


def _extreme(link: Linking, call: Call) -> None:
    if len(call.positional) == 1:
        link.waits(call.positional[0], iterate, call.scope, call.result)
    else:
        for slot in call.positional:
            link.solver.copy(slot, call.result)
    _call_key(link, call)


def _enumerate(link: Linking, call: Call) -> None:
    pair = _pairs(link, call)
    link.solver.add(link.element(pair, "0"), link.builtin("int"))
    for slot in call.positional[:1]:
        link.waits(slot, iterate, call.scope, link.element(pair, "1"))


def _zip(link: Linking, call: Call) -> None:
    pair = _pairs(link, call)
    for number, slot in enumerate(call.positional):
        link.waits(slot, iterate, call.scope, link.element(pair, str(number)))


def _pairs(link: Linking, call: Call) -> int:
    """The result is a generator of tuples, which are taken for one."""
    made = link.container(call.result, "generator")
    link.solver.add(call.result, made)
    elements = link.element(made, ANY)
    pair = link.container(elements, "tuple")
    link.solver.add(elements, pair)
    return pair


def _map(link: Linking, call: Call) -> None:
    if not call.positional:
        return
    made = link.container(call.result, "generator")
    link.solver.add(call.result, made)
    arguments = []
    for slot in call.positional[1:]:
        element = link.solver.named("map", call.result, slot)
        link.waits(slot, iterate, call.scope, element)
        arguments.append(element)
    function = call.positional[0]
    link.make_call(Call(call.scope, function, link.element(made, ANY), call.node, positional=arguments))


def _filter(link: Linking, call: Call) -> None:
    if len(call.positional) < 2:
        return
    made = link.container(call.result, "generator")
    link.solver.add(call.result, made)
    link.waits(call.positional[1], iterate, call.scope, link.element(made, ANY))
    element = link.all_elements(made)
    link.make_call(Call(call.scope, call.positional[0], link.nowhere, call.node, positional=[element]))


def _iter(link: Linking, call: Call, value: int) -> None:
    if not call_special(link, call.scope, value, "__iter__", call.result):
        link.solver.add(call.result, value)


def _next(link: Linking, call: Call, value: int) -> None:
    if not call_special(link, call.scope, value, "__next__", call.result):
        iterate(link, call.scope, call.result, value)


def _same(link: Linking, call: Call) -> None:
    for slot in call.positional[:1]:
        link.solver.copy(slot, call.result)


def _special(name: str, type_name: str | None) -> Callable[[Linking, Call], None]:
    """A builtin that calls a special method of its argument."""

    def ask(link: Linking, call: Call, value: int) -> None:
        call_special(link, call.scope, value, name, link.nowhere if type_name else call.result)

    def known(link: Linking, call: Call) -> None:
        if type_name:
            link.solver.add(call.result, link.builtin(type_name))
        _first(ask)(link, call)

    return known


# functools and others ----------------------------------------------------------------------------


def _partial(link: Linking, call: Call) -> None:
    link.partials[call.result] = call
    link.solver.add(call.result, link.values.make(Kind.PARTIAL, call.result))


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
    name = link.texts.get(call.positional[0]) if call.positional else None
    if name is None:
        return
    file = link.program.scope_files[call.scope] if call.scope >= 0 else 0
    value = module(link, name, file)
    link.solver.add(call.result, link.values.external(name) if value is None else value)


def _second(link: Linking, call: Call) -> None:
    for slot in call.positional[1:2]:
        link.solver.copy(slot, call.result)


def _new(link: Linking, call: Call, value: int) -> None:
    if link.values.keys[value][0] == Kind.CLASS:
        link.solver.add(call.result, link.instance(value))


def _print(link: Linking, call: Call) -> None:
    for slot in call.positional:
        link.waits(slot, text_of, call.scope)


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
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.type": _first(_type),
    **{f"builtins.{name}": _container(name) for name in _CONTAINERS},
    "collections.OrderedDict": _container("dict"),
    "collections.deque": _container("list"),
    "builtins.sorted": _sorted,
    "builtins.reversed": _container("list"),
    "builtins.min": _extreme,
    "builtins.max": _extreme,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.iter": _first(_iter),
    "builtins.next": _first(_next),
    "builtins.len": _special("__len__", "int"),
    "builtins.str": _special("__str__", "str"),
    "builtins.repr": _special("__repr__", "str"),
    "builtins.bool": _special("__bool__", "bool"),
    "builtins.hash": _special("__hash__", "int"),
    "builtins.int": _special("__int__", "int"),
    "builtins.float": _special("__float__", "float"),
    "builtins.abs": _special("__abs__", None),
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


# methods of containers ---------------------------------------------------------------------------

_ADDING = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1, "put": 0}
_TAKING = ("pop", "popleft", "get", "setdefault", "popitem")


def call_method(link: Linking, call: Call, value: int) -> None:
    _, receiver, name = link.values.keys[value]
    if link.values.keys[receiver][0] != Kind.CONTAINER:
        if name in ("send", "__next__"):
            iterate(link, call.scope, call.result, receiver)
        if name == "send" and call.positional:
            link.solver.copy(call.positional[0], link.solver.named("sent", link.values.keys[receiver][1]))
        return
    type_name = str(link.values.keys[receiver][2])
    text = link.texts.get(call.positional[0]) if call.positional and type_name == "dict" else None
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
        made = link.container(call.result, "list")
        link.solver.add(call.result, made)
        source = link.all_elements(receiver) if name == "values" else link.keys_of(receiver)
        link.solver.copy(source, link.element(made, ANY))
    elif name == "items":
        pair = _pairs(link, call)
        link.solver.copy(link.keys_of(receiver), link.element(pair, "0"))
        link.solver.copy(link.all_elements(receiver), link.element(pair, "1"))
    elif name == "sort":
        _call_key(
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
