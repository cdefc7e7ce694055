"""Functions, classes, their parameters, and types."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.recover import grammar
from codelake.extract.recover.concrete import Node
from codelake.extract.recover.expressions import Arguments, subscripted
from codelake.extract.recover.reader import Default, Read, Reader, Unreadable


def _parameters(r: Reader, node: Node) -> ast.arguments:
    found = _Parameters(r)
    for child in node.children:
        found.add(child)
    return found.made


class _Parameters:
    """`arguments` that grow parameter by parameter."""

    def __init__(self, r: Reader) -> None:
        self._r = r
        self._is_behind_star = False
        self.made = ast.arguments(
            posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
        )

    def add(self, node: Node) -> None:
        kind, r = node.kind, self._r
        if kind == "positional_separator":
            self.made.posonlyargs, self.made.args = self.made.posonlyargs + self.made.args, []
        elif kind == "keyword_separator":
            self._is_behind_star = True
        elif kind in ("default_parameter", "typed_default_parameter"):
            name, default = node.child("name"), node.child("value")
            if name and default:
                self._add_named(name, node.child("type"), r.expr(default))
        elif kind == "typed_parameter":
            self._add_named(r.first(node), node.child("type"), None)
        else:
            self._add_named(node, None, None)

    def _add_named(self, name: Node, annotation: Node | None, default: ast.expr | None) -> None:
        r, made = self._r, self.made
        if name.kind in ("list_splat_pattern", "dictionary_splat_pattern"):
            starred = next((child for child in name.children if child.kind == "identifier"), None)
            if starred and (parameter := self._parameter(starred, annotation)):
                if name.kind == "list_splat_pattern":
                    made.vararg, self._is_behind_star = parameter, True
                else:
                    made.kwarg = parameter
            return
        if name.kind == "tuple_pattern":
            # Python 2 unpacks this one when it is called. Its names are as good as parameters of their own.
            r.is_python2 = True
            names = [p for n in _leaves(name) if (p := self._parameter(n, None))]
        else:
            names = [p] if (p := self._parameter(name, annotation)) else []
        if self._is_behind_star:
            made.kwonlyargs += names
            made.kw_defaults += [None] * (len(names) - 1) + [default] * bool(names)
        else:
            made.args += names
            made.defaults += [default] * bool(names and default)  # type: ignore[list-item]

    def _parameter(self, name: Node, annotation: Node | None) -> ast.arg | None:
        if name.value.__class__ is not ast.Name:
            return None
        made = ast.arg(arg=name.value.id, annotation=self._r.expr(annotation) if annotation else None)
        return self._r.put(made, name, annotation or name)


def _leaves(node: Node) -> list[Node]:
    found, rest = [], [node]
    while rest:
        at = rest.pop()
        if at.kind == "identifier":
            found.append(at)
        rest += at.children[::-1]
    return found


def no_parameters() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _lambda(r: Reader, node: Node) -> ast.expr:
    given = node.child("parameters")
    args = given.value if given and isinstance(given.value, ast.arguments) else no_parameters()
    return r.put(ast.Lambda(args=args, body=r.expr(r.need(node, "body"))), node)


def _function(r: Reader, node: Node) -> ast.stmt:
    kind: Any = ast.AsyncFunctionDef if node.has("async") else ast.FunctionDef
    given, returns, types = node.child("parameters"), node.child("return_type"), node.child("type_parameters")
    made = kind(
        name=r.name(r.need(node, "name")),
        args=given.value if given and isinstance(given.value, ast.arguments) else no_parameters(),
        body=r.body(node.child("body"), _header(node)),
        decorator_list=[],
        returns=r.expr(returns) if returns and not returns.missing else None,
        type_comment=None,
    )
    made.type_params = type_parameters(r, types) if types else []
    return r.put(made, node)  # type: ignore[no-any-return]


def _class(r: Reader, node: Node) -> ast.stmt:
    given, types = node.child("superclasses"), node.child("type_parameters")
    arguments = given.value if given and isinstance(given.value, Arguments) else Arguments([], [])
    made: Any = ast.ClassDef(
        name=r.name(r.need(node, "name")),
        bases=arguments.args,
        keywords=arguments.keywords,
        body=r.body(node.child("body"), _header(node)),
        decorator_list=[],
    )
    made.type_params = type_parameters(r, types) if types else []
    return r.put(made, node)  # type: ignore[no-any-return]


def _header(node: Node) -> Node:
    """The last sign before a block, behind which a missing block would be."""
    return next((child for child in reversed(node.children) if child.end > child.start and child.kind != "block"), node)


def _decorated(r: Reader, node: Node) -> ast.stmt:
    made = r.need(node, "definition").value
    if not isinstance(made, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        raise Unreadable
    made.decorator_list = [r.expr(child) for child in node.children if child.kind == "decorator"]
    return made


def _decorator(r: Reader, node: Node) -> ast.expr:
    return r.expr(r.only(node))


# Types


def _type(r: Reader, node: Node) -> Any:
    inner = r.only(node)
    return inner.value if isinstance(inner.value, Default) else r.expr(inner)


def _generic(r: Reader, node: Node) -> ast.expr:
    inside = next((child for child in node.children if child.kind == "type_parameter"), None)
    if inside is None:
        raise Unreadable
    return subscripted(r, r.expr(r.first(node)), inside.children[1:], node)


def _constrained(r: Reader, node: Node) -> ast.expr:
    """Outside of type parameters a colon makes a slice."""
    found = r.exprs(node.children)
    if len(found) != 2:
        raise Unreadable
    if isinstance(found[1], ast.Slice):
        return r.put(ast.Slice(lower=found[0], upper=found[1].lower, step=found[1].upper), node)
    return r.put(ast.Slice(lower=found[0], upper=found[1], step=None), node)


def _member(r: Reader, node: Node) -> ast.expr:
    if len(node.parts) != 3:
        raise Unreadable
    value, _, name = node.parts
    return r.put(ast.Attribute(value=r.expr(value), attr=r.name(name), ctx=ast.Load()), node)


def type_parameters(r: Reader, node: Node) -> list[Any]:
    """`[T: bound = default, *Ts, **P]` behind a name that is being defined."""
    return [made for child in node.children if child.kind == "type" and (made := _type_parameter(r, child))]


def _type_parameter(r: Reader, node: Node) -> Any:
    inner = node.parts[0] if node.parts else node
    named: Any = inner.value
    bound = default = None
    if inner.kind == "constrained_type" and len(inner.parts) == 3:
        named, bound = inner.parts[0].value, inner.parts[2].value
        if isinstance(bound, Default):
            bound, default = bound
    elif isinstance(named, Default):
        named, default = named
    kind, start = grammar.TypeVar, node.start
    if isinstance(named, ast.Starred):
        kind, named = grammar.TypeVarTuple, named.value
        if inner.kind == "splat_type" and inner.has("**"):
            kind = grammar.ParamSpec
        elif r.utf8.startswith(b"**", node.start - 1):  # see `prepare`
            kind, start = grammar.ParamSpec, node.start - 1
    if named.__class__ is not ast.Name:
        return None
    made = kind(name=named.id)
    if kind is grammar.TypeVar:
        made.bound = bound
    if "default_value" in kind._fields:
        made.default_value = default
    return r.put_at(made, start, node.end)


DEFINITIONS: dict[str, Read] = {
    "parameters": _parameters,
    "lambda_parameters": _parameters,
    "lambda": _lambda,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "decorator": _decorator,
    "type": _type,
    "generic_type": _generic,
    "constrained_type": _constrained,
    "member_type": _member,
    "splat_type": lambda r, node: r.put(ast.Starred(value=r.expr(r.only(node)), ctx=ast.Load()), node),
}
