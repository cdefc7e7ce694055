"""Expressions in control-flow graphs: those that decide where control goes, and what is evaluated around them.

`and`, `or`, conditional expressions and chains of comparisons decide. An expression without them is one step. One
that has them is taken apart: its operands are steps, in the order in which they are evaluated, then itself for what
it does with them; only what decides has no step of its own. So is a statement.

A step of an operand of a chain of comparisons (`a < b < c`) compares too, with the operand before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

from codelake.extract.control.graph import FALSE, TRUE, Graph, Pending
from codelake.extract.tree import Tree, children_of, names_of

COMPREHENSIONS = frozenset((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
_OF_ANOTHER = frozenset((ast.comprehension, ast.arg))
"""Nodes of the frame that is opened; what they hold (the first iterable, an annotation) may be of that around."""
_WITHOUT_STEP = frozenset((ast.Starred, ast.keyword))
_children = cache(children_of)


def branching(tree: Tree) -> set[int]:
    """Nodes with an expression in them that decides, evaluated in the same frame; up to the statement."""
    nodes, parents, names = tree.nodes, tree.parents, names_of(tree)
    scope_of = names.scope_of
    marked: set[int] = set()
    chains = [node for node in tree.every(ast.Compare) if len(node.ops) > 1]
    for deciding in (*tree.every(ast.BoolOp), *tree.every(ast.IfExp), *chains):
        at = deciding.at
        if at in names.unevaluated:
            continue
        scope = scope_of[at]
        while at not in marked and scope_of[at] == scope:
            marked.add(at)
            if isinstance(nodes[at], ast.stmt):
                break
            at = parents[at]
            if nodes[at].__class__ in _OF_ANOTHER and scope_of[at] != scope:
                at = parents[at]
    return marked


def evaluated(node: Any) -> list[Any]:
    """What a node evaluates in its frame, in that order. A name that it binds is not evaluated."""
    kind = node.__class__
    if kind in COMPREHENSIONS:
        return [node.generators[0].iter] if node.generators else []
    if kind in _IN_ORDER:
        return [child for child in _IN_ORDER[kind](node) if child is not None]
    found = []
    for field in _children(kind):
        value = getattr(node, field, None)  # type parameters, before Python 3.12
        if value.__class__ is list:
            found += [child for child in value if child is not None]
        elif value is not None:
            found.append(value)
    return found


def _of_function(node: Any) -> list[Any]:
    args = node.args
    annotated = (*args.args, *args.posonlyargs, args.vararg, *args.kwonlyargs, args.kwarg)
    annotations = [arg.annotation for arg in annotated if arg is not None]
    return [*node.decorator_list, *args.defaults, *args.kw_defaults, *annotations, node.returns]


_IN_ORDER: dict[type, Callable[[Any], list[Any]]] = {
    ast.Dict: lambda n: [part for pair in zip(n.keys, n.values, strict=True) for part in pair],
    ast.NamedExpr: lambda n: [n.value],
    ast.Lambda: lambda n: [*n.args.defaults, *n.args.kw_defaults],
    ast.Assign: lambda n: [n.value, *n.targets],
    ast.AnnAssign: lambda n: [n.value, n.target, n.annotation],
    ast.FunctionDef: _of_function,
    ast.AsyncFunctionDef: _of_function,
    ast.ClassDef: lambda n: [*n.decorator_list, *n.bases, *n.keywords],
}


def condition(g: Graph, node: Any, yes: Pending, no: Pending) -> None:
    """Evaluates a condition. What goes on when it holds is added to `yes`, else to `no`."""
    kind = node.__class__
    if node.at not in g.branching:
        if kind is ast.Constant:
            block = g.step(node.at, False)
            (yes if node.value else no).append((block, TRUE if node.value else FALSE))
        else:
            block = g.step(node.at, True)
            yes.append((block, TRUE))
            no.append((block, FALSE))
        g.wait([])
    elif kind is ast.BoolOp:
        _decide_first(g, node, yes, no)
        condition(g, node.values[-1], yes, no)
    elif kind is ast.UnaryOp and node.op.__class__ is ast.Not:
        condition(g, node.operand, no, yes)
    elif kind is ast.IfExp:
        holds: Pending = []
        fails: Pending = []
        condition(g, node.test, holds, fails)
        g.wait(holds)
        condition(g, node.body, yes, no)
        g.wait(fails)
        condition(g, node.orelse, yes, no)
    else:
        is_chain = kind is ast.Compare and len(node.ops) > 1
        block = _compare(g, node, no) if is_chain else decision(g, node)
        yes.append((block, TRUE))
        no.append((block, FALSE))
        g.wait([])


def operand(g: Graph, node: Any) -> None:
    """Evaluates an expression; a constant is a step too."""
    if node.at in g.branching:
        value(g, node)
    else:
        g.step(node.at, node.__class__ is not ast.Constant)


def decision(g: Graph, node: Any) -> int:
    """Evaluates an expression on which something is done that may raise and may decide; the block in which it is."""
    if node.at in g.branching:
        value(g, node)
        if g.current >= 0:
            return g.current
    return g.step(node.at, True)


def value(g: Graph, node: Any) -> None:
    """Evaluates an expression with branches in it."""
    kind = node.__class__
    out: Pending = []
    if kind is ast.BoolOp:
        _decide_first(g, node, out, out)
        operand(g, node.values[-1])
    elif kind is ast.IfExp:
        holds: Pending = []
        fails: Pending = []
        condition(g, node.test, holds, fails)
        g.wait(holds)
        operand(g, node.body)
        out += g.pause()
        g.wait(fails)
        operand(g, node.orelse)
    elif kind is ast.Compare and len(node.ops) > 1:
        _compare(g, node, out)
    else:
        _parts(g, evaluated(node))
        if kind not in _WITHOUT_STEP:
            g.step(node.at, True)
        return
    g.wait(out + g.pause())


def statement(g: Graph, node: Any) -> None:
    """A simple statement with branches in it, or the head of a class or function."""
    kind = node.__class__
    if kind is ast.AugAssign:
        if node.target.at in g.branching:
            _parts(g, evaluated(node.target))
        g.step(node.target.at, True)  # loads
        operand(g, node.value)
    elif kind is ast.Assign or kind is ast.AnnAssign:
        targets = node.targets if kind is ast.Assign else [node.target]
        if node.value is not None:
            operand(g, node.value)
        if not g.branching.isdisjoint([target.at for target in targets]):
            for target in targets:
                store(g, target)
        if kind is ast.AnnAssign and node.annotation.at in g.branching:
            operand(g, node.annotation)
    else:
        _parts(g, evaluated(node))
    g.step(node.at, True)


def store(g: Graph, target: Any) -> None:
    """Stores into a target of an assignment, a loop or a `with`."""
    kind = target.__class__
    if target.at not in g.branching:
        g.step(target.at, g.is_class or kind is not ast.Name)
    elif kind is ast.Starred:
        store(g, target.value)
    elif kind is ast.Tuple or kind is ast.List:
        g.step(target.at, True)  # takes the value apart, before items are stored
        for item in target.elts:
            store(g, item)
    else:
        _parts(g, evaluated(target))
        g.step(target.at, True)


def _parts(g: Graph, parts: list[Any]) -> None:
    for part in parts:
        if part.at in g.branching:
            value(g, part)
        elif part.__class__ is not ast.Constant:
            g.step(part.at, True)


def _decide_first(g: Graph, node: Any, yes: Pending, no: Pending) -> None:
    """All operands of `and` or `or` but the last."""
    is_and = node.op.__class__ is ast.And
    for deciding in node.values[:-1]:
        goes_on: Pending = []
        if is_and:
            condition(g, deciding, goes_on, no)
        else:
            condition(g, deciding, yes, goes_on)
        g.wait(goes_on)


def _compare(g: Graph, node: Any, no: Pending) -> int:
    """A chain of comparisons, up to the last, whose block is returned."""
    if node.left.__class__ is not ast.Constant:
        operand(g, node.left)
    for compared in node.comparators[:-1]:
        block = decision(g, compared)
        no.append((block, FALSE))
        g.wait([(block, TRUE)])
    return decision(g, node.comparators[-1])
