"""A limit to the depth of a tree. Extractors recurse, and have no more than a limit of frames to do so."""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.recover.concrete import MAX_DEPTH
from codelake.extract.recover.reader import Reader, unread, unread_statement
from codelake.extract.tree import children_of


def limit_depth(module: ast.Module, reader: Reader) -> None:
    """Puts an error in the place of each expression and statement that is too deep."""
    rest: list[tuple[Any, int]] = [(module, 0)]
    while rest:
        node, depth = rest.pop()
        for field in children_of(node.__class__):
            value = getattr(node, field, None)
            if value.__class__ is not list:
                value = _limited(value, depth + 1, reader)
                setattr(node, field, value)
                found = [value]
            else:
                value[:] = found = [_limited(child, depth + 1, reader) for child in value]
            rest += [(child, depth + 1) for child in found if child is not None]


def _limited(node: Any, depth: int, reader: Reader) -> Any:
    if depth <= MAX_DEPTH or not isinstance(node, ast.expr | ast.stmt):
        return node
    made = unread([]) if isinstance(node, ast.expr) else unread_statement([])
    reader.problem("nested too deeply", reader.start_of(node), reader.end_of(node))
    return ast.copy_location(made, node)
