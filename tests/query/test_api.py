"""The Python API, the command line around it, and the page that shows both."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

import codelake
from codelake.delta.lake import create_lake
from codelake.delta.store import Store
from codelake.errors import NotFound, UsageError
from codelake.query.engine import Limits
from tests.query.conftest import Shop

Run = Callable[..., tuple[int, str, str]]
PAGE = (Path(__file__).parents[2] / "docs" / "questions.md").read_text()
COMMANDS = re.findall(r"^\$ (codelake [^\n]*)", PAGE, re.MULTILINE)
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_page(shop: Shop, run: Run, command: str) -> None:
    Path(".codelake").symlink_to(shop.uri)
    code, out, err = run(*shlex.split(command, comments=True)[1:])
    assert (code, err) == (0, ""), err
    assert out


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_the_page(shop: Shop, run: Run, program: str) -> None:
    Path(".codelake").symlink_to(shop.uri)
    exec(compile(program, "questions.md", "exec"), {"__name__": "page", "spark": shop.lake.session})


def test_import_is_light() -> None:
    program = "import sys, codelake; print(*{'pyspark', 'pyarrow', 'deltalake', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.parametrize(
    ("at", "number"),
    [
        (lambda shop: shop.revisions[0], 1),
        (lambda shop: shop.revisions[1][:10], 2),
        (lambda shop: shop.open.run.run_id, 2),
        (lambda shop: "1", 1),
        (lambda shop: "-2", 1),
        (lambda shop: f"cpg_nodes={shop.open.run.versions['cpg_nodes']}", 2),
        (lambda shop: shop.open.run.recorded_at, 2),
        (lambda shop: shop.open.run.recorded_at.isoformat(), 2),
    ],
)
def test_every_form_of_at(shop: Shop, at: Callable[[Shop], str], number: int) -> None:
    opened = codelake.open(shop.uri, at=at(shop))
    assert bool(opened.find("*.base", kinds=["function"])) is (number == 1)


def test_a_time_that_was_shown(shop: Shop, run: Run) -> None:
    """`codelake runs` shows seconds: in one of them, that run is there."""
    for row in json.loads(run("runs", "--lake", shop.uri, "--json")[1]):
        for time in (row["published (UTC)"], row["recorded_at"]):
            assert codelake.open(shop.uri, at=time).run.run_id == row["run"]


def test_a_table_that_is_misspelt(shop: Shop) -> None:
    with pytest.raises(NotFound, match=r"Did you mean cpg_nodes\?"):
        codelake.open(shop.uri, at="cpg_node=1")


def test_numbers_of_runs_are_no_options(shop: Shop, run: Run) -> None:
    last = shop.open.run.run_id
    assert json.loads(run("runs", "-1", "--lake", shop.uri, "--json")[1])["run_id"] == last
    assert run("diff", "-2", "-1", "--lake", shop.uri) == run("diff", "1", "2", "--lake", shop.uri)
    assert run("diff", "-2", "--json", "--lake", shop.uri)[0] == 0
    code, _, err = run("diff", "-2", "--limt", "3", "--lake", shop.uri)
    assert code == 2 and "No such option '--limt'. Did you mean '--limit'?" in err


@pytest.mark.parametrize("at", ["3", "0", "cpg_nodes=77", "1999-01-01", "not a run", "feedbeef"])
def test_a_run_that_is_not_there(shop: Shop, at: str) -> None:
    with pytest.raises(NotFound):
        codelake.open(shop.uri, at=at)


def test_a_lake_that_is_not_there(run: Run) -> None:
    code, _, err = run("callers", "x")
    assert code == 1
    assert "make one there: `codelake build`" in err


def test_a_lake_with_nothing_in_it_yet(run: Run) -> None:
    create_lake(Store(".codelake"))
    code, _, err = run("callers", "x")
    assert code == 1
    assert "a published run; found none yet. Build something first: `codelake build PATH`." in err


def test_json_and_csv_and_sql(shop: Shop, run: Run) -> None:
    asked = ("callers", "checkout", "--lake", shop.uri)
    rows = json.loads(run(*asked, "--json")[1])
    assert [row["name"] for row in rows] == ["shop.cli.main", "till.ring"]
    assert [row["name"] for row in csv.DictReader(StringIO(run(*asked, "--csv")[1]))] == ["shop.cli.main", "till.ring"]
    texts = json.loads(run(*asked, "--sql", "--json")[1])
    assert all(text.startswith("SELECT ") for text in texts)
    # They can be asked as they are; the first, for a whole name, finds nothing.
    assert [run("sql", text, "--lake", shop.uri)[0] for text in texts] == [1, *[0] * (len(texts) - 1)]


def test_an_empty_answer_is_no(shop: Shop, run: Run) -> None:
    code, out, err = run("callers", "shop.cli.main", "--lake", shop.uri)
    assert (code, out, err) == (1, "", "codelake: callers of shop.cli.main: none\n")
    assert run("callers", "shop.cli.main", "--lake", shop.uri, "--json")[:2] == (1, "[]\n")


def test_a_tree_is_indented(shop: Shop, run: Run) -> None:
    out = run("callers", "shop.cart.Cart.total", "--depth", "2", "--lake", shop.uri)[1]
    assert "\nshop.cart.checkout " in out and "\n  till.ring " in out


def test_for_notebooks(shop: Shop) -> None:
    drawn = shop.open.callers("checkout")._repr_html_()
    assert "<td>till.ring</td>" in drawn and drawn.count("<tr>") == 3
    assert "def gross(item):" in shop.open.show("gross")._repr_html_()
    assert repr(shop.open) == f"<lake {shop.uri}, run {shop.open.run.run_id}>"


def test_for_python_sessions(shop: Shop) -> None:
    """An answer shows itself as the command line would, the first rows of a long one."""
    shown = repr(shop.open.callers("Cart.total", depth=2)).splitlines()
    assert shown[0] == "callers of shop.cart.Cart.total" and shown[1].split() == [
        "name",
        "place",
        *shown[1].split()[2:],
    ]
    assert shown[2].startswith("shop.cart.checkout ") and shown[4].startswith("  till.ring ")
    assert repr(shop.open.callers("shop.cli.main")) == "callers of shop.cli.main\nno rows"
    many = repr(shop.open.sql("SELECT node_id, 'a' || chr(10) AS b FROM cpg_nodes LIMIT 50")).splitlines()
    assert len(many) == 22 and many[1].endswith("  a\\n") and many[-1] == "... 30 more rows"


def test_tables_for_notebooks(shop: Shop) -> None:
    """A look at what may be large; what is in it is text, not HTML."""
    few = shop.open.sql("SELECT '<b>' AS tag, map(['a'], [1]) AS pairs")
    assert few._repr_html_().count("<tr>") == 2 and "<td>&lt;b&gt;</td><td>{&#x27;a&#x27;: 1}</td>" in few._repr_html_()
    assert [row["tag"] for row in few] == ["<b>"]
    many = codelake.open(shop.uri, limits=Limits(rows=150)).sql("SELECT * FROM cpg_nodes")
    assert many._repr_html_().count("<tr>") == 101
    assert many._repr_html_().endswith("<p>only the first 150 rows were read; the first 100 of 150 rows</p>")
    nodes = shop.open.table("cpg_nodes")
    assert repr(nodes) == "<table cpg_nodes>"
    assert nodes._repr_html_().count("<tr>") == 101 and nodes._repr_html_().endswith("<p>the first 100 rows</p>")
    assert shop.open.table("repositories")._repr_html_().count("<tr>") == 3


def test_answers_in_other_forms(shop: Shop) -> None:
    answer = shop.open.callers("checkout")
    assert answer.to_pandas().name.tolist() == answer.to_polars()["name"].to_list() == ["shop.cli.main", "till.ring"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Run, shell: str) -> None:
    code, out, _ = run("completion", shell)
    assert code == 0 and "_CODELAKE_COMPLETE" in out


@pytest.mark.parametrize("words", [("callers", ""), ("find", " "), ("path", "gross", ""), ("show", "")])
def test_a_name_that_is_empty(shop: Shop, run: Run, words: tuple[str, ...]) -> None:
    code, out, err = run(*words, "--lake", shop.uri)
    assert (code, out) == (2, "") and "expected a name or an id; found an empty text" in err


def test_wrong_options(shop: Shop, run: Run) -> None:
    assert run("callers", "x", "--depth", "0", "--lake", shop.uri)[0] == 2
    assert run("sql", "SELECT 1", "--memory", "much", "--lake", shop.uri)[0] == 2
    with pytest.raises(UsageError, match="dialect"):
        shop.open.sql("SELECT 1", dialect="mysql")
