"""Statements that see control leave: `try`, `with`, and return, break and continue that pass them.

A `finally` has one copy of its body. Control that comes in by one way may go out by any that leads on from there,
so there are more paths than can be taken, and none is missing.

The exit of a `with` is a step, of its `withitem`. One block is for the end of the body and for exceptions, as both
may go on behind the `with` (`__exit__` may swallow) or raise. Return, break and continue have a block each, however
many of them pass.

Handlers are tried in turn: a step of the type, then true to the body, or false to the next. None left: exception.
Those of `except*` all have their turn, after an exception in the one before too; a block without steps ends them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from codelake.extract.control.branching import decision, store
from codelake.extract.control.graph import FALSE, NEXT, TRUE, Goal, Graph, Pending

Walk = Callable[[Graph, list[Any]], None]


class _Finally:
    def __init__(self, g: Graph) -> None:
        self.entry = g.block()
        self.goals: dict[Goal, None] = {}
        """Where those go to that passed; in order."""

    def leave(self, g: Graph, goal: Goal, depth: int) -> None:
        g.jump(self.entry)
        self.goals[goal] = None


class _With:
    def __init__(self, g: Graph, item: Any) -> None:
        self.exit = g.block()
        self.item = item
        self.outer = g.handler
        self.exits: dict[Goal, int] = {}

    def leave(self, g: Graph, goal: Goal, depth: int) -> None:
        if goal in self.exits:
            g.jump(self.exits[goal])
            return
        inner = g.handler
        g.handler = self.outer
        self.exits[goal] = g.begin()
        g.step(self.item.at, True)
        leave(g, goal, depth)
        g.handler = inner


def leave(g: Graph, goal: Goal, depth: int | None = None) -> None:
    """Return, break or continue, past the cleanups on the way, innermost first; `depth` of them are to be seen to."""
    depth = len(g.cleanups) if depth is None else depth
    pending = g.pause()
    if depth > goal.depth:
        g.cleanups[depth - 1].leave(g, goal, depth - 1)
    elif goal.block >= 0:
        g.jump(goal.block)
    else:
        goal.pending += pending
    g.wait([])


def with_(g: Graph, node: Any, walk: Walk) -> None:
    opened = []
    for item in node.items:
        decision(g, item.context_expr)
        g.pause()
        cleanup = _With(g, item)
        opened.append(cleanup)
        g.cleanups.append(cleanup)
        g.handler = cleanup.exit
        if item.optional_vars is not None:
            store(g, item.optional_vars)
    walk(g, node.body)
    for cleanup in reversed(opened):
        g.cleanups.pop()
        g.handler = cleanup.outer
        g.resume(cleanup.exit)
        g.step(cleanup.item.at, True)


def try_(g: Graph, node: Any, walk: Walk) -> None:
    g.pause()
    outer = g.handler
    cleanup = None
    if node.finalbody:
        cleanup = _Finally(g)
        g.cleanups.append(cleanup)
        g.handler = cleanup.entry
    escape = g.handler
    dispatch = -1
    if node.handlers:
        g.handler = dispatch = g.block()
    walk(g, node.body)
    g.pause()
    g.handler = escape
    walk(g, node.orelse)
    out = list(g.pause())
    if dispatch >= 0:
        g.wait([])
        g.resume(dispatch)
        handle = _handle if node.__class__ is ast.Try else _handle_groups
        handle(g, node, walk, out)
    g.wait(out)
    if cleanup is not None:
        g.cleanups.pop()
        g.handler = outer
        _finally(g, node, walk, cleanup)


def _handle(g: Graph, node: Any, walk: Walk, out: Pending) -> None:
    for handler in node.handlers:
        no: Pending = []
        if handler.type is not None:
            block = decision(g, handler.type)
            no.append((block, FALSE))
            g.wait([(block, TRUE)])
        _handled(g, handler, walk)
        out += g.pause()
        g.wait(no)
    # What is pending now is raised again, by the flow that the last type has anyway.


def _handled(g: Graph, handler: Any, walk: Walk) -> None:
    if handler.name is not None:
        g.hulls.append((len(g.control.step_nodes), handler.at if handler.type is None else handler.type.at))
        g.step(handler.at, g.is_class)
    walk(g, handler.body)


def _handle_groups(g: Graph, node: Any, walk: Walk, out: Pending) -> None:
    escape = g.handler
    for handler in node.handlers:
        block = decision(g, handler.type)
        g.wait([(block, TRUE)])
        g.handler = then = g.block()
        _handled(g, handler, walk)
        g.handler = escape
        g.flow(block, then, FALSE)
        g.resume(then)
    g.places[g.current] = node.at
    g.excepts()
    out += g.pause()


def _finally(g: Graph, node: Any, walk: Walk, cleanup: _Finally) -> None:
    """The body, and from its end to all that goes on from there."""
    goes_on = bool(g.pending)
    raises = cleanup.entry in g.handled
    g.resume(cleanup.entry)
    walk(g, node.finalbody)
    if g.current < 0:
        if not g.pending or not (raises or cleanup.goals):
            return
        g.places[g.begin()] = node.at
    block = g.current
    g.forks[block] = set()
    if raises and g.calm:
        g.excepts()
    for goal in cleanup.goals:
        g.wait([(block, NEXT)])
        leave(g, goal)
    g.wait([(block, NEXT)] if goes_on else [])
