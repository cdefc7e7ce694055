"""Constant texts that are code: `eval('f(x)')`. Names, attributes, constants and calls in them are followed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

from codelake.graph.link.attributes import load
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import BUILTINS
from codelake.graph.link.names import named

_LONGEST = 200
"""Of a text that is read."""


def evaluate(link: Linking, call: Call) -> None:
    """What `eval` gives, and the expressions that `exec` evaluates."""
    text = link.text(call.positional[0]) if call.positional and call.scope >= 0 else None
    if text is None or len(text) > _LONGEST:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in statements:
        if isinstance(statement, ast.Expr):
            slot = _slot(link, call, statement.value)
            if slot is not None:
                link.solver.copy(slot, call.result)


def _slot(link: Linking, call: Call, node: Any) -> int | None:
    if isinstance(node, ast.Name):
        return _name(link, call.scope, node.id)
    if isinstance(node, ast.Constant):
        name = type(node.value).__name__
        return link.holding(link.builtin(name)) if name in BUILTINS else None
    if not isinstance(node, ast.Attribute | ast.Call):
        return None
    before = _slot(link, call, node.value if isinstance(node, ast.Attribute) else node.func)
    if before is None:
        return None
    slot = link.solver.named("evaluated", call.result, node.col_offset, node.end_col_offset)
    if isinstance(node, ast.Attribute):
        link.solver.once(slot, link.waits, before, load, node.attr, slot)
    elif not any(isinstance(one, ast.Starred) for one in node.args):
        given = [_slot(link, call, one) for one in node.args]
        passed = {word.arg: _slot(link, call, word.value) for word in node.keywords if word.arg is not None}
        positional = [link.nowhere if one is None else one for one in given]
        keywords = {name: link.nowhere if one is None else one for name, one in passed.items()}
        made = Call(call.scope, before, slot, call.node, positional=positional, keywords=keywords)
        link.solver.once(slot, link.make_call, made)
    return slot


def _name(link: Linking, scope: int, name: str) -> int | None:
    """What a name means to the code of a scope."""
    file = link.program.scope_files[scope]
    for names in locals_around(link, scope):
        if name in names:
            return names[name]
    found = named(link, file, name)
    if found is None and name in BUILTINS:
        return link.holding(link.values.external(f"builtins.{name}"))
    return found


def locals_around(link: Linking, scope: int) -> Iterator[dict[str, int]]:
    """Names of the functions around code of a scope, from name to slot; the innermost first."""
    while scope >= 0:
        around = link.program.around(scope)
        yield link.locals.get(around.slot, {})
        scope = around.scope
