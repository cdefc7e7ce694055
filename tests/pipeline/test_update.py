"""A lake brought up to date: what an edit costs, what it reaches, and what is said of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from codelake.contracts import Table
from codelake.contracts.graph import CALLS, CPG_EDGES, CPG_NODES, LINKS
from codelake.contracts.operations import COMMITS, RUNS, STAGES
from codelake.delta.changes import changes
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake, Starting, create_lake
from codelake.delta.maintenance.properties import change_properties
from codelake.delta.run import Run, pin
from codelake.delta.store import Store
from codelake.errors import PinUnavailable
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline import fingerprints
from codelake.pipeline.build import BUILT, build
from codelake.pipeline.manifest import read
from codelake.pipeline.plan import Planned, plan
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.pipeline.rows import frame
from codelake.pipeline.work import Build
from tests.distribution.building import on_executors
from tests.lakes import PreparedLake
from tests.properties.test_incremental import check

TREE = {
    "pkg/__init__.py": "",
    "pkg/base.py": "def used():\n    return 1\n\n\ndef unused():\n    return 2\n",
    "pkg/user.py": "from pkg.base import used\n\n\ndef here():\n    return used()\n",
    "pkg/again.py": "from pkg.user import used\n\n\ndef there():\n    return used()\n",
    "pkg/other.py": "import os\n\n\ndef apart():\n    return os.getcwd()\n",
}


@dataclass
class Workplace:
    lake: Lake
    folder: Path

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / "pkg" / f"{name}.py").write_text(text)

    def build(self) -> dict[str, Any]:
        return build(self.lake, self.reading(), limits=Limits())

    def plan(self) -> Planned:
        return plan(Lake(self.lake.store), self.reading(), limits=Limits())

    def reading(self) -> Reading:
        return Reading(open_sources([str(self.folder)]), Progress())

    def ask(self, table: Table, sql: str, at: int | None = None) -> list[dict[str, Any]]:
        run = Run(self.lake, "reader")
        pin(run, table, at=at)
        rows: list[dict[str, Any]] = ask(run, (table,), sql).to_pylist()
        return rows

    def versions(self) -> dict[str, int]:
        return {table.name: self.lake.log(table.name).version for table in BUILT}

    def stage(self, run_id: str, name: str) -> dict[str, Any]:
        [row] = self.ask(STAGES, f"SELECT * FROM stages WHERE run_id = '{run_id}' AND stage = '{name}'")
        return row

    def rewritten(self, table: Table, before: int) -> set[str]:
        """Paths whose rows were written since a version."""
        rows = changes(Run(self.lake, "reader"), table, after=before).select("path").distinct()
        return {row.path for row in rows.collect()}


@pytest.fixture(scope="module")
def workplace(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = tmp_path_factory.mktemp("update")
    for path, text in TREE.items():
        (place / "repo" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "repo" / path).write_text(text)
    empty = Workplace(create_lake(Store(str(place / "empty"))), place / "repo")
    first = empty.plan()
    assert [step.stage for step in first.steps] == ["contents", "evidence", "files", "stubs", "link", "graph"]
    assert "table cpg_nodes will be created" in first.metadata
    assert not empty.lake.table_names()
    found = Workplace(prepared_lake(place / "lake"), place / "repo")
    found.build()
    return found


def test_nothing_changed_is_said_and_nothing_is_done(workplace: Workplace) -> None:
    before = workplace.versions()
    n_runs = len(workplace.ask(RUNS, "SELECT run_id FROM runs"))
    assert workplace.plan() == Planned((), ())
    done = workplace.build()
    assert not done["versions"] and not any(stage["why"] for stage in done["stages"])
    assert workplace.versions() == before
    assert len(workplace.ask(RUNS, "SELECT run_id FROM runs")) == n_runs


def test_a_comment_links_nothing(workplace: Workplace) -> None:
    before = workplace.versions()
    workplace.write(base="# a comment\n" + TREE["pkg/base.py"])
    planned = workplace.plan()
    assert [(step.stage, [tuple(one) for one in step.files]) for step in planned.steps[2:]] == [
        (stage, [("repo", "pkg/base.py", "changed content")]) for stage in ("files", "link", "graph")
    ]
    done = workplace.build()
    assert "calls" not in done["versions"] and "cpg_edges_by_dst" not in done["versions"]
    link = workplace.stage(done["run_id"], "link")
    assert link["why"] == ["1 file(s): changed content that linking does not see"]
    assert [(one["path"], one["hop"]) for one in link["impacts"]] == [("pkg/base.py", 0)]
    assert workplace.rewritten(LINKS, before["links"]) == {"pkg/base.py"}
    assert workplace.rewritten(CPG_NODES, before["cpg_nodes"]) == {"pkg/base.py"}


def test_an_export_that_goes_reaches_its_users_and_nobody_else(workplace: Workplace) -> None:
    before = workplace.versions()
    workplace.write(base="def unused():\n    return 2\n")
    done = workplace.build()
    impacts = workplace.stage(done["run_id"], "link")["impacts"]
    found = {one["path"]: (one["hop"], one["symbol"]) for one in impacts}
    assert found["pkg/base.py"] == (0, None)
    assert set(found) == {"pkg/base.py", "pkg/user.py", "pkg/again.py"}
    assert found["pkg/user.py"][0] == 1 and found["pkg/again.py"][0] in (1, 2)
    assert all("used" in (symbol or "used") for _, symbol in found.values())
    assert workplace.rewritten(LINKS, before["links"]) == set(found)
    assert workplace.rewritten(CPG_NODES, before["cpg_nodes"]) <= {*found, ""}


def test_a_run_is_in_the_manifest_as_it_was(workplace: Workplace) -> None:
    workplace.write(other=TREE["pkg/other.py"] + "\n\ndef more():\n    return apart()\n")
    before = workplace.versions()
    done = workplace.build()
    [row] = workplace.ask(RUNS, f"SELECT * FROM runs WHERE run_id = '{done['run_id']}'")
    manifest = read(row["manifest"])
    assert (
        manifest.versions == {name: dict(row["versions"])[name] for name in manifest.versions} == workplace.versions()
    )
    assert {commit.table: commit.version for commit in manifest.commits if commit.stage != "record"} == done["versions"]
    assert {name: manifest.pins[name] for name in before} == before
    stages = ["contents", "evidence", "claims", "files", "stubs", "link", "graph", "quality"]
    assert [stage.name for stage in manifest.stages] == stages
    assert manifest.store == workplace.lake.store.identity
    assert manifest.limits == {"seconds": 60.0, "memory": 2 << 30}
    counted = "SELECT count(*) AS n, count(reason) AS unresolved FROM calls"
    [calls] = workplace.ask(CALLS, counted)
    assert (manifest.totals["calls"], manifest.totals["unresolved"]) == (calls["n"], calls["unresolved"])
    more = {name: n - done["totals_before"][name] for name, n in done["totals"].items()}
    assert done["totals"] == manifest.totals and (more["files"], more["calls"], more["unresolved"]) == (0, 1, 0)


class Maintaining(Progress):
    """Somebody changes a table's properties when a stage begins."""

    def __init__(self, lake: Lake, stage: str) -> None:
        self.lake, self.at = lake, stage

    def stage(self, name: str) -> None:
        if name == self.at:
            run = Run(self.lake, "upkeep", stage="maintain", pipeline="maintain")
            change_properties(run, CPG_EDGES, {"delta.randomizeFilePrefixes": "false"})


