"""Each question in each form in which the command line prints an answer: for people, as JSON, as CSV, as SQL."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

import codelake
from codelake.query.answer import Answer, shown
from codelake.query.questions import QUESTIONS
from tests.query.conftest import Shop

Run = Callable[..., tuple[int, str, str]]
ASKED = {
    "find": ("total",),
    "callers": ("gross",),
    "callees": ("shop.cart.checkout",),
    "refs": ("TAX",),
    "impact": ("shop.cart.Cart",),
    "neighbors": ("shop.cart.Gift",),
    "show": ("shop.pricing.gross",),
    "path": ("till.ring", "shop.pricing.gross"),
    "hot": (),
    "unresolved": (),
    "diff": ("1",),
}
COUNTS = {"show", "unresolved"}
"""Their rows count; all others' rows each say where something is."""


def answered(shop: Shop, question: str) -> Answer:
    answer = getattr(codelake.open(shop.uri), question)(*ASKED[question])
    assert isinstance(answer, Answer) and answer
    return answer


def test_every_question_is_here() -> None:
    assert set(ASKED) == {question.__name__ for question in QUESTIONS}


@pytest.mark.parametrize("question", ASKED)
def test_json_and_csv_are_the_rows(shop: Shop, run: Run, question: str) -> None:
    answer = answered(shop, question)
    said = {form: run(question, *ASKED[question], "--lake", shop.uri, form) for form in ("--json", "--csv")}
    assert [(code, err) for code, _, err in said.values()] == [(0, ""), (0, "")]
    document = json.loads(said["--json"][1])
    assert document == json.loads(json.dumps(answer.as_document(), default=str))
    rows = list(csv.DictReader(StringIO(said["--csv"][1])))
    assert rows == [{name: cell(value) for name, value in row.items()} for row in given_first(answer)]


def given_first(answer: Answer) -> list[dict[str, Any]]:
    """CSV has the columns of the first row in every row."""
    return [{name: row.get(name) for name in answer.rows[0]} for row in answer.rows]


def cell(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


@pytest.mark.parametrize("question", ASKED)
def test_people_see_names_and_places(shop: Shop, run: Run, question: str) -> None:
    answer = answered(shop, question)
    code, out, err = run(question, *ASKED[question], "--lake", shop.uri)
    assert (code, err) == (0, "")
    for row in answer.rows:
        assert all(shown(row.get(column)) in out for column in answer.columns)
    if question not in COUNTS:
        assert "place" in answer.columns
        assert any(row["place"] == f"{row['path']}:{row['line']}" for row in answer.rows)


@pytest.mark.parametrize("question", ASKED)
def test_the_sql_can_be_asked_as_it_is(shop: Shop, run: Run, question: str) -> None:
    answer = answered(shop, question)
    code, out, _ = run(question, *ASKED[question], "--lake", shop.uri, "--sql")
    assert code == 0 and out == "".join(f"{text};\n" for text in answer.sql) and answer.sql
    said = json.loads(run(question, *ASKED[question], "--lake", shop.uri, "--sql", "--json")[1])
    assert said == list(answer.sql)
    since = ("--since", "1") if question == "diff" else ()
    codes = [run("sql", text, "--lake", shop.uri, *since)[0] for text in answer.sql]
    assert set(codes) <= {0, 1} and 0 in codes, "1 is a look-up that found nothing"
