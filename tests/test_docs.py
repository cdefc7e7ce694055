"""The documentation says what the code says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.cli.docs import cli_page
from codelake.cli.main import cli
from codelake.contracts import TABLES
from codelake.contracts.docs import tables_page
from codelake.delta.lake import Lake
from codelake.settings import NAMES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md")), *DECISIONS]
_PATH = re.compile(r"`([\w./-]+(?:\.(?:py|md|toml|lock)|/))`")
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def test_the_page_of_tables_is_what_the_contracts_give() -> None:
    page = (DOCS / "tables.md").read_text()
    assert page == tables_page(TABLES), "run: .venv/bin/python -m codelake.contracts.docs > docs/tables.md"


def test_the_page_of_commands_is_what_their_help_says() -> None:
    page = (DOCS / "cli.md").read_text()
    assert page == cli_page(cli), "run: .venv/bin/python -m codelake.cli.docs > docs/cli.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md", *DECISIONS], ids=lambda page: page.name
)
def test_files_that_are_mentioned_exist(page: Path) -> None:
    mentioned = _PATH.findall(page.read_text())
    bases = (ROOT, ROOT / "src" / "codelake")
    assert [path for path in mentioned if not any((base / path).exists() for base in bases)] == []


def test_every_file_of_the_control_plane_is_described() -> None:
    page = (DOCS / "architecture.md").read_text()
    files = {f"delta/{file.name}" for file in (ROOT / "src/codelake/delta").glob("[!_]*.py")}
    assert {file for file in files if f"`{file}`" not in page} == set()


def test_every_decision_is_linked_and_numbered() -> None:
    links = _LINK.findall((DOCS / "architecture.md").read_text())
    linked = [link for link in links if link.startswith("decisions/")]
    assert linked == [f"decisions/{file.name}" for file in DECISIONS]
    for number, file in enumerate(DECISIONS, start=1):
        text = file.read_text()
        assert file.name.startswith(f"{number:04}-") and text.startswith(f"# {number:04} ")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Context", "What was measured", "Decision", "Consequences"], file.name


def test_every_setting_is_described() -> None:
    described = re.findall(r"^\| `(\w+)` \|", (DOCS / "operations.md").read_text(), re.MULTILINE)
    assert set(NAMES) <= set(described)


def test_pages_name_no_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/(work|home|root|Users|tmp)/", page.read_text()), page


@pytest.mark.slow
def test_the_example_of_the_readme_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    # `session` takes the session that runs already, and the lake is made in the current folder.
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert "some: 1 row(s), such as [title='Ulysses']" in capsys.readouterr().out


@pytest.mark.slow
def test_the_tour_runs(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "tour.py"))["tour"](lake)
    said = capsys.readouterr().out
    assert "commit to modules (append) breaks 2 rule(s)" in said
    assert "modules is still at version 1" in said
    assert "second time: version 2, a repeat" in said
    assert "1 of 2 files, 1 pruned" in said
    assert "{modules -> 3}" in said
    assert re.search(r"^packages +2 +1 ", said, re.MULTILINE)
