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


def facts(source: str) -> set[tuple[str, str | None]]:
    return {(row["kind"], row["key"]) for row in Seen(source).rows("facts")}


def test_a_text_that_is_no_utf_8_is_written_as_an_escape() -> None:
    found = facts(r"getattr(o, 'a\ud800'); __all__ = ['é\udfff']; __all__.remove('\ud800')")
    assert {("text", r"a\ud800"), ("export", r"é\udfff"), ("unexport", r"\ud800")} <= found


def test_numbers_that_python_does_not_write_out() -> None:
    number = "0x" + "f" * 5000
    found = facts(f"__all__.remove({number})\nd[{number}], d[-{number}], d[-1], d[-{'9' * 30}]")
    assert {key for kind, key in found if kind == "load_item"} == {"*", "-1"}
    assert not any(kind == "unexport" for kind, _ in found)


def test_all_as_a_long_sum_is_read_from_left_to_right() -> None:
    found = Seen("__all__ = " + " + ".join(f"['x{n}', *y]" for n in range(900))).rows("facts")
    listed = [row["key"] for row in found if row["kind"] == "export"]
    assert listed == [key for n in range(900) for key in (f"x{n}", "*")]
