"""Annotations and signatures as texts.

re.Pattern[~AnyStr]         a class and what it is of; ~ is a type variable
builtins.str|builtins.int   either; None, and what says nothing, is left out: _ where something must stand
'r'|'rb'                    these strings
Self                        the class of the receiver
Callable[builtins.int,~T]   something that gives an int when it is called with a T
Callable[~T,*]              the same, called with what the arguments behind it are
(x:~T,y=,*,key=)->~T        a function; = has a default; types of parameters only where linking needs them
(x)->builtins.str|None      what it gives may be None
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codelake.extract.stubs.scope import Scope, dotted

NOTHING = "_"
_SILENT = {
    *("typing.Any", "builtins.object", "typing.NoReturn", "typing.Never", "_typeshed.Incomplete", "_typeshed.Unused"),
    *("typing_extensions.Never", "_typeshed.MaybeNone", "typing.LiteralString", "typing_extensions.LiteralString"),
    *("typing_extensions.Any", "_typeshed.sentinel"),
}
_TEXTS = ("LiteralString",)
_UNIONS = ("Union", "Optional")
_INNER = ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "Unpack", "TypeForm")
_BUILTIN = {"List": "list", "Dict": "dict", "Set": "set", "FrozenSet": "frozenset", "Tuple": "tuple", "Type": "type"}


class Texts:
    """Of one module; within a class, and with the type variable that stands for the receiver, if there are."""

    def __init__(self, scope: Scope, nested: str = "", receiver: str | None = None) -> None:
        self.scope, self.nested, self.receiver = scope, nested, receiver

    def type(self, node: ast.expr | None) -> str:
        return "|".join(dict.fromkeys(one for one in self._parts(node) if one != NOTHING)) or NOTHING

    def _parts(self, node: ast.expr | None) -> list[str]:
        """The alternatives of a type."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._parts(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.BinOp):
            return [*self._parts(node.left), *self._parts(node.right)]
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Name | ast.Attribute):
            return [self._named(node)]
        return [NOTHING]

    def _named(self, node: ast.expr) -> str:
        full = self.name(node)
        last = full.rpartition(".")[2]
        if last in _TEXTS:
            return "builtins.str"
        if last == "Self" or (self.receiver and full == f"~{self.receiver}"):
            return "Self"
        if full in _SILENT or last in ("Callable", "args", "kwargs"):
            return NOTHING
        if full.startswith("typing.") and last in _BUILTIN:
            return f"builtins.{_BUILTIN[last]}"
        return full

    def name(self, node: ast.expr) -> str:
        """The full name that a dotted name means."""
        if isinstance(node, ast.Attribute):
            return f"{self.name(node.value)}.{node.attr}"
        if not isinstance(node, ast.Name):
            return NOTHING
        return self.scope.full(node.id)

    def _subscript(self, node: ast.Subscript) -> list[str]:
        full = self.name(node.value)
        last = full.rpartition(".")[2]
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if last in _UNIONS:
            return [part for one in inner for part in self._parts(one)]
        if last in _INNER:
            return self._parts(inner[0])
        if last == "Literal":
            return [_literal(one) for one in inner]
        if last in ("TypeGuard", "TypeIs"):
            return ["builtins.bool"]
        if last == "Callable":
            return [self._callable(inner)]
        head = f"builtins.{_BUILTIN[last]}" if full.startswith("typing.") and last in _BUILTIN else full
        if head == "builtins.tuple" and len(inner) == 2 and _is_ellipsis(inner[1]):
            return [f"{head}[{self.type(inner[0])},...]"]
        return [f"{head}[{','.join(self.type(one) for one in inner)}]" if inner else head]

    def _callable(self, inner: list[ast.expr]) -> str:
        given, result = inner[0], self.type(inner[-1])
        if isinstance(given, ast.List):
            if len(given.elts) == 1 and _is_spread(given.elts[0]):
                return f"Callable[{result},*]"
            return f"Callable[{','.join([result, *map(self.type, given.elts)])}]"
        return f"Callable[{result},*]" if isinstance(given, ast.Name) else f"Callable[{result},...]"

    # signatures --------------------------------------------------------------------------------------

    def signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef, *, drops_first: bool) -> str:
        """`drops_first`: its first parameter is the receiver."""
        plain = [*node.args.posonlyargs, *node.args.args]
        needed = len(plain) - len(node.args.defaults)
        texts = self
        if drops_first and plain:
            texts = Texts(self.scope, self.nested, _variable(plain[0].annotation))
        shown = [
            texts._parameter(one, has_default=number >= needed)
            for number, one in enumerate(plain)
            if number or not drops_first
        ]
        if node.args.posonlyargs and (n := len(node.args.posonlyargs) - drops_first) > 0:
            shown.insert(n, "/")
        if node.args.vararg or node.args.kwonlyargs:
            shown.append(f"*{texts._parameter(node.args.vararg)}" if node.args.vararg else "*")
        for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            shown.append(texts._parameter(one, has_default=default is not None))
        if node.args.kwarg:
            shown.append(f"**{node.args.kwarg.arg}")
        result = texts.type(node.returns)
        if isinstance(node, ast.AsyncFunctionDef):
            result = f"types.CoroutineType[_,_,{result}]"
        elif _may_be_none(node.returns):
            result = f"{result}|None"
        return f"({','.join(shown)})->{result}"

    def _parameter(self, one: ast.arg, *, has_default: bool = False) -> str:
        found = self.type(one.annotation)
        return one.arg + "=" * has_default + (f":{found}" if _is_needed(found) else "")


def _may_be_none(node: ast.expr | None) -> bool:
    if isinstance(node, ast.BinOp):
        return _may_be_none(node.left) or _may_be_none(node.right)
    return isinstance(node, ast.Constant) and node.value is None


def _is_needed(text: str) -> bool:
    """Whether linking needs the type of a parameter: it has a variable, is called, or chooses by its text."""
    return "~" in text or "Callable[" in text or "'" in text or "_typeshed.Open" in text


def _variable(node: ast.expr | None) -> str | None:
    """`self: T`, or `cls: type[T]`."""
    if isinstance(node, ast.Subscript) and dotted(node.value) in ("type", "Type"):
        node = node.slice
    return node.id if isinstance(node, ast.Name) else None


def _is_spread(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred) or (isinstance(node, ast.Subscript) and dotted(node).endswith("Unpack"))


def _literal(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str) and value.isprintable() and not set(value) & set("'\\\"[],|"):
        return repr(value)
    return NOTHING if value is None else f"builtins.{type(value).__name__}"


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def joined(signatures: Iterable[str]) -> str:
    """Of a function with overloads."""
    return ";".join(dict.fromkeys(signatures))
