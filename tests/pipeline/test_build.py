"""One repository built, built again unchanged, built again changed: on real Spark and real tables."""

from __future__ import annotations

import hashlib
import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from codelake.contracts import EVIDENCE, OPERATIONS, TABLES, Column, Table, operations
from codelake.contracts.claims import CLAIMS
from codelake.contracts.graph import GRAPH
from codelake.contracts.operations import COMMITS, SNAPSHOTS
from codelake.contracts.sources import BLOBS, DIAGNOSTICS, FILES, REPOSITORIES
from codelake.delta.changes import changes
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.errors import Conflict, ContractBroken
from codelake.extract.content import Evidence, evidence_of
from codelake.extract.guard import Extract, Limits
from codelake.extract.sources import open_sources
from codelake.ids import file_id, file_id_sql
from codelake.pipeline import contents
from codelake.pipeline.build import build, create_tables
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.pipeline.stages import STAGES
from codelake.pipeline.upkeep import new_upkeep

LIMITS = Limits(seconds=2)
SAME = b"def same():\n    return 1\n"
HOSTILE = {"crashes.py": b"# crash\n", "sleeps.py": b"# loop\n", "raises.py": b"# raise\n"}
TREE = {
    "pkg/__init__.py": b"",
    "pkg/_private.py": b"x = 1\n",
    "pkg/.hidden.py": b"y = 2\n",
    "pkg/a.py": SAME,
    "pkg/b.py": SAME,
    "pkg/latin.py": b"# coding: latin-1\nname = '\xe9'\n",
    "broken.py": b"def f(:\n    pass\n\ndef g():\n    return 1\n",
    "bytes.py": b"\0\1\2\3" * 100,
    "_version.py": b"version = '1'\n",
    "large.py": b"#" * 3000,
    **HOSTILE,
}


EMPTY = ("calls", "classes")
"""Nothing in these files calls anything, and there are no classes."""
RENDERED = [table.name for table in GRAPH if table.name not in EMPTY]


def hostile() -> Extract:
    """Pickled by value: Spark's workers do not have the tests on their path."""

    def extract(raw: bytes) -> Evidence:
        if raw == b"# crash\n":
            os.kill(os.getpid(), signal.SIGSEGV)
        while raw == b"# loop\n":
            pass
        if raw == b"# raise\n":
            raise ValueError("planted")
        return evidence_of(raw)

    return extract


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


class Told(Progress):
    def __init__(self) -> None:
        self.stages: list[str] = []
        self.n_read = 0
        self.expected = self.done = (0, 0)

    def stage(self, name: str) -> None:
        self.stages.append(name)

    def read(self, repo: str, n_bytes: int) -> None:
        self.n_read += 1

    def expect(self, n_files: int, n_bytes: int) -> None:
        self.expected = (n_files, n_bytes)

    def extracted(self, n_files: int, n_bytes: int) -> None:
        assert (n_files, n_bytes) <= self.expected
        self.done = (n_files, n_bytes)


@dataclass
class Workplace:
    lake: Lake
    folder: Path

    def build(self, *locations: str, **options: Any) -> dict[str, Any]:
        progress = options.pop("progress", Progress())
        sources = open_sources(list(locations) or [str(self.folder)], max_file_bytes=2000, **options)
        return build(self.lake, Reading(sources, progress), limits=LIMITS, progress=progress, extract=hostile())

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return scan(Run(self.lake, "reader"), table).toArrow().to_pylist()

    def versions(self) -> dict[str, int]:
        return {table.name: self.lake.log(table.name).version for table in (*STAGED, EVIDENCE)}


STAGED = (BLOBS, FILES, REPOSITORIES, DIAGNOSTICS)


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


