"""Reports of other tools on the command line: what is wrong with them is said before Spark starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.extract.scip_index import Index

FILES = {"cart.py": "def add(): pass\n", "use.py": "import cart\n\ncart.add()\n"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for path, text in FILES.items():
        (folder / path).write_text(text)
    index = Index(FILES).define("cart.py", "add", "cart/add().").refer("use.py", "add", "cart/add().")
    index.write(tmp_path / "index.scip")
    Index({"else.py": "x = 1\n"}).define("else.py", "x", "else/x.").write(tmp_path / "other.scip")
    (tmp_path / "bad.scip").write_text("not an index")
    return folder


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("shop", "--scip", "none.scip"), "expected a SCIP index, such as scip-python writes; found No such file"),
        (("shop", "--scip", "bad.scip"), "expected a SCIP index, such as scip-python writes; found a field of wire"),
        (("shop", "--scip", "other.scip"), "found others, such as else.py. Make it in the repository's root."),
        (("shop", "--pyrefly", "shop"), "Write it with `pyrefly check --report-pysa DIR --report-pysa-format json`."),
        (("shop", "--scip", "index.scip", "--forget", "scip"), "expected a report, or --forget; found both"),
        (("shop", "again=shop", "--scip", "index.scip"), "expected one repository at one revision; found 2 repo"),
        (("shop", "--forget", "pyright"), "'pyright' is not one of 'scip', 'pyrefly'"),
    ],
)
@pytest.mark.parametrize("command", ["build", "plan"])
def test_what_is_wrong_is_said_before_spark_starts(
    command: str, arguments: tuple[str, ...], text: str, run: Run, shop: Path
) -> None:
    code, _, messages = run(command, *arguments, "--quiet")
    assert (code, text in messages) == (2, True), messages


def test_a_plan_of_a_new_lake_counts_what_a_report_says(run: Run, shop: Path) -> None:
    code, said, _ = run("plan", "shop", "--scip", "index.scip", "--json", "--quiet")
    steps = {step["stage"]: step["n"] for step in json.loads(said)["steps"]}
    assert (code, steps["claims"], steps["link"]) == (0, 2, 2)
    code, said, _ = run("plan", "shop", "--json", "--quiet")
    assert "claims" not in {step["stage"] for step in json.loads(said)["steps"]}
