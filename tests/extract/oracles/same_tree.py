"""Recovered trees against CPython's: for text that CPython reads, they are the same tree, with the same places."""

from __future__ import annotations

import ast
import sys
import warnings
from collections import Counter
from itertools import zip_longest
from typing import Any, NamedTuple

from codelake.extract.recover import recovered
from codelake.extract.text import decoded

# Before 3.12, CPython gives what is inside formatted strings the place of the whole string, or a wrong one.
_HAS_PLACES_IN_FORMATTED = sys.version_info >= (3, 12)


class Compared(NamedTuple):
    n_nodes: int
    n_same: int
    first: str | None
    """The first difference."""


def compared(raw: bytes) -> Compared | None:
    """None if CPython does not read it."""
    text = decoded(raw)
    if text is None or text.problem:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ast.parse(text.text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    tree = recovered(text)
    wanted, found = _listed(expected), _listed(tree.module)
    if wanted == found:
        first = f"there are problems: {tree.problems[0]}" if tree.problems else None
        return Compared(len(wanted), len(wanted), first)
    n_same = sum((Counter(wanted) & Counter(found)).values())
    pairs = ((w, f) for w, f in zip_longest(wanted, found) if w != f)
    return Compared(len(wanted), n_same, " instead of ".join(map(str, reversed(next(pairs)))))


def _listed(module: ast.AST) -> list[tuple[Any, ...]]:
    """Nodes and words in preorder, with fields, places and lengths of lists."""
    found: list[tuple[Any, ...]] = []
    rest: list[tuple[Any, str, bool]] = [(module, "", True)]
    while rest:
        node, field, has_place = rest.pop()
        if not isinstance(node, ast.AST):
            found.append((field, repr(node)))
            continue
        place = None
        if has_place and hasattr(node, "lineno"):
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        found.append((field, type(node).__name__, place))
        inner_place = has_place and (_HAS_PLACES_IN_FORMATTED or not isinstance(node, ast.JoinedStr))
        below: list[tuple[Any, str, bool]] = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                below.append((len(value), name, False))
                below += [(one, name, inner_place) for one in value]
            else:
                below.append((value, name, inner_place))
        rest += below[::-1]
    return found
