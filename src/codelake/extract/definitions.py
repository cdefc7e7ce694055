"""Definitions, their parameters, decorators and docstrings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codelake.extract.tree import Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

_KINDS = {
    ast.Module: "module",
    ast.ClassDef: "class",
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "async_function",
    ast.Lambda: "lambda",
}


def definitions(tree: Tree) -> tuple[Rows, ...]:
    names = names_of(tree)
    found: tuple[list[Any], ...] = tuple([] for _ in range(8))
    parameters: tuple[list[Any], ...] = tuple([] for _ in range(7))
    decorators: tuple[list[Any], ...] = tuple([] for _ in range(3))
    ordinals: dict[tuple[int | None, str], int] = {}
    for place, node in enumerate(tree.every(*_KINDS)):
        scope = names.scope_of[node.at] if node.at else None
        body_scope = names.body_scope[node.at]
        name = names.scope_names[body_scope]
        ordinal = ordinals[scope, name] = ordinals.get((scope, name), -1) + 1
        _append(
            found,
            node.at,
            _KINDS[node.__class__],
            name,
            names.qualified_names[body_scope],
            ordinal,
            scope,
            body_scope,
            _docstring(node),
        )
        for position, decorator in enumerate(getattr(node, "decorator_list", ())):
            _append(decorators, place, decorator.at, position)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            _add_parameters(parameters, place, node.args)
    return found, parameters, decorators


def _append(columns: tuple[list[Any], ...], *values: Any) -> None:
    for column, value in zip(columns, values, strict=True):
        column.append(value)


def _docstring(node: Any) -> int | None:
    """The constant that `ast.get_docstring` would read."""
    if node.__class__ is ast.Lambda or not node.body:
        return None
    first = node.body[0]
    if first.__class__ is ast.Expr and first.value.__class__ is ast.Constant and first.value.value.__class__ is str:
        return int(first.value.at)
    return None


def _add_parameters(columns: tuple[list[Any], ...], definition: int, args: ast.arguments) -> None:
    position = 0

    def add(arg: Any, kind: str, default: Any) -> None:
        nonlocal position
        annotation = arg.annotation
        _append(
            columns,
            definition,
            arg.at,
            arg.arg,
            kind,
            position,
            None if default is None else default.at,
            None if annotation is None else annotation.at,
        )
        position += 1

    n_required = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    defaults = [None] * n_required + args.defaults
    for arg, default in zip(args.posonlyargs, defaults, strict=False):
        add(arg, "positional_only", default)
    for arg, default in zip(args.args, defaults[len(args.posonlyargs) :], strict=True):
        add(arg, "positional", default)
    if args.vararg:
        add(args.vararg, "var_positional", None)
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        add(arg, "keyword_only", default)
    if args.kwarg:
        add(args.kwarg, "var_keyword", None)
