"""`match` in control-flow graphs.

A pattern is a step that decides. The names that it captures are stored when all of it matched, so they are steps
of the block that it then goes to: before the guard, which may still send control to the next case.
"""

from __future__ import annotations

import ast
from typing import Any

from codelake.extract.control.branching import condition, operand
from codelake.extract.control.graph import FALSE, TRUE, Graph, Pending
from codelake.extract.control.leaving import Walk


def match_(g: Graph, node: Any, walk: Walk) -> None:
    operand(g, node.subject)
    out: Pending = []
    for case in node.cases:
        no: Pending = []
        pattern = case.pattern
        captures = _captures(pattern)
        tested = pattern
        while tested.__class__ is ast.MatchAs and tested.pattern is not None:
            tested = tested.pattern
        if not _always_matches(pattern):
            block = g.step(tested.at, tested.__class__ is not ast.MatchSingleton)
            g.wait([(block, TRUE)])
            no.append((block, FALSE))
        elif tested.__class__ is ast.MatchOr or not captures:
            g.step(tested.at, tested.__class__ is ast.MatchOr)
        for capture in captures:
            g.step(capture.at, g.is_class)
        if case.guard is not None:
            yes: Pending = []
            condition(g, case.guard, yes, no)
            g.wait(yes)
        walk(g, case.body)
        out += g.pause()
        g.wait(no)
    g.wait(out + g.pending)


def _captures(pattern: Any) -> list[Any]:
    """The patterns that bind a name, in the order in which they match."""
    kind = pattern.__class__
    if kind is ast.MatchAs:
        within = [] if pattern.pattern is None else _captures(pattern.pattern)
        return within if pattern.name is None else [*within, pattern]
    if kind is ast.MatchStar:
        return [] if pattern.name is None else [pattern]
    if kind is ast.MatchMapping:
        within = [capture for part in pattern.patterns for capture in _captures(part)]
        return within if pattern.rest is None else [*within, pattern]
    if kind is ast.MatchClass:
        return [capture for part in (*pattern.patterns, *pattern.kwd_patterns) for capture in _captures(part)]
    return [capture for part in getattr(pattern, "patterns", ()) for capture in _captures(part)]


def _always_matches(pattern: Any) -> bool:
    if pattern.__class__ is ast.MatchOr:
        return any(_always_matches(part) for part in pattern.patterns)
    if pattern.__class__ is not ast.MatchAs:
        return False
    return pattern.pattern is None or _always_matches(pattern.pattern)
