"""The graph follows from the sources alone: not from where and in which parts and order they are worked on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from codelake.contracts import Table
from codelake.contracts.graph import CPG_EDGES, CPG_NODES, LINKS, RENDERED
from codelake.contracts.operations import MAINTENANCE
from codelake.delta.changes import changes
from codelake.delta.checks import check_table
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.reading import Reader
from codelake.graph.link.kernel import link
from codelake.graph.link.stubs import Stubs
from codelake.pipeline import extraction, graph, here
from codelake.pipeline.build import BUILT
from codelake.query.engine import LOOKED_UP
from codelake.query.published import published
from tests.delta.things import new_run, stored
from tests.extract.packages import fetched
from tests.graph.linking import shuffled
from tests.lakes import PreparedLake
from tests.properties.test_incremental import built, rows

OWN = Path(__file__).parents[2] / "src" / "codelake" / "graph" / "render"


def on_spark(monkeypatch: pytest.MonkeyPatch, part_bytes: int, *, handed: bool) -> None:
    """Rendered by Spark's workers, from what they are handed; or they also link, and read everything themselves."""
    monkeypatch.setattr(here, "RENDERED_HERE", 0)
    monkeypatch.setattr(extraction, "_FEW", 0)
    monkeypatch.setattr(graph, "_PART_BYTES", part_bytes)
    if not handed:
        monkeypatch.setattr(here, "LINKED_HERE", 0)
        monkeypatch.setattr(extraction, "_HANDED", 0)
        monkeypatch.setattr(graph, "_HANDED", 0)


def backwards(table: pa.Table, stubs: Stubs) -> pa.Table:
    return link(shuffled(table), stubs, backwards=True)


@pytest.mark.parametrize("handed", [True, False])
def test_a_task_writes_a_range_of_paths(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handed: bool
) -> None:
    """What is known of one file lies together: an edit finds it without reading all there is."""
    repo = tmp_path / "repo"
    repo.mkdir()
    for n in range(12):
        (repo / f"m{n:02}.py").write_text("def f(a):\n    return a\n" * 20)
    on_spark(monkeypatch, part_bytes=(repo / "m00.py").stat().st_size * 3, handed=handed)
    built(lake, repo)
    actions = pa.table(DeltaTable(lake.uri(CPG_NODES.name)).get_add_actions(flatten=True)).to_pylist()
    ranges = sorted((one["min.path"], one["max.path"]) for one in actions if (one["min.path"] or "").endswith(".py"))
    assert ranges == [(f"m{n:02}.py", f"m{n + 2:02}.py") for n in range(0, 12, 3)]


def test_where_most_is_another_all_is_written_anew(
    prepared_lake: PreparedLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is marked as deleted, which would slow down what is looked up."""
    repo = tmp_path / "repo"
    repo.mkdir()
    for name in "abcd":
        (repo / f"{name}.py").write_text(f"def {name}(x):\n    return x\n" * 20)
    on_spark(monkeypatch, part_bytes=1 << 10, handed=True)
    lake = prepared_lake(tmp_path / "lake")
    built(lake, repo)
    for changed, mode in (("abc", "overwrite"), ("d", "replace")):
        for name in changed:
            (repo / f"{name}.py").write_text(f"import d\n\ndef {name}(x):\n    return d.d(x)\n" * 20)
        built(lake, repo)
        commits = [newest_own_commit(lake.log(table.name), stage="graph") for table in (CPG_NODES, CPG_EDGES)]
        assert [commit and commit.own["mode"] for commit in commits] == [mode, mode]
        assert lake.log(CPG_NODES.name).deletion_vectors.num_rows == 0
        anew = prepared_lake(tmp_path / mode)
        built(anew, repo)
        for table in BUILT:
            assert rows(lake, table) == rows(anew, table), table.name


def test_what_questions_look_up_has_no_vectors_after_a_build_on_a_local_disk(
    prepared_lake: PreparedLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere, which a lake without locks stands for here, rows that Spark replaces stay marked: that is cheap there.
    Rows and change feeds are the same, what is published is what was written anew, and the next build has nothing to
    do."""
    repo = tmp_path / "repo"
    repo.mkdir()
    for name in "abcd":
        (repo / f"{name}.py").write_text(f"def {name}(x):\n    return print({name}(x))\n" * 20)
    on_spark(monkeypatch, part_bytes=1 << 20, handed=True)
    lakes = [prepared_lake(tmp_path / "lake"), replace(prepared_lake(tmp_path / "elsewhere"), locking=False)]
    for lake in lakes:
        built(lake, repo)
    before = [{table.name: lake.log(table.name).version for table in RENDERED} for lake in lakes]
    (repo / "b.py").write_text("def b(x):\n    return print(x)\n" * 20)
    for lake in lakes:
        built(lake, repo)
    looked_up = [table for table in RENDERED if table.layout.without_vectors]
    assert {table.name for table in looked_up} == set(LOOKED_UP) - {CPG_EDGES.name}
    vectors = [[bool(lake.log(table.name).deletion_vectors.num_rows) for table in looked_up] for lake in lakes]
    assert vectors == [[False] * len(looked_up), [True] * len(looked_up)]
    feeds = [
        [feed(lake, table, versions[table.name]) for table in (*looked_up, CPG_EDGES)]
        for lake, versions in zip(lakes, before, strict=True)
    ]
    assert feeds[0] == feeds[1] and all(feeds[0])
    for table in BUILT:
        assert rows(lakes[0], table) == rows(lakes[1], table), table.name
    versions = published(Reader(lakes[0].store)).versions
    assert all(versions[table.name] == lakes[0].log(table.name).version for table in looked_up)
    done = stored(lakes[0], MAINTENANCE)
    assert {(row[2], row[3]) for row in done} == {(table.name, "optimize") for table in looked_up}
    for lake in lakes:
        assert not built(lake, repo)["versions"]
    found = [one for table in looked_up for one in check_table(lakes[0], table.name, table, thorough=True)]
    assert [one for one in found if one.level == "fault"] == []


def feed(lake: Lake, table: Table, after: int) -> Counter[tuple[Any, ...]]:
    shown = (*table.key, "_change_type")
    return Counter(map(tuple, changes(new_run(lake), table, after=after).select(*shown).collect()))


@pytest.mark.parametrize(
    "package", [pytest.param("", marks=pytest.mark.slow), pytest.param("django==5.2", marks=pytest.mark.soak)]
)
def test_the_rows_are_the_same(
    package: str, prepared_lake: PreparedLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here or by Spark's workers, from what they read or are handed, in few or many parts, files and worklist from the
    first or from the last."""
    folder = fetched(package, tmp_path) if package else OWN
    found: list[dict[str, Any]] = []
    for name in ("here", "backwards", "spark"):
        with monkeypatch.context() as patched:
            if name == "backwards":
                patched.setattr(here, "link", backwards)
                on_spark(patched, part_bytes=1 << 20 if package else 32 << 10, handed=True)
            if name == "spark":
                on_spark(patched, part_bytes=256 << 10 if package else 16 << 10, handed=False)
            lake = prepared_lake(tmp_path / name)
            built(lake, folder)
            found.append({table.name: rows(lake, table) for table in BUILT})
            assert len(found[-1][LINKS.name]) > 10
    for table in BUILT:
        assert found[0][table.name] == found[1][table.name] == found[2][table.name], table.name
