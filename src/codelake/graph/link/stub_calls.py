"""Calls of what stubs know: the signature that fits, what its type variables stand for, what is called with the
arguments, and the result."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from codelake.graph.link.call import Call
from codelake.graph.link.filling import Filling, codes_of, plain_values
from codelake.graph.link.linking import Linking
from codelake.graph.link.outside import class_name, member_of
from codelake.graph.link.protocols import enter, iterate, wait_for
from codelake.graph.link.signatures import Alternative, Parameter, Signature, Type, parse_signatures, parse_type
from codelake.graph.link.stubs import Member, Stub
from codelake.graph.link.values import Kind

_MAKERS = ("__init__", "__new__")
_TEXT = "~AnyStr"
_AWAITED = ("Awaitable", "Coroutine", "Future", "Task")
_ENTERED = ("AbstractContextManager", "AbstractAsyncContextManager", "ContextManager")


def call_bound(link: Linking, call: Call, function: int, receiver: int) -> bool:
    """A call of a method of the outside with its receiver, if stubs know it."""
    of = link.class_of(receiver)
    name = class_name(link, function)
    stub = link.stubs.find(name)
    if stub is None or not stub.is_called:
        return False
    member = member_of(link, of, name.rpartition(".")[2]) if link.values.keys[of][0] == Kind.EXTERNAL else None
    call_stub(link, call, stub, {} if member is None else codes_of(link, member, of), receiver)
    return True


def call_name(link: Linking, call: Call, value: int) -> bool:
    """A call of an external function or class, if stubs know it."""
    stub = link.stubs.find(class_name(link, value))
    if stub is None:
        return False
    if stub.kind == "class":
        _make(link, call, value, stub)
    elif stub.is_called:
        call_stub(link, call, stub, {})
    else:
        return False
    return True


def _make(link: Linking, call: Call, value: int, stub: Stub) -> None:
    maker = _maker(link, stub)
    names = link.stubs.variables(stub)
    codes: Sequence[int | None] = ()
    if maker is not None:
        signatures = parse_signatures(maker.stub.text)
        if names or any(has_callbacks(one) for one in signatures):
            signature = signatures[0] if len(signatures) == 1 else chosen(link, call, signatures, {})
            found = bound(link, call, signature, {}, frozenset(names))
            codes = [found.get(name) for name in names]
    made = link.values.generic(stub.name, codes) if any(code is not None for code in codes) else value
    link.solver.add(call.result, link.instance(made))


def _maker(link: Linking, stub: Stub) -> Member | None:
    for name in _MAKERS:
        found = link.stubs.member(stub.name, name)
        if found is not None and not found.stub.name.startswith("builtins.object."):
            return found
    return None


def call_stub(link: Linking, call: Call, stub: Stub, codes: Mapping[str, int], receiver: int = -1) -> None:
    """A call of a function or method. `receiver` is what Self means, or -1."""
    signatures = parse_signatures(stub.text)
    if len(signatures) > 1 and (call.scope >= 0 or stub.name.startswith("builtins.")):
        signatures = (chosen(link, call, signatures, codes),)
    for signature in signatures:  # where nobody wrote the call, what it passes is not known: it may be any
        _give(link, call, signature, codes, receiver)


def _give(link: Linking, call: Call, signature: Signature, codes: Mapping[str, int], receiver: int) -> None:
    if signature.may_be_none and call.scope >= 0:
        link.solver.mark("nothing", call.result)
    if not signature.variables and not has_callbacks(signature):
        if signature.result not in link.plain:
            link.plain[signature.result] = plain_values(link, signature.result)
        plain = link.plain[signature.result]
        if plain is not None:
            for value in plain:
                link.solver.add(call.result, value)
            return
    found = bound(link, call, signature, codes)
    filling = Filling(link, ("call", call.result), found, receiver, is_implied=call.scope < 0)
    filling.fill(signature.result, call.result)


def has_callbacks(signature: Signature) -> bool:
    return any(one.head == "Callable" for parameter in signature.parameters for one in parameter.type)


# which signature ---------------------------------------------------------------------------------


def chosen(link: Linking, call: Call, signatures: tuple[Signature, ...], codes: Mapping[str, int]) -> Signature:
    """The first of the overloads that takes such arguments; where a receiver is of text or bytes, the first that says
    so of its result."""
    fitting = [one for one in signatures if _fits(link, call, one)] or signatures[:1]
    if _TEXT in codes:
        return next((one for one in fitting if _TEXT in one.variables), fitting[0])
    silent = {parameter.name for parameter, _ in arguments(call, fitting[0]) if not parameter.type}
    if silent:  # such as None, where another overload calls what it is given
        return next((one for one in fitting if _calls(call, one, silent)), fitting[0])
    return fitting[0]


def _calls(call: Call, signature: Signature, names: Container[str]) -> bool:
    every = (parameter for parameter, _ in arguments(call, signature) if parameter.name in names)
    return any(one.head == "Callable" for parameter in every for one in parameter.type)


def _fits(link: Linking, call: Call, signature: Signature) -> bool:
    given = list(arguments(call, signature))
    names = {parameter.name for parameter, _ in given}
    kinds = {parameter.kind for parameter in signature.parameters}
    is_whole = not call.stars and not call.double_stars
    n_places = sum(one.kind in ("positional", "positional_only") for one in signature.parameters)
    if len(call.positional) > n_places and "var_positional" not in kinds:
        return False
    if "var_keyword" not in kinds and not call.keywords.keys() <= {one.name for one in signature.parameters}:
        return False
    needed = (one for one in signature.parameters if not one.has_default and not one.kind.startswith("var_"))
    if is_whole and any(one.name not in names for one in needed):
        return False
    return all(_takes(link, parameter, slot) for parameter, slots in given for slot in slots)


def _takes(link: Linking, parameter: Parameter, slot: int) -> bool:
    """Whether a parameter that is one of some texts may be this one."""
    text = link.texts.get(slot)
    if text is None or not parameter.type:
        return True
    allowed = _texts_of(link, parameter.type)
    return not allowed or text in allowed


def _texts_of(link: Linking, type_: Type) -> set[str]:
    found: set[str] = set()
    for one in type_:
        if one.head.startswith("'"):
            found.add(one.head[1:-1])
        elif one.head.startswith("_typeshed.Open"):
            stub = link.stubs.find(one.head)
            found |= _texts_of(link, parse_type(stub.text)) if stub is not None else set()
        elif not one.head.startswith("_"):
            return set()
    return found


def arguments(call: Call, signature: Signature) -> Iterator[tuple[Parameter, list[int]]]:
    """Parameters with the slots that a call passes to them."""
    rest = list(call.positional)
    for parameter in signature.parameters:
        if parameter.kind in ("positional", "positional_only") and rest:
            yield parameter, [rest.pop(0)]
        elif parameter.kind == "var_positional" and rest:
            yield parameter, rest
            rest = []
        elif parameter.kind in ("positional", "keyword_only") and parameter.name in call.keywords:
            yield parameter, [call.keywords[parameter.name]]


# type variables ----------------------------------------------------------------------------------


def bound(
    link: Linking, call: Call, signature: Signature, codes: Mapping[str, int], wanted: frozenset[str] = frozenset()
) -> dict[str, int]:
    """What type variables stand for: as the receiver says, or the arguments. Arguments that are called, are."""
    found = dict(codes)
    asked = (signature.variables | wanted) - found.keys() - {"Self"}
    given = list(arguments(call, signature))
    if _TEXT in asked:
        found[_TEXT] = link.builtin("bytes" if _has_bytes(link, given) else "str")
    for name in sorted(_mentioned(given, signature) & (asked | {_TEXT}) - found.keys()):
        found[name] = -1 - link.solver.named("bound", call.result, name)
    for parameter, slots in given:
        for one in _expanded(link, parameter.type):
            for slot in slots:
                if one.head == "Callable":
                    _call_back(link, call, signature, parameter, one, slot, found)
                elif asked:
                    _bind(link, call, one, slot, found)
    return found


def _expanded(link: Linking, type_: Type) -> Iterator[Alternative]:
    """The alternatives of a type, also those behind another name for it."""
    for one in type_:
        stub = link.stubs.find(one.head) if one.inner else None
        yield from (one,) if stub is None or stub.kind != "type" else link.stubs.expanded(one, stub)


def _mentioned(given: list[tuple[Parameter, list[int]]], signature: Signature) -> set[str]:
    """Variables that arguments tell, by themselves, as what they hold, or as what they give."""
    found: set[str] = set()
    for parameter, _ in given:
        for one in parameter.type:
            heads = [one, *(each for inner in one.inner for each in inner)]
            found.update(each.head for each in heads if each.head.startswith("~"))
    return found


def _has_bytes(link: Linking, given: list[tuple[Parameter, list[int]]]) -> bool:
    """Whether a constant among the arguments says that this is about bytes."""
    slots = [slot for parameter, every in given for slot in every if any(_TEXT in one for one in parameter.type)]
    wanted = link.builtin("bytes")
    return any(link.solver.is_fixed(slot) and wanted in link.solver.of(slot) for slot in slots)


def _bind(link: Linking, call: Call, one: Alternative, slot: int, found: Mapping[str, int]) -> None:
    if one.head.startswith("~"):
        code = found.get(one.head, 0)
        if code < 0:
            link.solver.copy(slot, -1 - code)
        return
    for number, inner in enumerate(one.inner):
        for each in inner:
            code = found.get(each.head, 0)
            if code < 0:
                link.waits(slot, _bind_inner, call, one.head, number, len(one.inner), -1 - code)


def _bind_inner(link: Linking, call: Call, head: str, number: int, n: int, dst: int, value: int) -> None:
    """What an argument holds: items, keys, what it gives when it is entered or awaited, an instance of it."""
    kind, a, type_name = link.values.keys[value]
    last = head.rpartition(".")[2]
    if head == "builtins.type":
        if kind in (Kind.CLASS, Kind.EXTERNAL):
            link.solver.add(dst, link.instance(value))
    elif last in _AWAITED:
        wait_for(link, call.scope, dst, value)
    elif last in _ENTERED:
        enter(link, call.scope, dst, value)
    elif kind == Kind.INSTANCE and link.stubs.is_below(str(link.values.keys[a][1]), head):
        codes = link.values.codes(a)
        if number < len(codes) and str(link.values.keys[a][1]) == head:
            code = codes[number]
            if code is not None:
                link.solver.copy(link.holding(code) if code >= 0 else -1 - code, dst)
        elif n == 1:
            iterate(link, call.scope, dst, value)
    elif n == 1:
        iterate(link, call.scope, dst, value)
    elif kind == Kind.CONTAINER and type_name == "dict":
        link.solver.copy(link.all_elements(value) if number else link.keys_of(value), dst)


# arguments that are called -----------------------------------------------------------------------


def _call_back(
    link: Linking,
    call: Call,
    signature: Signature,
    parameter: Parameter,
    one: Alternative,
    slot: int,
    codes: Mapping[str, int],
) -> None:
    result, *given = one.inner
    code = codes.get(result[0].head) if len(result) == 1 else None
    gives = -1 - code if code is not None and code < 0 else link.nowhere
    heads = [inner[0].head if inner else "" for inner in given]
    if heads == ["..."]:
        link.make_call(Call(call.scope, slot, gives, call.node))
    elif heads == ["*"]:
        n = 1 + [each.name for each in signature.parameters].index(parameter.name)
        own = {each.name for each in signature.parameters}
        keywords = {name: each for name, each in call.keywords.items() if name not in own}
        link.make_call(Call(call.scope, slot, gives, call.node, positional=call.positional[n:], keywords=keywords))
    else:
        filling = Filling(link, ("given", call.result, parameter.name), codes, -1)
        passed = [filling.slot(inner, (number,)) for number, inner in enumerate(given)]
        link.make_call(Call(call.scope, slot, gives, call.node, positional=passed))
