"""Reports of other tools in a build: what they change, when they no longer count, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from codelake.contracts import Table
from codelake.contracts.claims import CLAIMS
from codelake.contracts.graph import CALLS, CPG_EDGES, LINKS
from codelake.contracts.operations import QUALITY, STAGES
from codelake.contracts.sources import DIAGNOSTICS
from codelake.contracts.views import VIEWS
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.errors import UsageError
from codelake.extract.claims import Report, open_scip
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline import here
from codelake.pipeline.build import build
from codelake.pipeline.plan import Planned, plan
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.extract.scip_index import Index

CART = "class Cart:\n    def add(self):\n        pass\n\n\nclass Bag:\n    def add(self):\n        pass\n"
USE = "from cart import Cart\n\n\ndef fill(p):\n    p.add()\n\n\ndef sure():\n    Cart().add()\n"
OTHER = "def apart():\n    return 1\n"
FILES = {"cart.py": CART, "use.py": USE, "other.py": OTHER}


def index() -> Index:
    """It says that `p.add` is Bag's, and wrongly that `Cart().add` is Bag's too."""
    found = Index(FILES).define("cart.py", "Cart", "cart/Cart#").define("cart.py", "add", "cart/Cart#add().")
    found.define("cart.py", "Bag", "cart/Bag#").define("cart.py", "add", "cart/Bag#add().", 1)
    found.define("use.py", "fill", "use/fill().")
    return found.refer("use.py", "add", "cart/Bag#add().").refer("use.py", "add", "cart/Bag#add().", 1)


@dataclass
class Workplace:
    spark: SparkSession
    folder: Path
    lake: Lake
    reports: list[Report] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def build(self, *, reports: Sequence[Report] = (), forgotten: Sequence[str] = ()) -> dict[str, Any]:
        return build(self.lake, self._reading(reports=reports, forgotten=forgotten), limits=Limits())

    def plan(self, *, reports: Sequence[Report] = ()) -> Planned:
        return plan(Lake(self.lake.store), self._reading(reports=reports), limits=Limits())

    def _reading(self, **options: Any) -> Reading:
        return Reading(open_sources([str(self.folder)]), Progress(), **options)

    def ask(self, table: Table, sql: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = ask(Run(self.lake, "reader"), (table,), sql).to_pylist()
        return rows

    def call_in(self, caller: str) -> tuple[str | None, str | None, str | None]:
        """Of `add`: target, method and reason."""
        which = "callee_text IS DISTINCT FROM 'Cart'"
        sql = f"SELECT target, method, reason FROM calls WHERE caller = 'shop:use.py#{caller}' AND {which}"
        [row] = self.ask(CALLS, sql)
        return row["target"], row["method"], row["reason"]

    def problems(self) -> list[tuple[str, str]]:
        rows = self.ask(DIAGNOSTICS, "SELECT path, message FROM diagnostics WHERE kind = 'claims'")
        return [(row["path"], row["message"]) for row in rows]

    def quality(self, run_id: str) -> dict[str, tuple[int, int | None]]:
        sql = f"SELECT issue, n, n_before FROM quality WHERE run_id = '{run_id}' AND rule = 'disagreement'"
        return {row["issue"]: (row["n"], row["n_before"]) for row in self.ask(QUALITY, sql)}

    def why(self, run_id: str, stage: str) -> list[str]:
        [row] = self.ask(STAGES, f"SELECT why FROM stages WHERE run_id = '{run_id}' AND stage = '{stage}'")
        why: list[str] = row["why"]
        return why

    def everything(self) -> dict[str, list[str]]:
        """What a reader sees of the graph, and what it was made from."""
        tables = (CLAIMS, LINKS, CALLS, CPG_EDGES, DIAGNOSTICS)
        return {one.name: sorted(map(repr, self.ask(one, f"SELECT * FROM {one.name}"))) for one in tables}

    def rebuilt(self, reports: Sequence[Report]) -> dict[str, list[str]]:
        again = Workplace(self.spark, self.folder, create_lake(Store(f"{self.lake.store.root}-again"), self.spark))
        again.build(reports=reports)
        return again.everything()


@pytest.fixture(scope="module")
def workplace(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = tmp_path_factory.mktemp("claims")
    (place / "shop").mkdir()
    for path, text in FILES.items():
        (place / "shop" / path).write_text(text)
    report = open_scip(index().write(place / "index.scip"))
    return Workplace(spark, place / "shop", create_lake(Store(str(place / "lake")), spark), [report])


def test_a_report_links_what_it_concerns(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    first = workplace.build()
    assert workplace.call_in("fill") == (None, None, "unknown receiver")
    assert CLAIMS.name not in first["versions"]
    reports = workplace.reports

    # A report is new: what it concerns is linked, and the plan says so before.
    planned = {step.stage: step for step in workplace.plan(reports=reports).steps}
    assert list(planned) == ["claims", "link", "graph"]
    assert planned["claims"].why == ("1 file(s) of which scip-python 0.6.6 says something",)
    assert planned["link"].why == ("1 file(s): other claims of other tools",)
    assert [one.path for one in planned["link"].files] == ["use.py"]
    second = workplace.build(reports=reports)
    assert workplace.call_in("fill") == ("shop:cart.py#Bag.add", "scip", None)
    assert workplace.call_in("sure") == ("shop:cart.py#Cart.add", "receiver", None)
    assert workplace.quality(second["run_id"]) == {
        "CALLS: scip is not taken": (1, None),
        "RESOLVES_TO: scip is not taken": (1, None),
    }
    assert workplace.why(second["run_id"], "claims") == ["1 file(s) of which scip-python 0.6.6 says something"]
    assert workplace.problems() == []
    [view] = [one for one in VIEWS if one.name == "disagreements"]
    rows = workplace.ask(LINKS, f"SELECT * FROM ({view.embedded_sql}) AS d WHERE kind = 'CALLS'")
    [row] = rows
    assert (row["path"], row["own"], row["claimed"], row["verdict"]) == (
        *("use.py", "shop:cart.py#Cart.add", "shop:cart.py#Bag.add", "kept"),
    )
    assert USE[row["start_byte"] : row["end_byte"]] == "add"
    spark_rows = workplace.spark.read.format("delta").load(workplace.lake.uri("links"))
    spark_rows.createOrReplaceTempView("links")
    assert {tuple(one) for one in workplace.spark.sql(view.sql).collect()} == {
        tuple(one.values()) for one in workplace.ask(LINKS, f"SELECT * FROM ({view.embedded_sql}) AS d")
    }

    # The same again changes nothing; a rebuild gives the same, by Spark's workers too.
    assert workplace.plan(reports=reports).steps == ()
    assert workplace.build(reports=reports)["versions"] == {}
    with_claims = workplace.everything()
    with monkeypatch.context() as patched:
        patched.setattr(here, "LINKED_HERE", -1)
        assert workplace.rebuilt(reports) == with_claims


def test_what_a_report_says_of_another_content_is_not_used(workplace: Workplace) -> None:
    reports = workplace.reports
    workplace.build(reports=reports)
    with_claims = workplace.everything()

    # An edit that linking does not see is another content nevertheless.
    workplace.write("use.py", USE + "# more\n")
    fourth = workplace.build()
    assert workplace.call_in("fill") == (None, None, "unknown receiver")
    [(path, message)] = workplace.problems()
    assert path == "use.py"
    assert message == ("what scip-python 0.6.6 says of this file (scip) is about another content, and is not used")
    assert workplace.quality(fourth["run_id"])["CALLS: scip is not taken"] == (0, 1)
    assert workplace.build(reports=reports)["versions"] == {}  # the same report is still about what was there before

    # The content is back, and with it what was said of it.
    workplace.write("use.py", USE)
    workplace.build()
    assert workplace.everything() == with_claims

    # An edit that moves what the report names does not fit it at all, not in a new lake either.
    workplace.write("cart.py", "\n" + CART)
    assert "cart.py" in [one.path for step in workplace.plan().steps for one in step.files]
    workplace.build()
    assert workplace.call_in("fill") == ("shop:cart.py#Bag.add", "scip", None)
    assert [path for path, _ in workplace.problems()] == ["cart.py"]
    workplace.write("cart.py", CART)

    # Forgotten, it is as if it had never been given.
    workplace.build(forgotten=("scip",))
    assert workplace.call_in("fill") == (None, None, "unknown receiver")
    assert workplace.problems() == workplace.ask(CLAIMS, "SELECT * FROM claims") == []
    assert workplace.ask(LINKS, "SELECT path FROM links WHERE claims_digest IS NOT NULL") == []


def test_a_report_about_something_else_is_refused_before_anything_is_written(
    workplace: Workplace, tmp_path: Path
) -> None:
    before = workplace.lake.log("blobs").version
    elsewhere = Index({"lib/x.py": "def f(): pass\n"}).define("lib/x.py", "f", "x/f().")
    with pytest.raises(UsageError, match=r"files of the repository.*found others, such as lib/x\.py"):
        workplace.build(reports=[open_scip(elsewhere.write(tmp_path / "index.scip"))])
    assert workplace.lake.log("blobs").version == before
