"""A text to the syntax tree of one statement that only reads."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from codelake.delta.expressions import error_place, place_of
from codelake.errors import QueryRefused

_LONGEST = 1_000_000
_DEEPEST = 150
"""Levels of a syntax tree. The engine descends by recursion, and dies where its stack ends."""

_REFUSED: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Into, "SELECT INTO makes a table"),
    (exp.Lock, "locking clauses change what others may do"),
    (exp.Placeholder, "there are no parameters to fill in"),
    (exp.Parameter, "there are no variables"),
    (exp.SessionParameter, "there are no variables"),
    (exp.Version, "versions are chosen with --at"),
    (exp.Hint, "hints are not understood"),
    (exp.Pseudocolumn, "there are no such columns"),
    *(
        (kind, "only queries are allowed")
        for kind in (
            *(exp.DDL, exp.DML, exp.Command, exp.Drop, exp.Alter, exp.TruncateTable, exp.Copy, exp.LoadData, exp.Set),
            *(exp.Use, exp.Pragma, exp.Describe, exp.Show, exp.Analyze, exp.Cache, exp.Uncache, exp.Refresh, exp.Kill),
            *(exp.Transaction, exp.Commit, exp.Rollback, exp.Attach, exp.Detach, exp.Grant, exp.Revoke, exp.Comment),
        )
    ),
)
"""Beside what is no query as a whole: what may stand inside of one."""


def parsed(text: str, dialect: Dialect) -> exp.Query:
    """Refuses whatever is not one query, with its place in the text."""
    if len(text) > _LONGEST:
        raise QueryRefused(
            f"the text has {len(text):,} characters", text=text[:80], place=0, expected=f"{_LONGEST:,} at most"
        )
    if "\0" in text:
        raise QueryRefused("a text with a NUL character", text=text, place=text.index("\0"))
    try:
        tokens = dialect.tokenize(text)
    except (TokenError, ValueError) as error:
        # The tokenizer says no place; what it cannot finish is the last thing that was opened.
        place = max(text.rfind("'"), text.rfind('"'), text.rfind("`"), text.rfind("/*"), 0)
        raise QueryRefused("the text ends inside a string, name or comment", text=text, place=place) from error
    _refuse_several(text, tokens)
    tree = _tree(text, tokens, dialect)
    _refuse_depth(text, tree)
    if not isinstance(tree, exp.Query):
        raise QueryRefused(
            f"{tokens[0].text.upper()} is not allowed",
            text=text,
            place=tokens[0].start,
            expected="one SELECT, or WITH and a SELECT",
        )
    for node in tree.walk():
        for kind, why in _REFUSED:
            if isinstance(node, kind):
                raise QueryRefused(why, text=text, place=_place(node, tokens))
    return tree


def _refuse_several(text: str, tokens: Sequence[Token]) -> None:
    if not tokens:
        raise QueryRefused("the text is empty", text=text, place=0, expected="one SELECT")
    for at, token in enumerate(tokens):
        if token.token_type == TokenType.SEMICOLON and any(
            later.token_type != TokenType.SEMICOLON for later in tokens[at:]
        ):
            raise QueryRefused("one statement is allowed", text=text, place=token.start, do="Send them one by one.")


def _tree(text: str, tokens: list[Token], dialect: Dialect) -> exp.Expr:
    kept = [token for token in tokens if token.token_type != TokenType.SEMICOLON]
    if not kept:
        raise QueryRefused("the text is empty", text=text, place=0, expected="one SELECT")
    try:
        trees = dialect.parser().parse(kept, text)
    except ParseError as error:
        raise QueryRefused("the text does not parse", text=text, place=error_place(text, error)) from error
    except RecursionError as error:
        raise QueryRefused("the text is nested too deeply", text=text, place=0) from error
    except (SqlglotError, AttributeError, TypeError, ValueError, IndexError, KeyError, AssertionError) as error:
        # sqlglot fails so on some texts that no dialect allows; with what was not parsed nothing is done.
        raise QueryRefused("the text does not parse", text=text, place=0) from error
    if len(trees) != 1 or trees[0] is None:
        raise QueryRefused("one statement is allowed", text=text, place=0)
    return trees[0]


def _refuse_depth(text: str, tree: exp.Expr) -> None:
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise QueryRefused(
                "the text is nested too deeply",
                text=text,
                place=place_of(level[0]),
                expected=f"{_DEEPEST} levels at most",
                do="Write long chains of OR as IN.",
            )
        level = [child for node in level for child in node.iter_expressions()]


def _place(node: exp.Expr, tokens: Sequence[Token]) -> int:
    """Of a node without a mark, that of the nearest one around it which has some; or the first token's."""
    around: exp.Expr | None = node
    while around is not None:
        if place := place_of(around):
            return place
        around = around.parent
    return tokens[0].start
