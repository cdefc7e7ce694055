"""Tables on a terminal: nothing is cut off, whatever its width."""

from __future__ import annotations

import random

import pytest

from codelake.cli.fitting import fitted, size

COLUMNS = ("name", "place", "confidence", "meaning")
WORDS = ("the", "callee", "is", "what", "external", "code", "returned")


def lines(columns: tuple[str, ...], rows: list[tuple[str, ...]], width: int) -> list[str]:
    return list(fitted(columns, rows, width, lambda _, text, __: text))


def some(chance: random.Random) -> tuple[str, ...]:
    name = ".".join("module" * chance.randrange(1, 3) for _ in range(chance.randrange(1, 7)))
    folders = ["folder"] * chance.randrange(1, 9)
    place = "/".join([*folders, f"{chance.choice('aä码')}.py:{chance.randrange(900)}"])
    return name, chance.choice((place, "")), "0.95", " ".join(chance.choices(WORDS, k=chance.randrange(12)))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 132, 300])
def test_every_cell_is_there_whole(width: int) -> None:
    chance = random.Random(width)
    for n in (1, 2, 30):
        rows = [some(chance) for _ in range(n)]
        drawn = lines(COLUMNS, rows, width)
        said = [word for line in drawn for word in line.split()]
        for name, place, confidence, _ in rows:
            assert {name, place, confidence} - {""} <= set(said)
        for word in WORDS:
            assert said.count(word) == sum(row[3].split().count(word) for row in rows)
        if width >= 60 and max(size(cell) for row in rows for cell in row[:2]) <= width:
            assert max(map(size, drawn)) <= width


def test_what_fits_has_a_line_a_row() -> None:
    assert lines(("name", "n"), [("a.b", "1"), ("c", "22")], 9) == ["name  n", "a.b   1", "c     22"]


def test_words_are_wrapped_in_their_column() -> None:
    assert lines(("reason", "meaning"), [("dynamic", "it is computed when it runs")], 24) == [
        "reason   meaning",
        "dynamic  it is computed",
        "         when it runs",
    ]


def test_words_are_wrapped_before_names_go_over_several_lines() -> None:
    rows = [("a.name", "WRITE", "b"), ("a.longer.name", "CREATE TABLE", "b"), ("a.longer.name", "WRITE", "b")]
    assert lines(("run", "operation", "n"), rows, 27) == [
        "run            operation  n",
        "a.name         WRITE      b",
        "a.longer.name  CREATE     b",
        "               TABLE",
        "a.longer.name  WRITE      b",
    ]


def test_a_long_name_takes_its_line_and_the_rest_is_below() -> None:
    rows = [("a.b", "c.py:1"), ("a.b", "c.py:22"), ("a.b", "c.py:3"), ("a.very.long.name", "d.py:4")]
    assert lines(("name", "place"), rows, 19) == [
        "name        place",
        "a.b         c.py:1",
        "a.b         c.py:22",
        "a.b         c.py:3",
        "a.very.long.name",
        "            d.py:4",
    ]


def test_long_names_are_above_the_rest() -> None:
    rows = [(str(n), f"a.very.long.name_{n}", f"folder/file.py:{n}", "shop") for n in (1, 2)]
    assert lines(("n", "name", "place", "repo"), rows, 30) == [
        "n  name",
        "    place             repo",
        "1  a.very.long.name_1",
        "    folder/file.py:1  shop",
        "2  a.very.long.name_2",
        "    folder/file.py:2  shop",
    ]


def test_with_many_columns_each_value_has_a_line() -> None:
    columns = tuple(f"column_{n}" for n in range(9))
    assert lines(columns, [("value", "", *"abcdefg")], 40)[:3] == [
        "column_0  value",
        "column_2  a",
        "column_3  b",
    ]
