from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.lakes import PreparedLake

from codelake import contracts
from codelake.contracts.graph import CPG_NODES
from codelake.contracts.table import Upkeep
from codelake.delta.lake import open_lake
from codelake.delta.store import Store


def git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
def test_a_repository_is_built_and_built_again_at_a_revision(
    run: Run, tmp_path: Path, prepared_lake: PreparedLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_lake(tmp_path / ".codelake")
    repository = tmp_path / "shelf"
    repository.mkdir()
    (repository / "books.py").write_text("def count(books):\n    return len(books)\n")
    (repository / "broken.py").write_text("def count(:\n")
    git(repository, "init")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "first")
    (repository / "books.py").write_text("def count(books):\n    return 3\n")
    code, said, messages = run("build", "shelf")
    assert (code, messages) == (0, "")
    assert (
        ", with changes: 2 files, 3 lines\n  1 parsed, 1 recovered, 0 skipped; the table diagnostics says why" in said
    )
    assert "2 contents: 2 parsed now, 0 known before" in said
    assert "changed in .codelake: blobs, " in said
    assert ", cpg_edges, " in said
    assert "graph: 2 files, " in said and " edges, 0 calls, 0 of them without a target\n" in said

    monkeypatch.setattr(contracts, "TABLES", (replace(CPG_NODES, upkeep=Upkeep(small_files=1)),))
    code, said, messages = run("build", "shelf", "--rev", "HEAD", "--exclude", "broken.py", "--json")
    found = json.loads(said)
    assert code == 0
    advice = "questions are faster after `codelake maintain`: cpg_nodes has "
    assert messages.startswith(advice) and messages.endswith(" files below 16 MiB\n")
    assert (found["n_contents_extracted"], found["lake"]) == (1, ".codelake")
    [one] = found["repositories"]
    assert (one["repo"], one["source"], one["is_dirty"], one["n_files"]) == ("shelf", "revision", False, 1)
    # The lake is in the working tree, and no part of it.
    git(repository.parent, "init")
    assert (tmp_path / ".codelake" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("nowhere",), 2, "nothing of that name"),
        (("--from-file", "nowhere"), 2, "a file with one location a line"),
        ((".", "a", "--name", "b"), 2, "Name each of them: b=PATH."),
        ((".", "--rev", "HEAD"), 2, "a folder that is in none"),
        ((".", "--include", "!x"), 2, "a pattern that includes something"),
        (("--lake", "here"), 3, "A lake owns its folder"),
        (("hostile.zip",), 3, "hostile.zip"),
        (("--remote", "sc://127.0.0.1:1"), 5, "does not answer"),
    ],
)
def test_what_is_wrong_is_said_before_spark_starts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, text: str
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x").touch()
    with zipfile.ZipFile(tmp_path / "hostile.zip", "w") as archive:
        archive.writestr("../outside.py", "x = 1\n")

    def start(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("codelake.session.gateway.start", start)
    found, said, messages = run("build", *arguments)
    assert (found, said) == (code, "") and text in messages
    if "--remote" not in arguments:
        assert not (tmp_path / ".codelake").exists()


def test_each_source_that_cannot_be_read_is_named_beside_those_that_can(run: Run, tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "a.py").touch()
    for name in ("one.zip", "two.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("../outside.py", "x = 1\n")
    code, said, messages = run("plan", "good", "one.zip", "two.zip")
    assert code == 3 and "good:a.py: new file" in said
    assert "one.zip" in messages and "two.zip" in messages


def test_a_plan_of_a_range_is_one_document(run: Run, tmp_path: Path) -> None:
    git(tmp_path, "init")
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).touch()
        git(tmp_path, "add", name)
        git(tmp_path, "commit", "-m", name)
    code, said, _ = run("plan", "--rev", "HEAD~2..HEAD", "--json", "--quiet")
    files = [{file["path"] for file in one["steps"][2]["files"]} for one in json.loads(said)]
    assert (code, files) == (0, [{"a.py", "b.py"}, {"a.py", "b.py", "c.py"}])
    code, said, _ = run("plan", "--rev", "HEAD~2..HEAD", "--quiet")
    assert code == 0 and said.count(", compared with the lake as it is\n") == 2


def below(pid: int) -> Iterator[int]:
    """The processes that a process started, and those they did."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            yield int(stat.parent.name)
            yield from below(int(stat.parent.name))


def depth(pid: int, above: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1 if int(fields[1]) == above else 1 + depth(int(fields[1]), above)


def extracts(pid: int) -> bool:
    """Whether a child of a Python worker is at work: codelake, its JVM, the daemon, a worker, the child."""
    try:
        return any(depth(each, pid) == 4 for each in below(pid))
    except (OSError, IndexError):
        return False


@pytest.mark.slow
def test_an_interrupt_ends_everything_at_once(prepared_lake: PreparedLake, tmp_path: Path) -> None:
    prepared_lake(tmp_path / "lake")
    folder = tmp_path / "large"
    folder.mkdir()
    for n in range(30):
        (folder / f"m{n}.py").write_text("\n".join(f"def f{i}(a, b={n}):\n    return a + b * {i}" for i in range(4000)))
    command = [sys.executable, "-c", "from codelake.cli.main import main; main()", "build", "large", "--lake", "lake"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    while not extracts(process.pid):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    started = set(below(process.pid))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    # Only against hanging: cores are shared with other tests. Had it gone on, there would be evidence, see below.
    _, messages = process.communicate(timeout=300)
    assert process.returncode == 130
    # click itself ends the line that a terminal shows ^C on.
    assert messages.strip() == "codelake: interrupted; the lake keeps what it had, the next build goes on from there"
    deadline = time.monotonic() + 300
    while left := [pid for pid in started if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.05)
    lake = open_lake(Store(str(tmp_path / "lake")))
    assert {name: lake.log(name).version for name in ("blobs", "evidence", "files")} == {
        "blobs": 1,
        "evidence": 0,
        "files": 0,
    }
    assert not list((tmp_path / "lake" / "files").glob("*.parquet"))
