"""Flow facts: how values move within a content, before anything is solved. `docs/flow-facts.md` lists the kinds.

A slot is a node (what an expression gives, what a target is given) or, negative, a symbol: what a name means to
those who see it from elsewhere. The facts are all that linking reads of a content's code, and in the order of
the scopes whose code they are, so that an edited function changes a run of them and no others.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from codelake.extract.flow import calls, names, narrowing, nothing, paths, spelling, values
from codelake.extract.flow.facts import Facts
from codelake.extract.tree import Tree

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

PARTS = (
    values.made,
    values.assignments,
    values.constants,
    values.loops,
    values.containers,
    values.operators,
    values.accesses,
    values.functions,
    values.classes,
    values.others,
    values.asked,
    nothing.nothing,
    calls.calls,
    calls.exports,
    calls.lookups,
    spelling.spelled,
    paths.known_items,
    narrowing.narrowed,
    names.loads,
    names.bindings,
    names.stores,
)

_FILLING = {
    *("copy", "unpack", "unpack_rest", "load_attribute", "load_item", "iterate", "aiterate", "await", "catch", "enter"),
    *("aenter", "operate", "compare", "format", "narrow", "narrow_class", "known", "match_argument", "make", "global"),
    *("call", "sent"),
}
"""Kinds by which a value comes into the slot `dst` itself."""


def facts(tree: Tree) -> tuple[Rows, ...]:
    found = Facts(tree)
    for part in PARTS:
        part(tree, found)
    _name_aliases(tree, found)
    scope_of = found.scope_of
    scopes = [
        scope_of[s] if s >= 0 else scope_of[d] if d >= 0 else 0 for d, s in zip(found.dsts, found.srcs, strict=True)
    ]
    order = np.argsort(np.array(scopes, np.int32), kind="stable").tolist()
    columns = found.kinds, scopes, found.dsts, found.srcs, found.keys
    return (tuple([column[place] for place in order] for column in columns),)


def _name_aliases(tree: Tree, found: Facts) -> None:
    """A copy that alone fills its slot makes it the same as the other: linking need not follow it."""
    filled: dict[int, int] = {}
    for kind, dst in zip(found.kinds, found.dsts, strict=True):
        if kind in _FILLING:
            filled[dst] = filled.get(dst, 0) + 1
    # Callers, imports, decorators and annotations fill these too.
    for node in tree.every(ast.arg, ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda):
        filled[node.at] = 2
    for node in tree.every(ast.AnnAssign):
        filled[node.target.at] = 2
    kinds = found.kinds
    for place, (kind, dst) in enumerate(zip(kinds, found.dsts, strict=True)):
        if kind == "copy" and filled[dst] == 1:
            kinds[place] = "alias"
