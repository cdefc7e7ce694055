"""The cases of `tests/cases`, all built in one run: edges that must be there are, and those that must not are not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import codelake
from codelake.query.answer import Answer
from codelake.query.lake import OpenLake
from tests.cases.truth import Case, read_cases
from tests.graph.looking import Looked, build_cases, sureness
from tests.lakes import PreparedLake

CASES = read_cases(Path(__file__).parents[1] / "cases")
PAGE = Path(__file__).parents[2] / "docs" / "graph-schema.md"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def looked(prepared_lake: PreparedLake, root: Path) -> dict[str, Looked]:
    return build_cases(prepared_lake(root / "lake"), root, CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case(case: Case, looked: dict[str, Looked]) -> None:
    assert looked[case.title].problems() == []


def test_every_edge_has_both_its_nodes(looked: dict[str, Looked]) -> None:
    for found in looked.values():
        assert [edge for edge in found.edges if not {edge["src"], edge["dst"]} <= found.terms.keys()] == []


def test_the_schema_says_how_edges_are_found(looked: dict[str, Looked]) -> None:
    found = {(edge["kind"], edge["origin"], edge["method"]) for one in looked.values() for edge in one.edges}
    assert found - sureness(PAGE) == set()


SPOTS = 25
"""Edges of each kind, spread over the cases."""
ANSWERS: dict[str, tuple[Callable[[OpenLake, str, str], bool], ...]] = {
    "CALLER_OF": (
        lambda lake, src, dst: dst in named(lake.callees(src)),
        lambda lake, src, dst: src in named(lake.callers(dst)),
        lambda lake, src, dst: named(lake.path(src, dst)) == list(dict.fromkeys((src, dst))),
    ),
    "INHERITS": (lambda lake, src, dst: src in named(lake.impact(dst, depth=1), how="inherits"),),
    "OVERRIDES": (lambda lake, src, dst: src in named(lake.impact(dst, depth=1), how="overrides"),),
    "IMPORTS": (lambda lake, src, dst: src in named(lake.refs(dst, role="import")) + named(lake.impact(dst, depth=1)),),
    "READS": (lambda lake, src, dst: src in named(lake.refs(dst, role="read")),),
    "WRITES": (lambda lake, src, dst: src in named(lake.refs(dst, role="write")),),
    "HAS_METHOD": (lambda lake, src, dst: dst in named(lake.neighbors(src, kinds=["HAS_METHOD"])),),
}
"""What questions say of an edge."""


def named(answer: Answer, *, how: str = "") -> list[str]:
    return [row["node_id"] for row in answer if not how or row["how"] == how]


@pytest.mark.parametrize("kind", ANSWERS)
def test_questions_say_what_cases_say(looked: dict[str, Looked], root: Path, kind: str) -> None:
    lake = codelake.open(root / "lake")
    said = [
        (case.title, edge, is_there)
        for case in CASES
        for edges, is_there in ((case.must, True), (case.must_not, False))
        for edge in edges
        if edge.kind == kind
    ]
    assert said
    for title, edge, is_there in said[:: max(1, len(said) // SPOTS)]:
        src, dst = ([one for one, terms in looked[title].terms.items() if end in terms] for end in (edge.src, edge.dst))
        for says in ANSWERS[kind]:
            assert any(says(lake, *ends) for ends in product(src, dst)) is is_there, (title, edge)
