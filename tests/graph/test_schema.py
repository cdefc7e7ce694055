"""docs/graph-schema.md: every kind has a section that says what the contracts say, and its example is true."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codelake.contracts.kinds import EDGE_KINDS, NODE_KINDS, REASONS, EdgeKind
from codelake.graph.link.solver import MOST
from codelake.graph.link.targets import MAX_TARGETS
from tests.cases.truth import Case, read_page
from tests.graph.looking import Looked, build_cases
from tests.lakes import PreparedLake

PAGE = Path(__file__).parents[2] / "docs" / "graph-schema.md"
TEXT = PAGE.read_text()
SECTIONS = {case.title: case for case in read_page(PAGE, heading="### ")}
_NEW_SYNTAX = {"type_parameter"} if sys.version_info < (3, 12) else set()
EXAMPLES = [case for case in SECTIONS.values() if case.files and case.title not in _NEW_SYNTAX]


@pytest.fixture(scope="module")
def looked(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Looked]:
    root = tmp_path_factory.mktemp("schema")
    return build_cases(prepared_lake(root / "lake"), root, EXAMPLES)


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.title)
def test_the_example_is_true(case: Case, looked: dict[str, Looked]) -> None:
    assert case.must and looked[case.title].problems() == []


def _sentence(meaning: str) -> str:
    return f"{meaning[0].upper()}{meaning[1:]}."


def _line(kind: EdgeKind) -> str:
    sources, targets = (", ".join(kinds) or "any node" for kinds in (kind.src, kind.dst))
    return f"{_sentence(kind.meaning)} From {sources} to {targets}."


EXPECTED = {
    **{kind.name: _sentence(kind.meaning) for kind in NODE_KINDS},
    **{kind.name: _line(kind) for kind in EDGE_KINDS},
    **{reason: _sentence(meaning) for reason, meaning in REASONS.items()},
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_each_kind_has_a_section_that_says_what_the_contract_says(kind: str) -> None:
    assert f"### {kind}\n\n{EXPECTED[kind]}\n" in TEXT


def test_each_kind_has_an_example_of_itself() -> None:
    for kind in NODE_KINDS:
        assert kind.name in {edge.dst for edge in SECTIONS[kind.name].must if edge.kind == "IS"}
    for edge_kind in EDGE_KINDS:
        assert edge_kind.name in {edge.kind for edge in SECTIONS[edge_kind.name].must}
    assert set(SECTIONS) - set(EXPECTED) == {"Other syntax", "Candidates"}


def test_numbers_are_those_of_the_linker() -> None:
    assert f"with more than {MOST} values" in TEXT and f"with more than {MAX_TARGETS} has the reason" in TEXT
