"""A call of something external: what is known of it, or what its name tells."""

from __future__ import annotations

import builtins

from codelake.graph.link.known import KNOWN
from codelake.graph.link.linking import ANY, Call, Linking

_TYPES = frozenset(name for name, one in vars(builtins).items() if isinstance(one, type))
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
