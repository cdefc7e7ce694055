"""Comments. They are not in the tree, so they are what starts with # outside of its strings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from codelake.extract.tree import Tree

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows

_END = re.compile(rb"[\r\n]|\Z")
_ONE_LITERAL = re.compile(
    rb"""[a-zA-Z]{0,2}(?:"{3}(?:[^\\]|\\.)*?"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""",
    re.DOTALL,
)


def comments(tree: Tree) -> tuple[Rows, ...]:
    text = tree.text
    spans = list(_comment_spans(text.utf8, _strings(tree)))
    starts = np.array([start for start, _ in spans], np.int32)
    ends = np.array([end for _, end in spans], np.int32)
    lines = [bisect_right(text.line_starts, start, hi=len(text.line_starts) - 1) for start, _ in spans]
    return ((text.raw(starts), text.raw(ends), lines),)


def _strings(tree: Tree) -> list[tuple[int, int]]:
    """Spans of string literals in the UTF-8 text; those inside another (parts of f-strings) come after it."""
    starts = tree.text.line_starts
    found: list[Any] = [n for n in tree.every(ast.Constant) if n.value.__class__ in (str, bytes)]
    found += tree.every(ast.JoinedStr)
    if template := getattr(ast, "TemplateStr", None):
        found += tree.every(template)
    spans = [(starts[n.lineno - 1] + n.col_offset, starts[n.end_lineno - 1] + n.end_col_offset) for n in found]
    spans.sort(key=lambda span: (span[0], -span[1]))
    return spans


def _comment_spans(utf8: bytes, strings: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    place, number = 0, 0
    while (at := utf8.find(b"#", place)) >= 0:
        while number < len(strings) and strings[number][1] <= at:
            number += 1
        if number < len(strings) and strings[number][0] <= at:
            start, place = strings[number]
            yield from _between_literals(utf8, start, place)
        else:
            found = _END.search(utf8, at)
            place = found.start() if found else len(utf8)
            yield at, place


def _between_literals(utf8: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Adjacent literals are one node, and comments may stand between them (and, from 3.12 on, inside f-strings)."""
    whole = _ONE_LITERAL.match(utf8, start, end)
    if whole and whole.end() == end:
        return
    source = "(" + utf8[start:end].decode() + ")"
    lines = list(io.StringIO(source, newline=""))  # not splitlines, which ends lines at more than a newline
    befores = list(accumulate((len(line.encode()) for line in lines), initial=start - 1))
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type == tokenize.ERRORTOKEN and token.string.strip():  # not the \r that ends a line
                return  # a quote that is never closed; from 3.12 on, tokenize raises instead
            if token.type == tokenize.COMMENT:
                row, column = token.start
                at = befores[row - 1] + len(lines[row - 1][:column].encode())
                if at + len(token.string.encode()) > end:
                    return  # takes in the bracket put behind, so a # in a string that this Python reads differently
                yield at, at + len(token.string.encode())
    except (tokenize.TokenError, SyntaxError):
        return  # a literal of a recovered tree that this Python cannot read: it holds no comment that is known
