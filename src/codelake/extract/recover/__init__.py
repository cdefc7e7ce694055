"""Trees of files that `ast` refuses: Python 2, Python newer than the running one, and broken files.

tree-sitter reads them, and its concrete tree becomes the tree that `ast` would have made, with places as `ast`
counts them. So the extractors need not know which of the two read a file. What neither can read is an `Error`.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from itertools import pairwise

from codelake.extract.recover.compound import COMPOUND
from codelake.extract.recover.concrete import Piece, walked
from codelake.extract.recover.definitions import DEFINITIONS
from codelake.extract.recover.depth import limit_depth
from codelake.extract.recover.expressions import EXPRESSIONS
from codelake.extract.recover.operators import OPERATIONS
from codelake.extract.recover.patterns import patterns
from codelake.extract.recover.prepare import prepared
from codelake.extract.recover.reader import Reader
from codelake.extract.recover.repair import Repaired, repaired
from codelake.extract.recover.statements import STATEMENTS
from codelake.extract.recover.strings import STRINGS
from codelake.extract.text import Text
from codelake.extract.tree import Tree, indexed

_READERS = {**EXPRESSIONS, **OPERATIONS, **patterns(EXPRESSIONS), **STRINGS, **DEFINITIONS, **STATEMENTS, **COMPOUND}
_STATEMENTS = frozenset([*STATEMENTS, *COMPOUND, "function_definition", "class_definition", "decorated_definition"])

_MANY_ELIFS = 1_000
"""Each is a level of the tree, but none of the concrete tree, whose depth is limited already."""


def recovered(text: Text) -> Tree:
    module, reader = read(text)
    tree = indexed(module, text)
    tree.problems += reader.problems()
    return tree


def read(text: Text) -> tuple[ast.Module, Reader]:
    reader = Reader(text, _READERS, _STATEMENTS)
    source, left_out = prepared(text.utf8)
    fixed = repaired(source)
    for start, end in left_out:
        reader.problem("a merge conflict, of which the first side is read", start, end)
    for start, end, message in fixed.problems:
        reader.problem(message, start, end)
    body: list[ast.stmt] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes
        for piece in _pieces(fixed):
            reader.brackets.clear()
            root = walked(piece, reader.leave)
            body += reader.statements(root.children)
    for decide in reader.later:
        decide()
    module = ast.Module(body=body, type_ignores=[])
    if reader.n_elifs > _MANY_ELIFS:
        limit_depth(module, reader)
    return module, reader


def _pieces(fixed: Repaired) -> Iterator[Piece]:
    inserted = fixed.inserted[::-1]
    for start, end in pairwise([*fixed.statements, len(fixed.source)]):
        inside = []
        while inserted and inserted[-1][0] <= end:
            inside.append(inserted.pop())
        yield Piece(fixed.source[start:end], start, inside)