@pytest.fixture(scope="module")
def workplace(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = tmp_path_factory.mktemp("build")
    write(place / "repo", TREE)
    (place / "repo" / "link.py").symlink_to("pkg/a.py")
    return Workplace(create_lake(Store(str(place / "lake")), spark), place / "repo")


@pytest.fixture(scope="module")
def first(workplace: Workplace, told: Told) -> dict[str, Any]:
    return workplace.build(progress=told)


def test_every_file_has_a_row_whatever_it_holds(workplace: Workplace, first: dict[str, Any]) -> None:
    files = {row["path"]: row for row in workplace.rows(FILES)}
    assert set(files) == {*TREE, "link.py"}
    found = {path: (row["status"], row["reason"]) for path, row in files.items() if row["status"] != "parsed"}
    assert found == {
        "broken.py": ("recovered", found["broken.py"][1]),
        "bytes.py": ("skipped", "no text"),
        "crashes.py": ("skipped", "extractor crashed"),
        "sleeps.py": ("skipped", "took too long"),
        "raises.py": ("skipped", "extractor failed"),
        "large.py": ("skipped", "too large"),
        "link.py": ("skipped", "symbolic link"),
    }
    assert files["pkg/a.py"]["digest"] == hashlib.sha256(SAME).hexdigest()
    assert files["pkg/a.py"]["file_id"] == file_id("repo", "pkg/a.py")
    assert (files["pkg/a.py"]["module"], files["pkg/latin.py"]["encoding"]) == ("pkg.a", "iso8859-1")


def test_a_content_is_stored_and_extracted_once(workplace: Workplace, first: dict[str, Any]) -> None:
    read = {content for path, content in TREE.items() if path != "large.py"}
    blobs = workplace.rows(BLOBS)
    assert Counter(bytes(row["content"]) for row in blobs) == Counter(dict.fromkeys(read, 1))
    assert all(row["digest"] == hashlib.sha256(row["content"]).hexdigest() for row in blobs)
    evidence = workplace.rows(EVIDENCE)
    assert sorted(row["digest"] for row in evidence) == sorted(row["digest"] for row in blobs)
    nodes = {row["digest"]: row["nodes"] for row in evidence}
    assert b"ModuleFunctionDef" in nodes[hashlib.sha256(SAME).hexdigest()]


def test_what_was_wrong_is_said(workplace: Workplace, first: dict[str, Any]) -> None:
    found = {(row["path"], row["kind"]): row for row in workplace.rows(DIAGNOSTICS)}
    assert set(found) == {
        ("broken.py", "syntax"),
        ("bytes.py", "no text"),
        ("crashes.py", "extractor crashed"),
        ("sleeps.py", "took too long"),
        ("raises.py", "extractor failed"),
        ("large.py", "too large"),
        ("link.py", "symbolic link"),
    }
    assert "SIGSEGV" in found["crashes.py", "extractor crashed"]["message"]
    assert "ValueError: planted" in found["raises.py", "extractor failed"]["message"]
    assert "3,000 bytes" in found["large.py", "too large"]["message"]


def test_what_was_done_is_told_and_recorded(workplace: Workplace, first: dict[str, Any], told: Told) -> None:
    [repository] = workplace.rows(REPOSITORIES)
    assert (repository["repo"], repository["source"], repository["is_dirty"]) == ("repo", "tree", False)
    [counted] = first["repositories"]
    n = Counter(row["status"] for row in workplace.rows(FILES))
    assert {status: counted[f"n_{status}"] for status in n} == n
    assert (counted["n_files"], first["n_contents_stored"], first["n_contents_extracted"]) == (14, 11, 11)
    of_sources = ("blobs", "diagnostics", "evidence", "files", "repositories", "stubs")
    assert first["versions"] == dict.fromkeys((*of_sources, *RENDERED), 1)
    assert told.stages == [stage.name for stage in STAGES]
    assert told.n_read == 14
    assert told.done == told.expected == (11, sum(map(len, {c for p, c in TREE.items() if p != "large.py"})))
    commits = [row for row in workplace.rows(COMMITS) if row["run_id"] == first["run_id"]]
    assert {row["table_name"]: row["stage"] for row in commits if row["table_name"] not in EMPTY} == {
        "blobs": "contents",
        "evidence": "evidence",
        "diagnostics": "files",
        "repositories": "files",
        "files": "files",
        **dict.fromkeys(RENDERED, "graph"),
        "links": "link",
        "stubs": "stubs",
    }


def test_nothing_new_is_not_parsed_and_commits_nothing(workplace: Workplace, first: dict[str, Any]) -> None:
    before = workplace.versions()
    again = workplace.build()
    assert (again["n_contents_stored"], again["n_contents_extracted"], again["versions"]) == (0, 0, {})
    assert workplace.versions() == before
    assert again["repositories"] == first["repositories"]


def test_nothing_is_deleted_by_force_while_a_build_reads(workplace: Workplace, first: dict[str, Any]) -> None:
    run = new_upkeep(replace(workplace.lake, lock_timeout=0.1))

    class Meanwhile(Told):
        def stage(self, name: str) -> None:
            super().stage(name)
            with pytest.raises(Conflict, match=rf"pins.lock.*{os.getpid()}"):
                vacuum(run, BLOBS.name, retain=timedelta(0), force=True)

    meanwhile = Meanwhile()
    workplace.build(progress=meanwhile)
    assert meanwhile.stages == [stage.name for stage in STAGES]
    vacuum(run, CLAIMS.name, retain=timedelta(0), force=True)


def test_a_change_is_all_that_the_change_feed_shows(workplace: Workplace, first: dict[str, Any]) -> None:
    before = workplace.versions()
    write(workplace.folder, {"pkg/b.py": b"def other():\n    return 2\n", "new.py": SAME})
    (workplace.folder / "_version.py").unlink()
    done = workplace.build()
    assert (done["n_contents_stored"], done["n_contents_extracted"]) == (1, 1)
    assert {"blobs", "evidence", "files", "links", "cpg_nodes"} <= set(done["versions"])
    ran = {row["stage"]: row for row in workplace.rows(operations.STAGES) if row["run_id"] == done["run_id"]}
    assert [(ran[name]["n_hits"], ran[name]["n_misses"]) for name in ("contents", "evidence")] == [(10, 1)] * 2
    feed = changes(Run(workplace.lake, "reader"), FILES, after=before["files"]).collect()
    assert sorted((row["_change_type"], row["path"]) for row in feed) == [
        ("delete", "_version.py"),
        ("delete", "pkg/b.py"),
        ("insert", "new.py"),
        ("insert", "pkg/b.py"),
    ]


@pytest.mark.slow
def test_the_same_contents_in_another_repository_are_not_parsed_again(
    workplace: Workplace, first: dict[str, Any], tmp_path: Path
) -> None:
    before = workplace.versions()
    write(tmp_path / "it's a fork", {"deep/er/a.py": SAME, "secret/key.py": b"password = 'x'\n"})
    done = workplace.build(str(tmp_path / "it's a fork"), exclude=["secret/"])
    assert (done["n_contents_stored"], done["n_contents_extracted"]) == (0, 0)
    after = workplace.versions()
    assert (after["blobs"], after["evidence"]) == (before["blobs"], before["evidence"])
    assert not any(b"password" in row["content"] for row in workplace.rows(BLOBS))
    files = [row for row in workplace.rows(FILES) if row["repo"] == "it's a fork"]
    assert [(row["path"], row["status"]) for row in files] == [("deep/er/a.py", "parsed")]
    assert len({row["repo"] for row in workplace.rows(REPOSITORIES)}) == 2


@pytest.mark.slow
def test_a_build_goes_on_where_another_one_died(
    workplace: Workplace, first: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "late", {"late.py": b"late = 1\n", "later.py": b"late = 2\n"})

    def died(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("codelake.pipeline.extraction.evidence", died)
        workplace.build(str(tmp_path / "late"))
    assert "late" not in {row["repo"] for row in workplace.rows(FILES)}
    done = workplace.build(str(tmp_path / "late"))
    assert (done["n_contents_stored"], done["n_contents_extracted"]) == (0, 2)
    assert {row["path"] for row in workplace.rows(FILES) if row["repo"] == "late"} == {"late.py", "later.py"}


@pytest.mark.slow
def test_two_builds_at_once_store_a_content_once(
    workplace: Workplace, first: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one commits between the look at what is there and the commit."""
    content = {"raced.py": b"raced = 1\n"}
    write(tmp_path / "one", content)
    write(tmp_path / "two", content)
    real: Callable[..., Any] = contents.rows_of
    others = []

    def overtaken(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        if not others:
            others.append("two")
            others.append(workplace.build(str(tmp_path / "two")))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(contents, "rows_of", overtaken)
        done = workplace.build(str(tmp_path / "one"))
    assert (others[1]["n_contents_stored"], done["n_contents_stored"]) == (1, 0)
    digest = hashlib.sha256(content["raced.py"]).hexdigest()
    assert [row["digest"] for row in workplace.rows(BLOBS)].count(digest) == 1
    assert {row["repo"] for row in workplace.rows(FILES) if row["path"] == "raced.py"} == {"one", "two"}


def test_a_pin_is_a_row_of_snapshots_once(workplace: Workplace, first: dict[str, Any]) -> None:
    pins = Counter((row["run_id"], row["table_name"], row["version"]) for row in workplace.rows(SNAPSHOTS))
    assert set(pins.values()) == {1}


def test_every_table_but_those_of_operations_has_a_stage_that_writes_it() -> None:
    written = {table.name for stage in STAGES for table in stage.writes}
    assert {table.name for table in TABLES} - written == {table.name for table in OPERATIONS} - {"quality"}


def test_the_ids_of_python_and_sql_are_the_same(spark: SparkSession) -> None:
    cases = [("repo", "a/b.py"), ("a:b", "c"), ("a", "b:c"), ("r %", "x y#z%20.py "), ("ünï", "é/\\x'\".py")]
    frame = spark.createDataFrame(cases, "repo string, path string")
    rows = frame.selectExpr("repo", "path", f"{file_id_sql()} AS id").collect()
    assert {row.id for row in rows} == {file_id(repo, path) for repo, path in cases}
    assert len({row.id for row in rows}) == len(cases) and not any(" " in row.id for row in rows)


def test_a_lake_of_another_version_is_named_and_left_as_it_is(lake_root: Path, spark: SparkSession) -> None:
    lake = create_lake(Store(str(lake_root)), spark)
    nodes = Column("nodes", "array<struct<kind:string>>", "as they were once")
    columns = tuple(nodes if column.name == "nodes" else column for column in EVIDENCE.columns)
    create_table(lake, replace(EVIDENCE, columns=columns))
    with pytest.raises(ContractBroken, match=r"table evidence, retyped nodes: .* build a new one \(`--lake`\)"):
        create_tables(lake)
    assert lake.log(EVIDENCE.name).version == 0
