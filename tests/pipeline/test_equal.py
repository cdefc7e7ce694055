"""The same source gives the same evidence: as tree, revision or archive, in any order and any number of tasks."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from codelake.contracts import EVIDENCE, Table
from codelake.contracts.arrow import arrow_schema
from codelake.contracts.sources import BLOBS, FILES
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.extract.guard import Limits
from codelake.extract.run import evidence
from codelake.extract.sources import open_sources
from codelake.extract.tasks import balanced
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.extract import hostile
from tests.lakes import PreparedLake

CONTENTS = {
    "pkg/__init__.py": b"from .good import f\n",
    "pkg/good.py": b"def f(x):\n    return g(x)\n",
    "pkg/_private.py": b"x = 1\n",
    "pkg/latin.py": "# coding: latin-1\ns = 'é'\n".encode("latin-1"),
    "pkg/two.py": b"print 'Python 2'\n",
    "pkg/secret.py": b"password = 'hunter2'\n",
    "pkg/notes.txt": b"not Python",
    "script": b"#!/usr/bin/env python3\nrun()\n",
}


def git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "tester" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sources") / "repository"
    for path, content in CONTENTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    git(root, "archive", "--output", "../repository.tar.gz", "HEAD")
    return root


def built(lake: Lake, location: str | Path, **options: Any) -> Mapping[str, Any]:
    return build(lake, Reading(open_sources([location], **options), Progress()), limits=Limits())


def rows(lake: Lake, table: Table) -> list[dict[str, Any]]:
    found = scan(Run(lake, "reader"), table).toArrow().to_pylist()
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=bytes.hex))


@pytest.mark.slow
def test_each_kind_of_source_gives_equal_evidence_in_a_lake_of_its_own(
    prepared_lake: PreparedLake, repository: Path, tmp_path: Path
) -> None:
    found = []
    sources = ((repository, {}), (f"repository={repository}", {"rev": "HEAD"}), (f"{repository}.tar.gz", {}))
    for n, (source, options) in enumerate(sources):
        own = prepared_lake(tmp_path / f"lake{n}")
        assert built(own, source, **options)["n_contents_extracted"] == 7
        found.append((rows(own, FILES), rows(own, EVIDENCE)))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_repository_as_tree_revision_and_archive(lake: Lake, repository: Path) -> None:
    assert built(lake, repository)["n_contents_extracted"] == 7
    files, seen = rows(lake, FILES), rows(lake, EVIDENCE)
    assert {row["path"] for row in files} == CONTENTS.keys() - {"pkg/notes.txt"}
    for source, options in ((f"repository={repository}", {"rev": "HEAD"}), (f"{repository}.tar.gz", {})):
        same = built(lake, source, **options)
        assert (same["n_contents_stored"], same["n_contents_extracted"]) == (0, 0)
        assert "files" not in same["versions"]
    assert (rows(lake, FILES), rows(lake, EVIDENCE)) == (files, seen)


@pytest.mark.slow
def test_what_is_excluded_leaves_no_bytes(lake: Lake, repository: Path) -> None:
    built(lake, repository, exclude=["secret.py"])
    assert [row["path"] for row in rows(lake, FILES) if "secret" in row["path"]] == []
    assert sorted(row["content"] for row in rows(lake, BLOBS)) == sorted(
        content for path, content in CONTENTS.items() if path not in ("pkg/secret.py", "pkg/notes.txt")
    )


def extracted(
    spark: SparkSession, contents: list[bytes], monkeypatch: pytest.MonkeyPatch, *, task_bytes: int
) -> tuple[int, list[tuple[Any, ...]]]:
    """The number of tasks; digest, status and a hash over all columns of each row of evidence."""
    monkeypatch.setattr("codelake.extract.tasks.TASK_BYTES", (task_bytes, task_bytes))
    by_digest = {hashlib.sha256(content).hexdigest(): content for content in contents}
    sizes = {digest: len(content) for digest, content in by_digest.items()}
    table = pa.table([list(by_digest), list(by_digest.values()), list(sizes.values())], schema=arrow_schema(BLOBS))
    tasks = balanced(sizes)
    found: DataFrame = evidence(spark.createDataFrame(table), tasks, limits=Limits())
    whole = F.sha2(F.to_json(F.struct(*map(F.col, EVIDENCE.column_names))), 256)
    return len(tasks), sorted(map(tuple, found.select("digest", "status", whole).collect()))


def same_at_one_and_at_four(
    spark: SparkSession, contents: list[bytes], monkeypatch: pytest.MonkeyPatch, chance: random.Random
) -> None:
    distinct = set(contents)
    one, first = extracted(spark, contents, monkeypatch, task_bytes=1 << 40)
    chance.shuffle(contents)
    quarter = (sum(map(len, distinct)) + 1024 * len(distinct)) // 4 + 1
    four, second = extracted(spark, contents, monkeypatch, task_bytes=quarter)
    assert (one, four) == (1, 4)
    assert len(first) == len(distinct)
    assert first == second


@pytest.mark.slow
def test_hostile_contents_at_one_and_at_four_tasks(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(4)
    contents = [content for _, content in hostile.files(seed=4, n=10_000) if len(content) < 20_000]
    same_at_one_and_at_four(spark, chance.sample(contents, 300), monkeypatch, chance)


@pytest.mark.soak
def test_rows_that_the_jvm_could_not_hold_do_not_stop_a_build(lake: Lake, tmp_path: Path) -> None:
    """Each parameter's label has the name of the function in it."""
    folder = tmp_path / "fat"
    folder.mkdir()
    for n in range(20):
        (folder / f"thin{n}.py").write_text(f"x = {n}\n")
    for n, n_parameters in enumerate((20, 1200) * 4):
        parameters = ", ".join(f"a{i}" for i in range(n_parameters))
        (folder / f"fat{n}.py").write_text(f"def {'f' * (100_000 + n)}({parameters}): pass\n")
    built(lake, folder)
    assert Counter((row["status"], row["reason"]) for row in rows(lake, FILES)) == {
        ("parsed", None): 24,
        ("skipped", "too large"): 4,
    }


@pytest.mark.soak
def test_ten_thousand_hostile_contents_at_one_and_at_four_tasks(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    contents = [content for _, content in hostile.files(seed=seed, n=10_000)]
    same_at_one_and_at_four(spark, contents, monkeypatch, random.Random(seed))
