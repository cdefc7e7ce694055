"""The server for coding assistants, asked by the protocol's own client."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters

import codelake
from codelake.query.mcp import TOOLS, server
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
        ("sql", {"text": "DROP TABLE runs"}),
    ]
    tools, callers, show, sql, diff, wrong, refused = asked(server(shop.lake.store), *calls)
    assert [tool.name for tool in tools.tools] == list(TOOLS)
    assert all(tool.annotations.read_only_hint for tool in tools.tools)
    [first, _] = callers.structured_content["rows"]
    assert (first["name"], first["place"], first["confidence"]) == ("shop.cli.main", "shop/cli.py:6", 1.0)
    assert first["start_byte"] < first["end_byte"]
    assert "return base(item)" in show.structured_content["definitions"][0]["source"][-1]
    assert sql.structured_content["rows"] == [{"n": 2}]
    assert diff.structured_content["rows"]
    assert wrong.is_error and "Did you mean shop.cart.checkout" in wrong.content[0].text
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


def test_over_standard_input_and_output(shop: Shop) -> None:
    program = "from codelake.cli.main import main; main()"
    command = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp", "--lake", shop.uri])
    _, found = asked(command, ("find", {"name": "Cart.total"}))
    assert [row["name"] for row in found.structured_content["rows"]] == ["shop.cart.Cart.total"]
