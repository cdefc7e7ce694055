"""One content to its evidence. Whatever the bytes are, there is a row; what was wrong with them is in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from codelake.contracts.evidence import FIELDS
from codelake.extract.extractors import EXTRACTORS, Rows
from codelake.extract.recover import recovered
from codelake.extract.text import Text, decoded
from codelake.extract.tree import Problem, Tree, indexed, parse

MAX_NODES = 1_000_000
"""A content with more syntax nodes is not extracted: one row of evidence has to fit into memory several times."""
MAX_LABEL_BYTES = 16 << 20
"""Of labels, which stand in most ids of the graph. One name of 100,000 letters is in the label of each of its
parameters: a thousand of them would take gigabytes there."""
_PARSER_DEPTH = 1000
_WALK_DEPTH = 50_000
_LABELLED = ("nodes", "scopes", "symbols")


@dataclass(frozen=True, slots=True)
class Evidence:
    status: str
    reason: str | None
    encoding: str | None
    n_lines: int
    columns: Mapping[str, Rows]
    """By name of the nested column; one that is missing is empty."""


def evidence_of(raw: bytes) -> Evidence:
    text = decoded(raw)
    if text is None:
        return skipped("no text", "the bytes are no text in any encoding of source code", raw)
    tree, reason = _tree(text, len(raw))
    n_lines = len(text.line_starts) - 1
    if len(tree.nodes) > MAX_NODES:
        return skipped("too large", f"{len(tree.nodes):,} syntax nodes are more than {MAX_NODES:,}", raw, text)
    columns: dict[str, Rows] = {}
    with _recursion_limit(_WALK_DEPTH):
        for extractor in EXTRACTORS:
            columns.update(zip(extractor.columns, extractor.extract(tree), strict=True))
    n_bytes = _label_bytes(columns)
    if n_bytes > MAX_LABEL_BYTES:
        said = f"{n_bytes >> 20:,} MB of labels are more than {MAX_LABEL_BYTES >> 20:,}: names are too long"
        return skipped("too large", said, raw, text)
    columns["problems"] = _problem_rows(tree.problems)
    return Evidence("recovered" if reason else "parsed", reason, text.encoding, n_lines, columns)


def _label_bytes(columns: Mapping[str, Rows]) -> int:
    """Of nodes, and of symbols, whose labels begin with those of their scopes."""
    nodes, scopes, symbols = (dict(zip(FIELDS[name], columns[name], strict=True)) for name in _LABELLED)
    lengths = [len(label) for label in scopes["label"]]
    return sum(map(len, filter(None, nodes["label"]))) + sum(lengths[scope] for scope in symbols["scope"])


def skipped(reason: str, message: str, raw: bytes, text: Text | None = None) -> Evidence:
    """A row for a content without a tree."""
    problem = Problem(reason, message, 0, len(raw))
    n_lines = len(text.line_starts) - 1 if text else 0
    columns = {"problems": _problem_rows([problem])}
    return Evidence("skipped", reason, text.encoding if text else None, n_lines, columns)


def _tree(text: Text, n_raw: int) -> tuple[Tree, str | None]:
    """The tree, and why it is not CPython's if it is not."""
    problem = None
    try:
        with _recursion_limit(_PARSER_DEPTH):  # CPython's parser uses the C stack in proportion to the limit
            module = parse(text)
    except SyntaxError as error:
        problem = Problem("syntax", error.msg, *_place(text, error))
    except (ValueError, RecursionError, MemoryError) as error:
        # NUL bytes, lone surrogates; expressions nested deeper than the parser's stack
        problem = Problem("syntax", f"{type(error).__name__}: {error}".rstrip(": "), 0, n_raw)
    else:
        if text.problem is None:
            return indexed(module, text), None
        tree = indexed(module, text)
        tree.problems.append(Problem("encoding", text.problem, 0, n_raw))
        return tree, text.problem
    with _recursion_limit(_WALK_DEPTH):
        tree = recovered(text)
    if text.problem is not None:
        tree.problems.insert(0, Problem("encoding", text.problem, 0, n_raw))
    tree.problems.insert(0, problem)
    return tree, problem.message


def _place(text: Text, error: SyntaxError) -> tuple[int, int]:
    """Where CPython points to, in raw bytes. Its columns are characters of the line, from 1."""
    starts = text.line_starts
    if not error.lineno or error.lineno >= len(starts):
        end = text.raw_offset(len(text.utf8))
        return end, end

    def offset(line: int, column: int) -> int:
        line = min(line, len(starts) - 1)
        shown = text.utf8[starts[line - 1] : starts[line]].decode("utf-8", "replace")
        return text.raw_offset(min(starts[line - 1] + len(shown[: max(column - 1, 0)].encode()), starts[line]))

    start = offset(error.lineno, error.offset or 1)
    end = offset(error.end_lineno, error.end_offset) if error.end_lineno and error.end_offset else start
    return start, max(start, end)


def _problem_rows(problems: list[Problem]) -> Rows:
    return (
        [p.kind for p in problems],
        [p.message for p in problems],
        [p.start_byte for p in problems],
        [p.end_byte for p in problems],
    )


@contextmanager
def _recursion_limit(depth: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
