"""The page of the design's scopes: every scope has a row, and every row leads to something."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "design-coverage.md").read_text()
ROWS = re.findall(r"^\| ([A-E]\d+) \| (.+?) \| `(.+?)` \| (.+?) \|$", PAGE, re.MULTILINE)
SCOPES = [
    f"{letter}{n}" for letter, last in zip("ABCDE", (12, 14, 13, 10, 12), strict=True) for n in range(1, last + 1)
]


def test_every_scope_has_one_row() -> None:
    assert [row[0] for row in ROWS] == SCOPES and len(SCOPES) == 61


@pytest.mark.parametrize(("scope", "where"), [(row[0], row[2]) for row in ROWS])
def test_a_row_leads_to_code(scope: str, where: str) -> None:
    assert (ROOT / "src" / "codelake" / where).exists()


@pytest.mark.parametrize(("scope", "shown"), [(row[0], one) for row in ROWS for one in row[3].split(", ")])
def test_a_row_leads_to_tests(scope: str, shown: str) -> None:
    path, _, name = shown.strip("`").partition("::")
    tree = ast.parse((ROOT / path).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
