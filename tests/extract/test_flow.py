"""docs/flow-facts.md says what each kind of fact means, with an example; the examples are checked here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.extract.reading import Seen

PAGE = Path(__file__).parents[2] / "docs" / "flow-facts.md"


def examples() -> list[tuple[str, str, str, str, str]]:
    found = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            kind, _, *cells = (cell.strip() for cell in line.strip("|").split(" |"))
            example, dst, src, key = (cell.replace("`⏎`", "\n").strip("`") for cell in cells)
            found.append((kind.strip("`"), example, dst, src, key))
    return found


@pytest.mark.parametrize(("kind", "example", "dst", "src", "key"), examples())
def test_the_example_of_a_fact_is_true(kind: str, example: str, dst: str, src: str, key: str) -> None:
    seen = Seen(example)
    facts = [(r["kind"], seen.text(r["dst"]), seen.text(r["src"]), r["key"] or "") for r in seen.rows("facts")]
    assert (kind, dst, src, key) in facts


def test_every_kind_of_fact_is_described() -> None:
    files = (PAGE.parents[1] / "src/codelake/extract/flow").glob("*.py")
    source = "".join(file.read_text() for file in files)
    named = set(re.findall(r'add\(\s*"([a-z_]+)"', source))
    described = {kind for kind, *_ in examples()}
    assert named <= described
    assert all(f'"{kind}"' in source for kind in described)
