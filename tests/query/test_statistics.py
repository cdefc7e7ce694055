"""Statistics columns follow from what is asked: the page of the decision, the texts and the contracts agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import codelake
from codelake.contracts import OPERATIONS, TABLES
from codelake.query.answer import Answer
from codelake.query.lake import OpenLake
from codelake.query.questions import QUESTIONS
from codelake.query.sql.statistics import Decision, decided, looked_up, page
from tests.query.conftest import Shop

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
STORED = [table for table in TABLES if table not in OPERATIONS]
ASKED: dict[str, Callable[[OpenLake], list[Answer]]] = {
    "find": lambda lake: [lake.find("checkout"), lake.find("tot*"), lake.find("totl", fuzzy=True)],
    "callers": lambda lake: [lake.callers("checkout", depth=2)],
    "callees": lambda lake: [lake.callees("checkout", depth=2)],
    "refs": lambda lake: [lake.refs("checkout"), lake.refs("TAX")],
    "impact": lambda lake: [lake.impact("checkout")],
    "neighbors": lambda lake: [lake.neighbors("checkout")],
    "show": lambda lake: [lake.show("checkout")],
    "path": lambda lake: [lake.path("main", "checkout")],
    "unresolved": lambda lake: [lake.unresolved()],
    "hot": lambda lake: [lake.hot()],
    "diff": lambda lake: [lake.diff("1")],
}


@pytest.fixture(scope="module")
def texts(shop: Shop) -> dict[str, list[str]]:
    assert ASKED.keys() == {question.__name__ for question in QUESTIONS}
    lake = codelake.open(shop.uri)
    found = {name: [text for answer in ask(lake) for text in answer.sql] for name, ask in ASKED.items()}
    scans = lake.sql("SELECT options FROM scans").to_arrow().to_pylist()
    return {**found, "builds": [sql for row in scans if (sql := dict(row["options"]).get("sql"))]}


@pytest.fixture(scope="module")
def decisions(texts: dict[str, list[str]]) -> dict[str, Decision]:
    """Of each table, what is asked of which column."""
    return {table.name: decided(table, texts) for table in STORED}


def test_the_page_is_what_is_asked(decisions: dict[str, Decision], tmp_path: Path) -> None:
    made = page(decisions)
    (tmp_path / "statistics.md").write_text(made)
    assert PAGE.read_text() == made, f"copy {tmp_path}/statistics.md to docs"


def test_what_was_decided_has_statistics(decisions: dict[str, Decision]) -> None:
    for table in STORED:
        assert decisions[table.name].keys() <= set(table.layout.stats or table.column_names), table.name


def test_what_prunes_no_file_is_not_counted() -> None:
    joined = "SELECT e.src FROM cpg_edges e JOIN cpg_nodes n ON n.node_id = e.dst WHERE e.kind = 'CALLS'"
    assert looked_up(f"{joined} AND e.confidence >= 0.5 AND n.name IN ('a', 'b')") == {
        "cpg_edges.kind",
        "cpg_nodes.name",
    }
    assert looked_up("SELECT * FROM before_files WHERE path LIKE 'a/%' AND digest IS NOT NULL") == {"files.path"}
