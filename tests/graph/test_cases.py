"""The cases of `tests/cases`, all built in one run: edges that must be there are, and those that must not are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.truth import Case, read_cases
from tests.graph.looking import Looked, build_cases, sureness
from tests.lakes import PreparedLake

CASES = read_cases(Path(__file__).parents[1] / "cases")
PAGE = Path(__file__).parents[2] / "docs" / "graph-schema.md"


@pytest.fixture(scope="module")
def looked(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Looked]:
    root = tmp_path_factory.mktemp("cases")
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
