"""The server for coding assistants, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters

import codelake
from codelake.query.catalogue import CATALOGUE, Known
from codelake.query.engine import Limits
from codelake.query.mcp import TOOLS, server
from codelake.query.published import BEFORE
from codelake.query.questions import QUESTIONS
from tests.query.conftest import Shop


def asked(target: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def ask() -> list[Any]:
        async with Client(target) as client:
            return [await client.list_tools(), *[await client.call_tool(name, given) for name, given in calls]]

    return asyncio.run(ask())


def test_every_question_is_a_tool_that_reads(shop: Shop) -> None:
    calls = [
        ("callers", {"symbol": "checkout"}),
        ("show", {"symbol": "gross", "at": "1"}),
        ("sql", {"text": "SELECT count(*) AS n FROM runs"}),
        ("diff", {"before": "1"}),
        ("callers", {"symbol": "chekout"}),
        ("callers", {"symbol": "checkout", "depth": 0}),
        ("sql", {"text": "DROP TABLE runs"}),
    ]
    tools, callers, show, sql, diff, wrong, bounds, refused = asked(server(shop.lake.store), *calls)
    assert [tool.name for tool in tools.tools] == list(TOOLS)
    assert all(tool.annotations.read_only_hint for tool in tools.tools)
    [first, _] = callers.structured_content["rows"]
    assert (first["name"], first["place"], first["confidence"]) == ("shop.cli.main", "shop/cli.py:6", 1.0)
    assert first["start_byte"] < first["end_byte"]
    assert "return base(item)" in show.structured_content["definitions"][0]["source"][-1]
    assert sql.structured_content["rows"] == [{"n": 2}]
    assert diff.structured_content["rows"]
    assert wrong.is_error and "Did you mean shop.cart.checkout" in wrong.content[0].text
    assert bounds.is_error and "depth; expected 1 or more; found 0" in bounds.content[0].text
    assert refused.is_error and "DROP is not allowed" in refused.content[0].text


def test_tools_say_what_questions_say(shop: Shop) -> None:
    """All but `show` and `diff`, which are above."""
    given: dict[str, dict[str, Any]] = {
        "find": {"name": "checkout"},
        "path": {"symbol": "shop.cli.main", "target": "Cart.total"},
        "hot": {},
        "unresolved": {},
        **{name: {"symbol": "Cart.total"} for name in ("callers", "callees", "refs", "impact", "neighbors")},
    }
    assert {one.__name__ for one in QUESTIONS} == {*given, "show", "diff"}
    _, *found = asked(server(shop.lake.store), *given.items())
    with codelake.open(shop.uri) as lake:
        for (name, words), tool in zip(given.items(), found, strict=True):
            answer = getattr(lake, name)(*words.values())
            told = [row["name"] for row in tool.structured_content["rows"] if "name" in row]
            assert told == [row["name"] for row in answer if "name" in row], name
            assert len(tool.structured_content["rows"]) == len(list(answer)) > 0, name


def test_answers_are_limited(shop: Shop) -> None:
    """Rows by what an assistant may be told at once, SQL also by time and memory."""
    many = "SELECT * FROM cpg_nodes"
    long = "SELECT count(*) FROM range(1, 20000) a CROSS JOIN range(1, 20000) b WHERE a.value % b.value = 7"
    large = "SELECT count(*) FROM (SELECT DISTINCT a.value * b.value FROM range(1, 3000) a CROSS JOIN range(1, 3000) b)"
    _, sql, usual = asked(server(shop.lake.store), ("sql", {"text": many}), ("find", {"name": "Cart.total"}))
    assert len(sql.structured_content["rows"]) == 200
    assert sql.structured_content["note"] == "only the first 200 rows"
    assert usual.structured_content["note"] == ""
    given: dict[str, dict[str, Any]] = {
        "find": {"name": "*"},
        "diff": {"before": "1"},
        **{name: {"symbol": "checkout"} for name in ("callers", "callees", "refs", "impact", "neighbors")},
    }
    _, *cut = asked(server(shop.lake.store, Limits(rows=1)), *given.items())
    for name, tool in zip(given, cut, strict=True):
        assert len(tool.structured_content["rows"]) == 1, name
        assert "ask for something narrower" in tool.structured_content["note"], name
    _, late = asked(server(shop.lake.store, Limits(seconds=0.2)), ("sql", {"text": long}))
    _, greedy = asked(server(shop.lake.store, Limits(memory="10M")), ("sql", {"text": large}))
    assert late.is_error and "more than 0.2 seconds" in late.content[0].text
    assert greedy.is_error and "more memory" in greedy.content[0].text


def test_long_texts_are_cut(shop: Shop) -> None:
    long, longer = "SELECT repeat('x', 9999) AS t", "SELECT repeat('x', 10001) AS t, 1 AS n"
    many = "SELECT repeat('x', 9000) AS t FROM cpg_nodes"
    _, whole, cut, few = asked(server(shop.lake.store), *(("sql", {"text": text}) for text in (long, longer, many)))
    assert (len(whole.structured_content["rows"][0]["t"]), whole.structured_content["note"]) == (9999, "")
    [row] = cut.structured_content["rows"]
    assert (len(row["t"]), row["n"]) == (10_000, 1)
    assert cut.structured_content["note"] == "texts are cut after 10,000 characters"
    assert len(few.structured_content["rows"]) == 22
    assert few.structured_content["note"] == "only the first 22 rows"


def test_every_value_can_be_told(shop: Shop) -> None:
    """Times, bytes and maps, which JSON has no form for."""
    texts = (f'SELECT * FROM "{name}" LIMIT 3' for name, known in CATALOGUE.items() if not needs_another_run(known))
    _, *found = asked(server(shop.lake.store), *(("sql", {"text": text}) for text in texts))
    assert [tool.content[0].text for tool in found if tool.is_error] == []
    _, told = asked(server(shop.lake.store), ("sql", {"text": "SELECT content FROM blobs WHERE digest LIKE '%'"}))
    assert any("def checkout(cart: Cart):\n" in row["content"] for row in told.structured_content["rows"])


def needs_another_run(known: Known) -> bool:
    return known.name.startswith(BEFORE) or any(name.startswith(BEFORE) for name in known.needs)


def test_over_standard_input_and_output(shop: Shop) -> None:
    program = "from codelake.cli.main import main; main()"
    command = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp", "--lake", shop.uri])
    _, found = asked(command, ("find", {"name": "Cart.total"}))
    assert [row["name"] for row in found.structured_content["rows"]] == ["shop.cart.Cart.total"]
