"""Control flow: one graph for each scope that has code.

Every simple statement is a step, and each expression that decides where control goes: the test of an `if`, what is
iterated, a pattern. A loop's statement is the step that asks for the next item; its target is one of the body. A
`def` or `class` is a step of the scope around it. A step that can raise gives its block a flow to the innermost
handler, or else to the block `raise`: after any of the block's steps, not only the last.

A block reaches from the start of its first step to the end of its last; those of entry, exit and raise are empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from codelake.extract.control.branching import branching, condition, decision, evaluated, operand, statement, store
from codelake.extract.control.graph import FALSE, TRUE, Goal, Graph, Pending
from codelake.extract.control.leaving import leave, try_, with_
from codelake.extract.control.patterns import match_
from codelake.extract.text import Offsets
from codelake.extract.tree import Error, Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows


def control(tree: Tree) -> tuple[Rows, ...]:
    names = names_of(tree)
    g = Graph(branching(tree))
    for scope, (node, kind) in enumerate(zip(names.scope_nodes, names.scope_kinds, strict=True)):
        if kind == "type":
            continue
        is_resumed = scope in names.generators or scope in names.coroutines
        g.open(scope, is_class=kind == "class", is_resumed=is_resumed)
        if kind == "lambda":
            operand(g, node.body)
        elif kind == "comprehension":
            _comprehension(g, node)
        else:
            _walk(g, node.body)
        g.close()
    found = tree.control = g.control
    starts, ends = _spans(tree, g)
    return (
        (found.block_scopes, found.block_kinds, starts, ends),
        (found.step_blocks, found.step_nodes),
        (found.flow_sources, found.flow_targets, found.flow_kinds),
    )


def _spans(tree: Tree, g: Graph) -> tuple[Offsets, Offsets]:
    """Start and end of each block."""
    found = g.control
    starts = np.zeros(len(found.block_kinds), np.int32)
    ends = np.zeros(len(found.block_kinds), np.int32)
    nodes = [names_of(tree).scope_nodes[scope].at for scope in found.parts]
    firsts = np.array([first for first, *_ in found.parts.values()], np.int32)
    starts[firsts] = ends[firsts] = tree.starts[nodes]
    for special in (firsts + 1, firsts + 2):
        starts[special] = ends[special] = tree.ends[nodes]
    if found.step_nodes:
        steps, blocks = np.array(found.step_nodes), np.array(found.step_blocks)
        step_ends = tree.ends[steps]
        if g.hulls:
            which, upto = np.array(g.hulls).T
            step_ends[which] = tree.ends[upto]
        runs = np.flatnonzero(np.diff(blocks, prepend=-1))
        starts[blocks[runs]] = np.minimum.reduceat(tree.starts[steps], runs)
        ends[blocks[runs]] = np.maximum.reduceat(step_ends, runs)
    for block, node in g.places.items():
        starts[block] = ends[block] = tree.ends[node]
    for block, start in _empty(tree, g, starts):
        starts[block] = ends[block] = start
    return starts, ends


def _empty(tree: Tree, g: Graph, starts: Offsets) -> Iterator[tuple[int, int]]:
    """Blocks without steps, such as of a `finally` that begins with a `try`, and where the next block begins."""
    found = g.control
    with_steps = set(found.step_blocks)
    empty = set(found.written).difference(with_steps, g.places)
    if not empty:
        return
    begins: dict[int, int] = {}
    for block in reversed(found.written):
        scope = found.block_scopes[block]
        if block in with_steps:
            begins[scope] = int(starts[block])
        elif block in empty:
            yield block, begins.get(scope) or int(tree.ends[names_of(tree).scope_nodes[scope].at])


def _walk(g: Graph, body: list[Any]) -> None:
    branches = g.branching
    step_nodes, step_blocks = g.control.step_nodes, g.control.step_blocks
    for node in body:
        kind = node.__class__
        compound = _COMPOUND.get(kind)
        if compound is not None:
            compound(g, node)
            continue
        at = node.at
        if at in branches:
            statement(g, node)
            continue
        block = g.current
        if block < 0:
            block = g.begin()
        step_blocks.append(block)
        step_nodes.append(at)
        if g.calm and _raises(g, node):
            g.excepts()


def _raises(g: Graph, node: Any) -> bool:
    """Whether a simple statement can raise. The namespace of a class may refuse a name."""
    kind = node.__class__
    if kind is ast.Expr:
        return node.value.__class__ is not ast.Constant
    if kind is ast.Assign:
        return (
            g.is_class
            or node.value.__class__ is not ast.Constant
            or any(target.__class__ is not ast.Name for target in node.targets)
        )
    if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
        return g.is_class or bool(evaluated(node))
    return kind is not ast.Pass and kind is not ast.Global and kind is not ast.Nonlocal


def _if(g: Graph, node: Any) -> None:
    out: Pending = []
    while True:
        yes: Pending = []
        no: Pending = []
        condition(g, node.test, yes, no)
        g.pending = yes
        _walk(g, node.body)
        out += g.pause()
        g.wait(no)
        orelse = node.orelse
        if len(orelse) != 1 or orelse[0].__class__ is not ast.If:
            break
        node = orelse[0]
    _walk(g, orelse)
    out += g.pause()
    g.wait(out)


def _while(g: Graph, node: Any) -> None:
    g.pause()
    head = g.begin()
    yes: Pending = []
    no: Pending = []
    condition(g, node.test, yes, no)
    g.pending = yes
    _loop(g, node, head, no)


def _for(g: Graph, node: Any) -> None:
    decision(g, node.iter)
    g.pause()
    head = g.begin()
    g.hulls.append((len(g.control.step_nodes), node.iter.at))
    g.step(node.at, True)
    g.wait([(head, TRUE)])
    store(g, node.target)
    _loop(g, node, head, [(head, FALSE)])


def _loop(g: Graph, node: Any, head: int, ended: Pending) -> None:
    out = Goal(len(g.cleanups))
    g.loops.append((out, Goal(len(g.cleanups), head)))
    _walk(g, node.body)
    g.jump(head)
    g.loops.pop()
    g.wait(ended)
    _walk(g, node.orelse)
    if out.pending:
        g.wait(g.pause() + out.pending)


def _break(g: Graph, node: Any) -> None:
    g.step(node.at, False)
    if g.loops:  # else the compiler refuses it
        leave(g, g.loops[-1][0])


def _continue(g: Graph, node: Any) -> None:
    g.step(node.at, False)
    if g.loops:
        leave(g, g.loops[-1][1])


def _return(g: Graph, node: Any) -> None:
    if node.at in g.branching:
        statement(g, node)
    else:
        g.step(node.at, node.value is not None and node.value.__class__ is not ast.Constant)
    leave(g, g.finish)


def _raise(g: Graph, node: Any) -> None:
    if node.at in g.branching:
        statement(g, node)
    else:
        g.step(node.at, True)
    g.wait([])


def _assert(g: Graph, node: Any) -> None:
    """The test decides; the statement is the step that raises."""
    yes: Pending = []
    no: Pending = []
    condition(g, node.test, yes, no)
    g.wait(no)
    if node.msg is not None and node.msg.at in g.branching:
        operand(g, node.msg)
    g.step(node.at, True)
    g.wait(yes)


def _error(g: Graph, node: Any) -> None:
    """A region that could not be read: what could is walked, one after the other."""
    g.step(node.at, True)
    for part in node.body:
        if isinstance(part, ast.stmt):
            _walk(g, [part])
        else:
            operand(g, part)


def _comprehension(g: Graph, node: Any) -> None:
    """What the first generator iterates is evaluated outside, and given."""
    out: Pending = []
    around = -1
    for generator in node.generators:
        if around >= 0:
            decision(g, generator.iter)
            g.pause()
        head = g.begin()
        g.step(generator.at, True)
        if around >= 0:
            g.flow(head, around, FALSE)
        else:
            out.append((head, FALSE))
        around = head
        g.wait([(head, TRUE)])
        store(g, generator.target)
        for test in generator.ifs:
            yes: Pending = []
            no: Pending = []
            condition(g, test, yes, no)
            g.connect(no, head)
            g.wait(yes)
    for element in (node.key, node.value) if node.__class__ is ast.DictComp else (node.elt,):
        operand(g, element)
    if node.__class__ is not ast.ListComp and g.calm and g.current >= 0:
        g.excepts()  # hashes the element, or waits to be resumed
    if around >= 0:
        g.jump(around)
        g.wait(out)


_COMPOUND: dict[type, Callable[[Graph, Any], None]] = {
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: lambda g, node: with_(g, node, _walk),
    ast.AsyncWith: lambda g, node: with_(g, node, _walk),
    ast.Try: lambda g, node: try_(g, node, _walk),
    ast.TryStar: lambda g, node: try_(g, node, _walk),
    ast.Match: lambda g, node: match_(g, node, _walk),
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    Error: _error,
}
