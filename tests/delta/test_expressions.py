"""What is one scalar expression over known columns, and what is refused, with its place."""

from __future__ import annotations

import pytest

from codelake.delta.expressions import parse_expression
from codelake.errors import QueryRefused


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c + 1 AS total",
        "_metadata.file_path",
        "transform(xs, x -> x.q + a)",
        "exists(xs, x -> x > 1)",
        "A IS NULL",
        "a LIKE ANY ('x%', 'y%')",
        "a = 'it''s'",
    ],
)
def test_scalar_expressions_pass(text: str) -> None:
    assert parse_expression(text, ["a", "xs"]) is not None


def test_a_doubled_quote_is_one_quote() -> None:
    assert parse_expression("a = 'it''s'", ["a"]).expression.this == "it's"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a + aa", 4, "no column aa"),
        ("a + nmae", 4, "Did you mean name?"),
        ("a +\n  zz", 6, "line 2, column 3"),
        ("a b c", 4, "does not parse"),
        ("a)", 1, "does not parse"),
        ("(a", 1, "does not parse"),
        ("a, name", 1, "does not parse"),
        ("select a", 0, "does not parse"),
        ("drop table t", 0, "does not parse"),
        ("a; name", 1, "one expression"),
        ("a;", 1, "one expression"),
        ("a + `b", 4, "inside a string or name"),
        ("a IN (SELECT 1)", 6, "subquery"),
        ("EXISTS (WITH x AS (SELECT 1) SELECT * FROM x)", 8, "subquery"),
        ("a + count(*)", 4, "one row"),
        ("row_number() OVER (ORDER BY a)", 0, "one row"),
        ("explode(xs)", 0, "one row"),
        ("(a, name)", 1, "one row"),
        ("a = :p", 0, "one row"),
        ("transform(xs, x -> y)", 19, "no column y"),
        ("  ", 0, "empty"),
    ],
)
def test_what_is_refused(text: str, place: int, words: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        parse_expression(text, ["a", "name", "xs"])
    assert (refused.value.place, refused.value.text) == (place, text)
    assert words in str(refused.value)
