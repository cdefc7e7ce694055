"""SQL text of one scalar expression, in Spark's dialect, to a syntax tree whose columns are known.

Filters, projections and checks come in as text. They are parsed once, here, so that a typing error is a
refusal with its place in the text, and nothing but an expression ever reaches an engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from codelake.errors import QueryRefused

METADATA = "_metadata"
"""Spark's hidden column with the file that a row came from."""

_NOT_SCALAR = (exp.AggFunc, exp.Window, exp.UDTF, exp.Star, exp.Placeholder, exp.Parameter)


class Spark4(Spark):
    """Spark 4 reads a doubled quote inside a string as one quote; sqlglot's Spark still as two strings."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']


def parse_expression(text: str, columns: Sequence[str]) -> exp.Expr:
    """The tree of `text`. Refuses what is not one scalar expression, subqueries, and unknown columns.

    A name with dots is a field of a struct: only its first part has to be one of `columns`, compared as
    Spark does, without case. Fields of `_metadata` are always known. An alias may follow the expression.
    """
    dialect = Spark4()
    try:
        tokens = dialect.tokenize(text)
    except TokenError as error:
        # The tokenizer says no place; what it cannot finish is the last thing that was opened.
        place = max(text.rfind("'"), text.rfind('"'), text.rfind("`"), text.rfind("/*"), 0)
        raise QueryRefused("the expression ends inside a string or name", text=text, place=place) from error
    _refuse_statements(text, tokens)
    try:
        (tree,) = dialect.parser().parse_into(exp.Expr, tokens, text)
    except ParseError as error:
        raise QueryRefused("the expression does not parse", text=text, place=error_place(text, error)) from error
    if tree is None:
        raise QueryRefused("the expression is empty", text=text, place=0)
    for node in tree.walk():
        if isinstance(node, exp.Query):
            raise QueryRefused("a subquery is not allowed here", text=text, place=_query_place(tokens))
        if isinstance(node, _NOT_SCALAR) or (node is tree and isinstance(node, exp.Tuple)):
            raise QueryRefused(
                "only an expression on one row is allowed here",
                text=text,
                place=place_of(node),
                expected="no aggregate, window, generator, star, tuple or parameter",
            )
    for path in column_paths(tree):
        _refuse_unknown(text, path[0], columns)
    return tree


def column_paths(tree: exp.Expr) -> Iterator[list[exp.Identifier]]:
    """Every column that the tree names, part by part; variables of lambdas are not columns."""
    for column in tree.find_all(exp.Column):
        parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
        if parts and not _is_lambda_variable(column, parts[0].name):
            yield parts


def refuse_name(text: str, part: exp.Identifier, known: Sequence[str], what: str) -> QueryRefused:
    """The error for a name that is not one of `known`, with the nearest ones."""
    lowered = {name.lower(): name for name in known}
    near = [lowered[name] for name in get_close_matches(part.name.lower(), lowered, 3)]
    return QueryRefused(
        f"no {what} {part.name}",
        text=text,
        place=place_of(part),
        expected=f"one of {', '.join(known)}",
        do=f"Did you mean {' or '.join(near)}?" if near else "",
    )


def place_of(node: exp.Expr) -> int:
    """Offset of the node's first character: sqlglot marks names, literals and functions, not operators."""
    return min((found.meta["start"] for found in node.walk() if "start" in found.meta), default=0)


def _refuse_unknown(text: str, part: exp.Identifier, columns: Sequence[str]) -> None:
    name = part.name.lower()
    if name != METADATA and name not in {column.lower() for column in columns}:
        raise refuse_name(text, part, columns, "column")


def _refuse_statements(text: str, tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            raise QueryRefused(
                "one expression is allowed here", text=text, place=token.start, do="Remove the semicolon."
            )


def _is_lambda_variable(column: exp.Column, name: str) -> bool:
    above = column.find_ancestor(exp.Lambda)
    while above:
        if name.lower() in {variable.name.lower() for variable in above.expressions}:
            return True
        above = above.find_ancestor(exp.Lambda)
    return False


def _query_place(tokens: Sequence[Token]) -> int:
    openers = (TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.FROM)
    return next((token.start for token in tokens if token.token_type in openers), 0)


def error_place(text: str, error: ParseError) -> int:
    """sqlglot tells the line and the column of the token's LAST character."""
    found = error.errors[0]
    line, column = found.get("line"), found.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return 0
    before = sum(len(one) + 1 for one in text.split("\n")[: line - 1])
    return max(0, min(before + column - len(found.get("highlight") or ""), len(text)))
