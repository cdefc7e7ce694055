"""Statements with blocks: branches, loops, handlers, `with` and `match`."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from codelake.extract.recover.concrete import Node
from codelake.extract.recover.patterns import pattern, split
from codelake.extract.recover.reader import As, Read, Reader, Unreadable


class _Handler(NamedTuple):
    made: ast.ExceptHandler
    is_star: bool


def _block_of(node: Node) -> Node | None:
    return next((child for child in node.children if child.kind == "block"), None)


def _header(node: Node) -> Node:
    """The last sign before the block."""
    last = node
    for child in node.children:
        if child.kind == "block":
            break
        if child.end > child.start:
            last = child
    return last


def _body(r: Reader, node: Node) -> list[ast.stmt]:
    return r.body(_block_of(node), _header(node))


def _if(r: Reader, node: Node) -> ast.stmt:
    test = r.expr(r.need(node, "condition"))
    orelse: list[ast.stmt] = []
    for clause in reversed(node.every("alternative")):
        if isinstance(clause.value, tuple):
            inner = ast.If(test=clause.value[0], body=clause.value[1], orelse=orelse)
            orelse = [r.put(inner, clause, node)]
        else:
            orelse = [*r.statements([clause]), *orelse]
    return r.put(ast.If(test=test, body=_body(r, node), orelse=orelse), node)


def _elif(r: Reader, node: Node) -> tuple[ast.expr, list[ast.stmt]]:
    r.n_elifs += 1
    return r.expr(r.need(node, "condition")), _body(r, node)


def _clause(r: Reader, node: Node) -> list[ast.stmt]:
    return _body(r, node)


def _orelse(r: Reader, node: Node, kind: str = "else_clause") -> list[ast.stmt]:
    return r.statements(child for child in node.children if child.kind == kind)


def _for(r: Reader, node: Node) -> ast.stmt:
    kind: Any = ast.AsyncFor if node.has("async") else ast.For
    target = r.stored(r.expr(r.need(node, "left")))
    iterated = r.expr(r.need(node, "right"))
    body, orelse = _body(r, node), _orelse(r, node)
    return r.put(kind(target=target, iter=iterated, body=body, orelse=orelse, type_comment=None), node)  # type: ignore[no-any-return]


def _while(r: Reader, node: Node) -> ast.stmt:
    test = r.expr(r.need(node, "condition"))
    return r.put(ast.While(test=test, body=_body(r, node), orelse=_orelse(r, node)), node)


def _with(r: Reader, node: Node) -> ast.stmt:
    kind: Any = ast.AsyncWith if node.has("async") else ast.With
    items = [item for child in node.children if child.kind == "with_clause" for item in child.value]
    if not items:
        raise Unreadable
    return r.put(kind(items=items, body=_body(r, node), type_comment=None), node)  # type: ignore[no-any-return]


def _with_clause(r: Reader, node: Node) -> list[ast.withitem]:
    found = [child for child in node.children if child.kind == "with_item"]
    if len(found) == 1 and (parts := found[0].parts) and parts[0].kind == "tuple":
        found = [child for child in parts[0].children if child.value is not None]
    return [_item(r, child) for child in found]


def _item(r: Reader, node: Node) -> ast.withitem:
    if isinstance(node.value, As):
        return ast.withitem(context_expr=node.value.value, optional_vars=r.stored(node.value.target))
    return ast.withitem(context_expr=r.expr(node), optional_vars=None)


def _with_item(r: Reader, node: Node) -> Any:
    return r.need(node, "value").value


def _try(r: Reader, node: Node) -> ast.stmt:
    handlers = [child.value for child in node.children if isinstance(child.value, _Handler)]
    kind: Any = ast.TryStar if any(h.is_star for h in handlers) else ast.Try
    body, orelse, finalbody = _body(r, node), _orelse(r, node), _orelse(r, node, "finally_clause")
    if not handlers:
        body, orelse = body + orelse, []
    if not handlers and not finalbody:
        r.problem("neither except nor finally", node.start, node.end)
        at = node.end
        finalbody = [r.put_at(ast.Pass(), at, at)]
    made = kind(body=body, handlers=[h.made for h in handlers], orelse=orelse, finalbody=finalbody)
    return r.put(made, node)  # type: ignore[no-any-return]


def _except(r: Reader, node: Node) -> _Handler:
    values, alias = node.every("value"), node.child("alias")
    made = ast.ExceptHandler(type=None, name=None, body=_body(r, node))
    r.put(made, node)
    if len(values) == 1:
        value: Any = values[0].value
        if isinstance(value, As):
            made.type = value.value
            alias_value: Any = value.target
        else:
            made.type = r.expr(values[0])
            alias_value = r.expr(alias) if alias else None
        _bind(r, made, alias_value)
    elif values:
        caught = [r.expr(value) for value in values]
        r.later.append(lambda: _with_comma(r, made, caught, node))
    return _Handler(made, node.has("*"))


def _bind(r: Reader, made: ast.ExceptHandler, target: Any) -> None:
    """Gives the exception a name. Python 2 can unpack it into several, which is written here as it is done there:
    a hidden name first."""
    if target is None:
        return
    if isinstance(target, ast.Name):
        made.name = target.id
        return
    at = r.end_of(target)
    made.name = ".0"
    hidden = r.put_at(ast.Name(id=".0", ctx=ast.Load()), at, at)
    bound = ast.Assign(targets=[r.stored(target)], value=hidden, type_comment=None)
    made.body.insert(0, r.put_at(bound, r.start_of(target), at))


def _with_comma(r: Reader, made: ast.ExceptHandler, caught: list[ast.expr], node: Node) -> None:
    """`except A, b:` binds b in Python 2; `except A, B:` catches both from Python 3.14 on."""
    if node.taken:
        return  # part of an error
    second = caught[1]
    is_name = isinstance(second, ast.Name) and (r.is_python2 or not second.id[:1].isupper())
    if len(caught) == 2 and (is_name or isinstance(second, ast.Tuple | ast.List)):
        made.type = caught[0]
        _bind(r, made, second)
    else:
        signs = [child for child in node.children if child.field == "value" or child.kind == ","]
        made.type = r.put(ast.Tuple(elts=caught, ctx=ast.Load()), signs[0], signs[-1])


def _match(r: Reader, node: Node) -> ast.stmt:
    cases = [child.value for child in _cases(node) if isinstance(child.value, ast.match_case)]
    signs = node.parts[1:]
    end = next((i for i, child in enumerate(signs) if child.kind == ":"), len(signs))
    subject = r.listed(signs[:end])
    if not cases:
        raise Unreadable
    return r.put(ast.Match(subject=subject, cases=cases), node)


def _cases(node: Node) -> list[Node]:
    block = _block_of(node)
    return [*node.children, *(block.children if block else [])]


def _case(r: Reader, node: Node) -> ast.match_case:
    parts = node.parts
    signs = parts[1 : next((i for i, c in enumerate(parts) if c.kind in ("if_clause", ":")), len(parts))]
    found = [pattern(r, part) for part in split(signs, ",")]
    if not found:
        raise Unreadable
    made = found[0]
    if len(found) > 1 or signs[-1].kind == "," or isinstance(made, ast.MatchStar):
        made = r.put(ast.MatchSequence(patterns=found), signs[0], signs[-1])
    guard = node.child("guard")
    return ast.match_case(pattern=made, guard=r.expr(guard) if guard else None, body=_body(r, node))


COMPOUND: dict[str, Read] = {
    "if_statement": _if,
    "elif_clause": _elif,
    "else_clause": _clause,
    "finally_clause": _clause,
    "for_statement": _for,
    "while_statement": _while,
    "with_statement": _with,
    "with_clause": _with_clause,
    "with_item": _with_item,
    "try_statement": _try,
    "except_clause": _except,
    "match_statement": _match,
    "case_clause": _case,
}