@pytest.fixture
def own(workplace: Workplace, tmp_path: Path) -> Workplace:
    """A copy."""
    shutil.copytree(workplace.folder, tmp_path / "repo")
    shutil.copytree(workplace.lake.store.path, tmp_path / "lake")
    return Workplace(create_lake(Store(str(tmp_path / "lake")), workplace.lake.session), tmp_path / "repo")


def test_a_table_that_was_looked_after_meanwhile_is_planned_again(own: Workplace, prepared_lake: PreparedLake) -> None:
    own.write(user="from pkg.base import used\n\n\ndef there():\n    return used(), used()\n")
    done = build(own.lake, own.reading(), limits=Limits(), progress=Maintaining(own.lake, "graph"))
    of_edges = f"SELECT * FROM commits WHERE run_id = '{done['run_id']}' AND table_name = 'cpg_edges'"
    [edges] = own.ask(COMMITS, of_edges)
    assert edges["n_attempts"] == 2
    anew = prepared_lake(own.folder.with_name("anew"))
    build(anew, own.reading(), limits=Limits())
    check(own.lake, anew, "looked after meanwhile")


def test_a_lost_file_of_the_lake_ends_the_build_with_its_name(own: Workplace) -> None:
    for file in (own.lake.store.path / "links").glob("*.parquet"):
        file.unlink()
    own.write(other=TREE["pkg/other.py"] + "\n\ndef more():\n    return apart()\n")
    with pytest.raises(PinUnavailable, match=r"links/part-.*parquet"):
        own.build()


