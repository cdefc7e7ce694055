"""Each question: its answer on a small lake, and the same answer from Spark SQL over the same versions."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from codelake.errors import NotFound, UsageError
from codelake.query import questions
from codelake.query.answer import Answer
from codelake.query.catalogue import CATALOGUE
from codelake.query.engine import LOOKED_UP, Asking
from codelake.query.lake import OpenLake
from tests.query.conftest import Shop
from tests.query.shop import SparkAsking

CART = "shop:shop/cart.py"


def seen(answer: Answer, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in answer]


@pytest.mark.parametrize(
    ("name", "options", "found"),
    [
        ("shop.cart.Cart.total", {}, ["shop.cart.Cart.total"]),
        ("Cart.total", {}, ["shop.cart.Cart.total"]),
        ("total", {}, ["shop.cart.Cart.total", "shop.cart.Gift.total"]),
        ("shop:shop/cart.py#Cart", {}, ["shop.cart.Cart"]),
        ("tot*", {}, ["shop.cart.Cart.total", "shop.cart.Gift.total"]),
        ("shop.*.tota?", {}, ["shop.cart.Cart.total", "shop.cart.Gift.total"]),
        ("*", {"kinds": ["class"]}, ["shop.cart.Cart", "shop.cart.Gift"]),
        ("TAX", {}, ["shop.pricing.TAX"]),
        ("dumps", {}, ["json.dumps"]),
        ("totl", {"fuzzy": True, "kinds": ["function"]}, ["shop.cart.Cart.total", "shop.cart.Gift.total"]),
        ("checkout", {"repo": "shop"}, ["shop.cart.checkout"]),
        ("no_such_*", {}, []),
    ],
)
def test_find(shop: Shop, name: str, options: dict[str, Any], found: list[str]) -> None:
    assert [row["name"] for row in shop.open.find(name, **options)] == found


def test_what_is_defined_here_comes_before_what_is_outside(shop: Shop) -> None:
    found = [row["place"] != "" for row in shop.open.find("*", limit=1000)]
    assert found == sorted(found, reverse=True) and {True, False} == set(found)


def test_a_pattern_takes_no_underscore_for_any_character(shop: Shop) -> None:
    assert not shop.open.find("t_tal*")


def test_callers_with_the_lines_of_their_calls(shop: Shop) -> None:
    answer = shop.open.callers("checkout")
    assert seen(answer, "name", "place", "sites", "repo") == [
        ("shop.cli.main", "shop/cli.py:6", [6], "shop"),
        ("till.ring", "till.py:5", [5], "till"),
    ]
    assert seen(shop.open.callers("checkout", repo="till"), "name") == [("till.ring",)]


def test_callers_as_a_tree(shop: Shop) -> None:
    answer = shop.open.callers("gross", depth=3, min_confidence=0.5)
    found = seen(answer, "depth", "name")
    assert answer.is_tree and (1, "shop.discount.half") in found
    assert [depth for depth, name in found if name == "shop.cart.checkout"] == [2]
    assert [row["route"][-1] for row in answer] == [row["node_id"] for row in answer]


def test_callees(shop: Shop) -> None:
    answer = shop.open.callees("shop.cart.checkout")
    found = {row["name"]: (row["place"], row["sites"]) for row in answer}
    assert found["shop.cart.Cart.total"] == ("shop/cart.py:13", [23, 24])
    assert found["json.dumps"] == ("", [23])


def test_refs(shop: Shop) -> None:
    assert seen(shop.open.refs("TAX"), "role", "place") == [
        ("definition", "shop/pricing.py:3"),
        ("write", "shop/pricing.py:3"),
        ("read", "shop/pricing.py:12"),
    ]
    assert seen(shop.open.refs("checkout", role="import"), "place", "repo") == [
        ("shop/cli.py:1", "shop"),
        ("till.py:1", "till"),
    ]
    assert seen(shop.open.refs("json.dumps"), "role", "place") == [("name", "shop/cart.py:23")]
    assert seen(shop.open.refs("Cart.items"), "role", "place") == [
        ("definition", "shop/cart.py:8"),
        ("write", "shop/cart.py:8"),
        ("read", "shop/cart.py:11"),
        ("read", "shop/cart.py:14"),
    ]
    assert shop.open.find("Cart.items").rows[0]["place"] == "shop/cart.py:8"


def test_impact_with_the_way_that_leads_there(shop: Shop) -> None:
    rows = {row["name"]: row for row in shop.open.impact("shop.cart.Cart", depth=2)}
    assert rows["shop.cart.Gift"]["how"] == "inherits"
    assert rows["shop.cli"]["how"] == "imports"
    assert rows["shop.cart.Gift.total"]["route"][0] == "shop.cart.Cart"
    assert rows["shop.cart.checkout"]["route"] == ["shop.cart.Cart", "shop.cart.Cart.total", "shop.cart.checkout"]


def test_neighbors(shop: Shop) -> None:
    found = seen(shop.open.neighbors("shop.cart.Gift"), "direction", "edge", "name")
    assert ("out", "INHERITS", "shop.cart.Cart") in found
    assert ("out", "HAS_METHOD", "shop.cart.Gift.total") in found
    assert ("in", "DEFINES", "shop.cart") in found
    only = shop.open.neighbors("shop.cart.Gift", kinds=["INHERITS"])
    assert seen(only, "direction", "edge", "name") == [("out", "INHERITS", "shop.cart.Cart")]


def test_show(shop: Shop) -> None:
    answer = shop.open.show("shop.pricing.gross")
    [one] = answer.parts
    assert one["signature"] == "def gross(item)"
    assert one["docstring"] == "With tax."
    assert one["source"] == ["def gross(item):", '    """With tax."""', "    return net(item) * (1 + TAX)"]
    assert "    10  def gross(item):" in answer.body
    assert ("in", "CALLER_OF") in seen(answer, "direction", "edge")
    assert not shop.open.show("json.dumps").parts[0]["source"]


def test_show_of_something_long(shop: Shop) -> None:
    """What is left out is no line of the source."""
    answer = shop.open.show("shop.cart.Cart", max_lines=2)
    [one] = answer.parts
    assert one["source"] == ["class Cart:", "    def __init__(self):"] and one["n_more"] == 7
    assert answer.body.splitlines()[-2:] == ["     7      def __init__(self):", "   ...  7 more lines; see --max-lines"]


def test_show_as_it_was(shop: Shop) -> None:
    then = OpenLake(shop.lake.store, at=shop.revisions[0])
    assert then.show("gross").parts[0]["source"][-1] == "    return base(item) * (1 + TAX)"


def test_path(shop: Shop) -> None:
    answer = shop.open.path("till.ring", "shop.pricing.net")
    names = ["till.ring", "shop.cart.checkout", "shop.cart.Cart.total", "shop.pricing.gross", "shop.pricing.net"]
    assert [row["name"] for row in answer] == names
    assert [row["name"] for row in shop.open.path("Gift", "Cart", by="inherits")] == [
        "shop.cart.Gift",
        "shop.cart.Cart",
    ]
    assert [row["name"] for row in shop.open.path("Gift", "Gift")] == ["shop.cart.Gift"]
    assert not shop.open.path("shop.pricing.net", "till.ring")
    assert not shop.open.path("till.ring", "shop.pricing.net", depth=3)


def test_unresolved(shop: Shop) -> None:
    counted = {row["reason"]: row["n"] for row in shop.open.unresolved()}
    listed = shop.open.unresolved(under="shop/cli")
    assert seen(listed, "callee", "place") == [("argument.unknown", "shop/cli.py:5")]
    assert counted[listed.rows[0]["reason"]] >= 1
    with pytest.raises(UsageError, match="one of unknown parameter"):
        shop.open.unresolved(reason="bad luck")


def test_hot(shop: Shop) -> None:
    assert seen(shop.open.hot(limit=1, by="subclasses"), "n", "name") == [(1, "shop.cart.Cart")]
    by_callers = {row["name"]: row["n"] for row in shop.open.hot()}
    assert by_callers["shop.cart.checkout"] == 2
    assert "json.dumps" in {row["name"] for row in shop.open.hot(outside=True)}
    with pytest.raises(UsageError, match="one of callers, calls"):
        shop.open.hot(by="luck")


def test_diff(shop: Shop) -> None:
    found = set(seen(shop.open.diff(shop.revisions[0]), "change", "what", "name"))
    assert {
        ("changed", "file", "shop/pricing.py"),
        ("added", "file", "shop/discount.py"),
        ("added", "function", "shop.pricing.net"),
        ("removed", "function", "shop.pricing.base"),
        ("changed", "function", "shop.pricing.gross"),
        ("added", "CALLER_OF", "shop:shop/discount.py#half CALLER_OF shop:shop/pricing.py#gross"),
        ("removed", "CALLER_OF", "shop:shop/pricing.py#gross CALLER_OF shop:shop/pricing.py#base"),
    } <= found
    assert not [name for _, _, name in found if name.startswith("shop.cart")]
    back = OpenLake(shop.lake.store, at=shop.revisions[0]).diff("-1")
    assert {("removed", "file", "shop/discount.py"), ("added", "function", "shop.pricing.base")} <= set(
        seen(back, "change", "what", "name")
    )
    assert not shop.open.diff("-1")


ASKED: list[tuple[Callable[..., Answer], tuple[str, ...], dict[str, Any]]] = [
    (questions.find, ("total",), {}),
    (questions.find, ("totl",), {"fuzzy": True}),
    (questions.find, ("ttoal",), {"fuzzy": True}),
    (questions.callers, ("gross",), {"depth": 2}),
    (questions.callees, ("till.ring",), {"depth": 2, "min_confidence": 0}),
    (questions.refs, ("shop.cart.Cart",), {}),
    (questions.impact, ("shop.cart.Cart",), {"depth": 1}),
    (questions.neighbors, ("shop.cart.checkout",), {}),
    (questions.show, ("shop.pricing.gross",), {}),
    (questions.path, ("till.ring", "shop.pricing.gross"), {"by": "any"}),
    (questions.unresolved, (), {"under": "shop/"}),
    (questions.hot, (), {"outside": True}),
]


@pytest.mark.slow
@pytest.mark.parametrize("at", [None, pytest.param("1", marks=pytest.mark.soak)])
def test_spark_gives_the_same_answers(shop: Shop, at: str | None) -> None:
    here: Asking = OpenLake(shop.lake.store, at=at).engine
    there = SparkAsking(shop.lake, at)
    asked = [one for one in ASKED if at is None or one[0] is questions.callers]
    for question, arguments, options in asked:
        answer = question(here, *arguments, **options)
        assert answer == question(there, *arguments, **options), question.__name__
        assert answer, question.__name__


@pytest.mark.slow
def test_spark_gives_the_same_difference(shop: Shop) -> None:
    there = questions.diff(SparkAsking(shop.lake, before="1"))
    assert list(shop.open.diff("1")) == list(there)


def test_every_question_is_compared_with_spark() -> None:
    assert {question for question, _, _ in ASKED} | {questions.diff} == set(questions.QUESTIONS)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("shop.cart.Cort", "Did you mean shop.cart.Cart or shop.cart?"),
        ("shop.card.checkout", "Did you mean shop.cart.checkout?"),
        ("Cart.ttoal", "Did you mean shop.cart.Cart.total"),
        ("TXA", "Did you mean shop.pricing.TAX?"),
        ("shop:nowhere.py#f", "no such symbol in this run"),
    ],
)
def test_a_symbol_that_is_not_there(shop: Shop, asked: str, says: str) -> None:
    with pytest.raises(NotFound) as raised:
        shop.open.callers(asked)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    "asked",
    ["no_name_is_like_this_one", "shop.cart.Cart.nothing_of_the_kind", "zzzzzz", "x'; DROP", "art.Ca", "[ab]*c"],
)
def test_advice_on_a_name_that_none_is_like_finds_something(shop: Shop, asked: str) -> None:
    with pytest.raises(NotFound) as raised:
        shop.open.callers(asked)
    advised = re.search(r"Type `(.*)` for", str(raised.value))
    assert advised and shop.open.find(shlex.split(advised[1])[2])


def test_a_name_that_is_not_unique(shop: Shop) -> None:
    with pytest.raises(UsageError, match=r"shop.cart.Cart.total, shop.cart.Gift.total"):
        shop.open.callers("total")


@pytest.mark.parametrize(
    "ask",
    [
        lambda lake: lake.refs("TAX", role="luck"),
        lambda lake: lake.neighbors("Cart", kinds=["CALS"]),
        lambda lake: lake.path("Cart", "Gift", by="luck"),
        lambda lake: lake.find("Cart", kinds=["clas"]),
    ],
)
def test_options_that_are_not_there(shop: Shop, ask: Callable[[OpenLake], Answer]) -> None:
    with pytest.raises(UsageError, match="one of"):
        ask(shop.open)


@pytest.mark.parametrize("bounds", [{"depth": 0}, {"limit": -1}, {"min_confidence": 7}, {"min_confidence": -0.1}])
def test_bounds_that_leave_nothing(shop: Shop, bounds: dict[str, Any]) -> None:
    """The answer would be "no" of what has callers."""
    [name] = bounds
    with pytest.raises(UsageError, match=name):
        shop.open.callers("checkout", **bounds)
    with pytest.raises(UsageError, match="max_lines"):
        shop.open.show("checkout", max_lines=0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda lake, repo: lake.find("Cart", repo=repo),
        lambda lake, repo: lake.callers("gross", repo=repo),
        lambda lake, repo: lake.refs("TAX", repo=repo),
        lambda lake, repo: lake.hot(repo=repo),
        lambda lake, repo: lake.unresolved(repo=repo, under="shop"),
    ],
)
def test_a_repository_that_is_not_there(shop: Shop, ask: Callable[[OpenLake, str], Answer]) -> None:
    with pytest.raises(NotFound, match=r"repository shoop; expected one of shop, till.*Did you mean shop\?"):
        ask(shop.open, "shoop")


def test_a_repository_without_such_rows_is_no(shop: Shop) -> None:
    assert not shop.open.callers("gross", repo="till")


def test_limits_are_said(shop: Shop) -> None:
    answer = shop.open.callers("checkout", limit=1)
    assert (len(answer), answer.note) == (1, "only the first 1; see --limit")


@pytest.mark.parametrize("name", ["it's", "a'; DROP", "ünï", "back\\slash", "%", "x" * 3000])
def test_odd_names_are_texts_and_nothing_else(shop: Shop, name: str) -> None:
    with pytest.raises(NotFound):
        shop.open.refs(name)


def test_what_starts_slowly_is_not_loaded(shop: Shop) -> None:
    program = (
        "import sys; from codelake.cli.main import run; "
        f"code = run(['callers', 'checkout', '--lake', {shop.uri!r}]); "
        "slow = {'pyspark', 'pyarrow', 'pandas', 'sqlglot', 'rich', 'zoneinfo', 'codelake.contracts.table'}; "
        "print(code, sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_tables_that_are_opened_without_their_contracts_are_stored_and_pinned() -> None:
    known = [CATALOGUE[name] for name in LOOKED_UP]
    assert [(one.sql, one.before, one.is_operations) for one in known] == [("", "", False)] * 4
