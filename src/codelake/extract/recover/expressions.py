"""Concrete nodes of expressions as `ast` nodes."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterable
from keyword import iskeyword
from typing import Any, NamedTuple

from codelake.extract.recover.concrete import ERROR, Node
from codelake.extract.recover.reader import As, Read, Reader, Unreadable, unread

_ONCE_NAMES = ("async", "await", "True", "False", "None")


class Arguments(NamedTuple):
    """What stands in the brackets of a call or of a class."""

    args: list[ast.expr]
    keywords: list[ast.keyword]


def _identifier(r: Reader, node: Node) -> ast.Name | None:
    name = r.source(node)
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    elif iskeyword(name) and name not in _ONCE_NAMES:
        return None  # within errors, tree-sitter takes words for names
    return r.put(ast.Name(id=name, ctx=ast.Load()), node)


def dotted(r: Reader, node: Node) -> ast.expr:
    names = [child for child in node.children if child.value is not None]
    if not names:
        raise Unreadable
    found: ast.expr = names[0].value
    for name in names[1:]:
        found = r.put(ast.Attribute(value=found, attr=r.name(name), ctx=ast.Load()), names[0], name)
    return found


def _number(r: Reader, node: Node) -> ast.expr:
    written = r.source(node)
    plain = written.replace("_", "").lower()
    value: int | float | complex
    try:
        if plain.endswith("l"):
            plain = plain[:-1]
            r.is_python2 = True
        if plain.startswith(("0x", "0o", "0b")):
            value = int(plain, 0)
        elif plain.endswith("j"):
            value = complex(plain)
        elif not plain.isdigit():
            value = float(plain)
        elif plain[0] == "0" and plain.strip("0"):
            value = int(plain, 8)
            r.is_python2 = True
        else:
            value = int(plain)
    except ValueError:  # 08, or more digits than Python converts
        r.problem(f"no number: {r.shown(node)}", node.start, node.end)
        return r.put(unread([]), node)
    return r.put(ast.Constant(value=value), node)


def _word(value: bool | Any | None) -> Read:
    return lambda r, node: r.put(ast.Constant(value=value), node)


def _parenthesized(r: Reader, node: Node) -> Any:
    value = r.only(node).value
    r.brackets[id(value)] = node.start, node.end
    return value


def _within(r: Reader, node: Node) -> Any:
    return r.only(node).value


def _sequence(kind: type[ast.Tuple] | type[ast.List]) -> Read:
    return lambda r, node: r.put(kind(elts=r.exprs(node.children), ctx=ast.Load()), node)


def _pattern(r: Reader, node: Node) -> Any:
    """Brackets around targets. Around one without a comma they mean nothing."""
    found = r.exprs(node.children)
    if len(found) == 1 and not node.has(","):
        r.brackets[id(found[0])] = node.start, node.end
        return found[0]
    return r.put(ast.Tuple(elts=found, ctx=ast.Load()), node)


def _set(r: Reader, node: Node) -> ast.expr:
    return r.put(ast.Set(elts=r.exprs(node.children)), node)


def _listed(r: Reader, node: Node) -> ast.expr:
    return r.put(ast.Tuple(elts=r.exprs(node.children), ctx=ast.Load()), node)


def _starred(r: Reader, node: Node) -> ast.expr:
    return r.put(ast.Starred(value=r.expr(r.only(node)), ctx=ast.Load()), node)


def _dictionary(r: Reader, node: Node) -> ast.expr:
    keys: list[ast.expr | None] = []
    values: list[ast.expr] = []
    for child in node.children:
        if isinstance(child.value, tuple):
            keys.append(child.value[0])
            values.append(child.value[1])
        elif child.value is not None or child.kind == ERROR:  # **splat, or what is no pair
            keys.append(None)
            values.append(r.expr(child))
    return r.put(ast.Dict(keys=keys, values=values), node)


def _pair(r: Reader, node: Node) -> tuple[ast.expr, ast.expr]:
    return r.expr(r.need(node, "key")), r.expr(r.need(node, "value"))


def _dictionary_splat(r: Reader, node: Node) -> ast.expr:
    return r.expr(r.only(node))


def _conditional(r: Reader, node: Node) -> ast.expr:
    found = [child for child in node.children if child.value is not None]
    if len(found) != 3:
        raise Unreadable
    body, test, orelse = map(r.expr, found)
    return r.put(ast.IfExp(test=test, body=body, orelse=orelse), node)


def _named(r: Reader, node: Node) -> ast.expr:
    target: Any = r.stored(r.expr(r.need(node, "name")))
    return r.put(ast.NamedExpr(target=target, value=r.expr(r.need(node, "value"))), node)


def _yield(r: Reader, node: Node) -> ast.expr:
    found = r.exprs(node.children)
    if node.has("from"):
        if not found:
            raise Unreadable
        return r.put(ast.YieldFrom(value=found[0]), node)
    return r.put(ast.Yield(value=found[0] if found else None), node)


def _attribute(r: Reader, node: Node) -> ast.expr:
    value, name = r.expr(r.need(node, "object")), r.name(r.need(node, "attribute"))
    return r.under_star(value, node, lambda v: ast.Attribute(value=v, attr=name, ctx=ast.Load()))


def _subscript(r: Reader, node: Node) -> ast.expr:
    value = r.need(node, "value")
    at = next((i for i, child in enumerate(node.children) if child.kind == "["), len(node.children))
    return subscripted(r, r.expr(value), node.children[at + 1 :], node)


def subscripted(r: Reader, value: ast.expr, inside: list[Node], node: Node) -> ast.expr:
    """`inside` is what stands behind the opening bracket."""
    if inside and inside[-1].kind == "]":
        inside = inside[:-1]
    index = r.listed(inside)
    if isinstance(index, ast.Starred):
        index = r.put(ast.Tuple(elts=[index], ctx=ast.Load()), inside[0], inside[-1])
    return r.under_star(value, node, lambda v: ast.Subscript(value=v, slice=index, ctx=ast.Load()))


def _slice(r: Reader, node: Node) -> ast.expr:
    parts: list[ast.expr | None] = [None, None, None]
    at = 0
    for child in node.children:
        if child.kind == ":":
            at += 1
        elif child.value is not None and at < 3:
            parts[at] = r.expr(child)
    return r.put(ast.Slice(lower=parts[0], upper=parts[1], step=parts[2]), node)


def _call(r: Reader, node: Node) -> ast.expr:
    func = r.expr(r.need(node, "function"))
    given = r.need(node, "arguments")
    if isinstance(given.value, Arguments):
        args, keywords = given.value
    else:
        args, keywords = [r.expr(given)], []
    return r.under_star(func, node, lambda f: ast.Call(func=f, args=args, keywords=keywords))


def _arguments(r: Reader, node: Node) -> Arguments:
    args: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    for child in node.children:
        if isinstance(child.value, ast.keyword):
            keywords.append(child.value)
        elif child.kind == "dictionary_splat":
            keywords.append(r.put(ast.keyword(arg=None, value=r.expr(child)), child))
        elif child.value is not None or child.kind == ERROR:
            args.append(r.expr(child))
    return Arguments(args, keywords)


def _keyword(r: Reader, node: Node) -> ast.keyword:
    name, value = r.need(node, "name"), r.need(node, "value")
    return r.put(ast.keyword(arg=r.name(name), value=r.expr(value)), node)


def _as(r: Reader, node: Node) -> As:
    found = [child for child in node.children if child.value is not None]
    if len(found) != 2:
        raise Unreadable
    return As(r.expr(found[0]), r.stored(r.expr(found[1])))


def _comprehension(kind: type[ast.ListComp] | type[ast.SetComp] | type[ast.GeneratorExp]) -> Read:
    def read(r: Reader, node: Node) -> ast.expr:
        return r.put(kind(elt=r.expr(r.need(node, "body")), generators=_generators(r, node.children)), node)

    return read


def _dictionary_comprehension(r: Reader, node: Node) -> ast.expr:
    body = r.need(node, "body").value
    if not isinstance(body, tuple):
        raise Unreadable
    return r.put(ast.DictComp(key=body[0], value=body[1], generators=_generators(r, node.children)), node)


def _generators(r: Reader, nodes: Iterable[Node]) -> list[ast.comprehension]:
    found: list[ast.comprehension] = []
    for node in nodes:
        if isinstance(node.value, ast.comprehension):
            found.append(node.value)
        elif node.kind == "if_clause" and found:
            found[-1].ifs.append(r.expr(node))
    if not found:
        raise Unreadable
    return found


def _for_in(r: Reader, node: Node) -> ast.comprehension:
    target = r.stored(r.expr(r.need(node, "left")))
    at = next((i for i, child in enumerate(node.children) if child.kind == "in"), len(node.children))
    iterated = r.listed(node.children[at + 1 :])
    return ast.comprehension(target=target, iter=iterated, ifs=[], is_async=int(node.has("async")))


def _if_clause(r: Reader, node: Node) -> ast.expr:
    return r.expr(r.only(node))


EXPRESSIONS: dict[str, Read] = {
    "identifier": _identifier,
    "dotted_name": dotted,
    "integer": _number,
    "float": _number,
    "true": _word(True),
    "false": _word(False),
    "none": _word(None),
    "ellipsis": _word(...),
    "parenthesized_expression": _parenthesized,
    "tuple": _sequence(ast.Tuple),
    "list": _sequence(ast.List),
    "list_pattern": _sequence(ast.List),
    "tuple_pattern": _pattern,
    "set": _set,
    "expression_list": _listed,
    "pattern_list": _listed,
    "list_splat": _starred,
    "list_splat_pattern": _starred,
    "parenthesized_list_splat": _parenthesized,
    "dictionary": _dictionary,
    "pair": _pair,
    "dictionary_splat": _dictionary_splat,
    "dictionary_splat_pattern": _dictionary_splat,
    "conditional_expression": _conditional,
    "named_expression": _named,
    "yield": _yield,
    "attribute": _attribute,
    "subscript": _subscript,
    "slice": _slice,
    "call": _call,
    "argument_list": _arguments,
    "keyword_argument": _keyword,
    "as_pattern": _as,
    "as_pattern_target": _within,
    "list_comprehension": _comprehension(ast.ListComp),
    "set_comprehension": _comprehension(ast.SetComp),
    "generator_expression": _comprehension(ast.GeneratorExp),
    "dictionary_comprehension": _dictionary_comprehension,
    "for_in_clause": _for_in,
    "if_clause": _if_clause,
}