def test_an_edit_needs_no_session(workplace: Workplace) -> None:
    def never() -> SparkSession:
        raise AssertionError("a session was asked for")

    alone = replace(workplace, lake=Lake(workplace.lake.store, Starting(never)))
    workplace.write(fresh="from pkg.base import unused\n\n\ndef late():\n    return unused()\n")
    (workplace.folder / "pkg" / "again.py").unlink()
    assert {"evidence", "links", "cpg_nodes", "cpg_edges_by_dst"} <= alone.build()["versions"].keys()
    assert alone.build()["versions"] == {}
    found = workplace.ask(CPG_NODES, "SELECT DISTINCT path FROM cpg_nodes WHERE kind = 'function' ORDER BY path")
    assert [row["path"] for row in found] == ["pkg/base.py", "pkg/fresh.py", "pkg/other.py", "pkg/user.py"]


def test_what_is_not_small_starts_a_session_once(workplace: Workplace) -> None:
    started: list[bool] = []

    def start() -> SparkSession:
        started.append(True)
        return workplace.lake.session

    lake = Lake(workplace.lake.store, Starting(start))
    workplace.write(other=TREE["pkg/other.py"] + "\n\ndef on_executors():\n    return apart()\n")
    with on_executors():
        assert "cpg_nodes" in replace(workplace, lake=lake).build()["versions"]
    assert started == [True]


def test_a_rule_that_changed_renders_everything_and_says_so(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[[str, str], str] = fingerprints._text
    monkeypatch.setattr(fingerprints, "_text", lambda package, name: real(package, name) + "#" * (name == "calls.py"))
    planned = workplace.plan()
    [step] = planned.steps
    assert (step.stage, step.n, step.why[0]) == ("graph", len(TREE), "rule calls changed")
    done = workplace.build()
    assert {stage["stage"]: stage["why"] for stage in done["stages"] if stage["why"]} == {
        "graph": ["rule calls changed", "what rendering does has changed"]
    }
    assert workplace.plan().steps == ()


def test_rows_behind_an_empty_chunk_are_not_lost(workplace: Workplace) -> None:
    """Spark ends at it; so does a first build of two repositories of which one has nothing that was not read."""
    one = pa.table({"path": ["a"]})
    chunked = pa.concat_tables([one, one.slice(1), pa.table({"path": ["b"]})])
    assert workplace.lake.session.createDataFrame(chunked).count() < 2  # else `frame` need not combine them
    work = Build(Run(workplace.lake, "r"), Reading([], Progress()), Limits(), Progress())
    assert sorted(row.path for row in frame(work, chunked).collect()) == ["a", "b"]
    assert frame(work, one.slice(1)).count() == 0
