"""Classes of syntax nodes that the running Python may not have."""

from __future__ import annotations

import ast
from typing import Any


class Error(ast.expr):
    """Where an expression stands: a region that could not be read. Its `body` is the expressions that could.

    In rows it is an `Error` like the one that stands for statements.
    """

    _fields = ("body",)


class _TypeParameter(ast.AST):
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class _TypeVar(_TypeParameter):
    _fields = ("name", "bound", "default_value")


class _TypeVarTuple(_TypeParameter):
    _fields = ("name", "default_value")


class _ParamSpec(_TypeParameter):
    _fields = ("name", "default_value")


class _TypeAlias(ast.stmt):
    _fields = ("name", "type_params", "value")


class _TemplateStr(ast.expr):
    _fields = ("values",)


class _Interpolation(ast.expr):
    _fields = ("value", "str", "conversion", "format_spec")


def _known(name: str, own: type) -> Any:
    """The running Python's class of that name, else ours under that name."""
    found = getattr(ast, name, None)
    if found is None:
        own.__name__ = own.__qualname__ = name
    return found or own


TypeVar = _known("TypeVar", _TypeVar)
TypeVarTuple = _known("TypeVarTuple", _TypeVarTuple)
ParamSpec = _known("ParamSpec", _ParamSpec)
TypeAlias = _known("TypeAlias", _TypeAlias)
TemplateStr = _known("TemplateStr", _TemplateStr)
Interpolation = _known("Interpolation", _Interpolation)
