"""Concrete nodes of statements as `ast` nodes."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.recover import grammar
from codelake.extract.recover.concrete import Node
from codelake.extract.recover.definitions import type_parameters
from codelake.extract.recover.operators import OPERATORS
from codelake.extract.recover.reader import Read, Reader, Unreadable


def _expression(r: Reader, node: Node) -> ast.stmt:
    parts = node.parts
    if len(parts) == 1 and isinstance(parts[0].value, ast.stmt):
        return parts[0].value  # an assignment
    made = r.put(ast.Expr(value=r.listed(node.children)), node)
    first = made.value.elts[0] if isinstance(made.value, ast.Tuple) and made.value.elts else made.value
    if isinstance(first, ast.Compare) and _is_called(first.left, "exec") and isinstance(first.ops[0], ast.In):
        # exec (code) in globals, locals
        call: Any = first.left
        call.args += [*first.comparators, *(made.value.elts[1:] if isinstance(made.value, ast.Tuple) else [])]
        r.is_python2 = True
        made.value = r.put(call, node)
    elif isinstance(first, ast.Subscript) and isinstance(first.value, ast.Name) and first.value.id == "print":
        is_bare = r.first(node).has(",")
        r.later.append(lambda: _print_list(r, made, first, is_bare))
    return made


def _is_called(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _print_list(r: Reader, made: ast.Expr, subscript: ast.Subscript, is_bare: bool) -> None:
    """`print [a, b]` prints a list in Python 2."""
    if r.is_python2 and made.value is subscript:
        inside = subscript.slice
        elts = inside.elts if is_bare and isinstance(inside, ast.Tuple) else [inside]
        start = r.utf8.index(b"[", r.end_of(subscript.value))
        listed = r.put_at(ast.List(elts=elts, ctx=ast.Load()), start, r.end_of(subscript))
        made.value = ast.copy_location(ast.Call(func=subscript.value, args=[listed], keywords=[]), subscript)


def _assignment(r: Reader, node: Node) -> ast.stmt:
    target: Any = r.stored(r.expr(r.need(node, "left")))
    right, annotation = node.child("right"), node.child("type")
    if annotation is not None:
        is_simple = isinstance(target, ast.Name) and r.need(node, "left").kind == "identifier"
        value = r.expr(right) if right else None
        made = ast.AnnAssign(target=target, annotation=r.expr(annotation), value=value, simple=int(is_simple))
        return r.put(made, node)
    if right is None:
        raise Unreadable
    if isinstance(right.value, ast.Assign):  # a = b = c
        right.value.targets.insert(0, target)
        return r.put(right.value, node)
    return r.put(ast.Assign(targets=[target], value=r.expr(right), type_comment=None), node)


def _augmented(r: Reader, node: Node) -> ast.stmt:
    target: Any = r.stored(r.expr(r.need(node, "left")))
    op = OPERATORS[r.need(node, "operator").kind.removesuffix("=")]()
    return r.put(ast.AugAssign(target=target, op=op, value=r.expr(r.need(node, "right"))), node)


def _return(r: Reader, node: Node) -> ast.stmt:
    found = r.exprs(node.children)
    return r.put(ast.Return(value=found[0] if found else None), node)


def _delete(r: Reader, node: Node) -> ast.stmt:
    what = r.only(node)
    if r.utf8.startswith(b"exec", node.start):
        return _called(r, node, "exec", _without_in(what))
    found = (
        [r.expr(child) for child in what.children if child.value] if what.kind == "expression_list" else [r.expr(what)]
    )
    return r.put(ast.Delete(targets=[r.stored(target, ast.Del) for target in found]), node)


def _raise(r: Reader, node: Node) -> ast.stmt:
    cause = node.child("cause")
    found = [child for child in node.children if child.value is not None and child is not cause]
    exc = r.expr(found[0]) if found else None
    if isinstance(exc, ast.Tuple) and found[0].kind == "expression_list" and exc.elts:
        # raise E, value, traceback
        r.is_python2 = True
        exc = r.put(ast.Call(func=exc.elts[0], args=exc.elts[1:], keywords=[]), found[0])
    return r.put(ast.Raise(exc=exc, cause=r.expr(cause) if cause else None), node)


def _assert(r: Reader, node: Node) -> ast.stmt:
    found = r.exprs(node.children)
    if not found:
        raise Unreadable
    return r.put(ast.Assert(test=found[0], msg=found[1] if len(found) > 1 else None), node)


def _print(r: Reader, node: Node) -> ast.stmt:
    """As the call of `print` that it is in Python 3."""
    r.is_python2 = True
    name = r.put(ast.Name(id="print", ctx=ast.Load()), r.first(node))
    keywords = []
    for child in node.children:
        if child.kind == "chevron":
            keywords.append(r.put(ast.keyword(arg="file", value=r.expr(r.only(child))), child))
    args = r.exprs(child for child in node.children if child.kind != "chevron")
    return r.put(ast.Expr(value=r.put(ast.Call(func=name, args=args, keywords=keywords), node)), node)


def _exec(r: Reader, node: Node) -> ast.stmt:
    return _called(r, node, "exec", [child for child in node.children if child.value is not None])


def _without_in(node: Node) -> list[Node]:
    """`code in globals, locals` as three."""
    nodes = node.children if node.kind == "expression_list" else [node]
    first = nodes[0]
    if first.kind == "comparison_operator" and [c.kind for c in first.every("operators")] == ["in"]:
        nodes = [*first.children, *nodes[1:]]
    return [child for child in nodes if child.value is not None]


def _called(r: Reader, node: Node, name: str, args: list[Node]) -> ast.stmt:
    r.is_python2 = True
    func = r.put_at(ast.Name(id=name, ctx=ast.Load()), node.start, node.start + len(name))
    return r.put(ast.Expr(value=r.put(ast.Call(func=func, args=r.exprs(args), keywords=[]), node)), node)


def _names(kind: type[ast.Global] | type[ast.Nonlocal]) -> Read:
    def read(r: Reader, node: Node) -> ast.stmt:
        names = [r.name(child) for child in node.children if child.value is not None]
        if not names:
            raise Unreadable
        return r.put(kind(names=names), node)

    return read


def _type_alias(r: Reader, node: Node) -> ast.stmt:
    left = r.need(node, "left")
    inner = left.parts[0] if left.parts else left
    types: list[Any] = []
    if inner.kind == "generic_type" and len(inner.parts) == 2:
        inner, inside = inner.parts
        types = type_parameters(r, inside)
    name = r.stored(inner.value)
    if name.__class__ is not ast.Name:
        raise Unreadable
    value = r.expr(r.need(node, "right"))
    return r.put(grammar.TypeAlias(name=name, type_params=types, value=value), node)  # type: ignore[no-any-return]


# Imports


def _dotted_text(r: Reader, node: Node) -> str:
    found = ".".join(r.name(child) for child in node.children if child.value is not None)
    if not found:
        raise Unreadable
    return found


def _alias(r: Reader, node: Node) -> ast.alias:
    if node.kind != "aliased_import":
        return r.put(ast.alias(name=_dotted_text(r, node), asname=None), node)
    name, alias = r.need(node, "name"), r.need(node, "alias")
    return r.put(ast.alias(name=_dotted_text(r, name), asname=r.name(alias)), node)


def _import(r: Reader, node: Node) -> ast.stmt:
    names = [_alias(r, child) for child in node.every("name") if not child.missing]
    if not names:
        raise Unreadable
    return r.put(ast.Import(names=names), node)


def _import_from(r: Reader, node: Node) -> ast.stmt:
    module: str | None = "__future__"
    level = 0
    if node.kind != "future_import_statement":
        source: Node | None = r.need(node, "module_name")
        if source and source.kind == "relative_import":
            dots = r.first(source)
            level = r.source(dots).count(".")
            source = next((child for child in source.children if child.kind == "dotted_name"), None)
        module = _dotted_text(r, source) if source else None
    names = [_alias(r, child) for child in node.every("name") if not child.missing]
    names += [r.put(ast.alias(name="*", asname=None), c) for c in node.children if c.kind == "wildcard_import"]
    if not names:
        raise Unreadable
    return r.put(ast.ImportFrom(module=module, names=names, level=level), node)


def _word(kind: type[ast.stmt]) -> Read:
    return lambda r, node: r.put(kind(), node)


def _block(r: Reader, node: Node) -> list[ast.stmt]:
    return r.statements(child for child in node.children if child.kind != "case_clause")


STATEMENTS: dict[str, Read] = {
    "module": _block,
    "block": _block,
    "expression_statement": _expression,
    "assignment": _assignment,
    "augmented_assignment": _augmented,
    "return_statement": _return,
    "delete_statement": _delete,
    "raise_statement": _raise,
    "assert_statement": _assert,
    "print_statement": _print,
    "exec_statement": _exec,
    "global_statement": _names(ast.Global),
    "nonlocal_statement": _names(ast.Nonlocal),
    "type_alias_statement": _type_alias,
    "import_statement": _import,
    "import_from_statement": _import_from,
    "future_import_statement": _import_from,
    "pass_statement": _word(ast.Pass),
    "break_statement": _word(ast.Break),
    "continue_statement": _word(ast.Continue),
}
