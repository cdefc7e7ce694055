"""Repositories of others: nothing that they name is run, and git does not ask whose they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelake.errors import Unavailable
from codelake.extract.sources import Reason, open_source
from tests.extract.sources.conftest import NOBODY, commit, git, repository, rows, write


@pytest.fixture
def trap(tmp_path: Path) -> tuple[Path, Path]:
    """A program, and the file that it makes when it runs."""
    sprung = tmp_path / "sprung"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {sprung}\n")
    program.chmod(0o755)
    return program, sprung


def test_no_program_of_the_repository_runs(tmp_path: Path, trap: tuple[Path, Path]) -> None:
    program, sprung = trap
    files = {
        "a.py": "1",
        "b.py": "2",
        "c.py": "3",
        ".gitattributes": "a.py filter=f diff=d\nb.py filter=x=y\nc.py filter=p\n",
    }
    root = repository(tmp_path / "r", files)
    config = (root / ".git" / "config").read_text()
    (root / ".git" / "config").write_text(
        f"""{config}
[core]
    fsmonitor = {program}
    hooksPath = {program.parent}
    pager = {program}
    sshCommand = {program}
    gitProxy = {program}
    alternateRefsCommand = {program}
[filter "f"]
    clean = {program}
    smudge = {program}
    required
[filter "x=y"]
    clean = {program}
[filter "p"]
    process = {program}
    required = true
[diff "d"]
    textconv = {program}
    command = {program}
[diff]
    external = {program}
[log]
    showSignature = true
[gpg]
    program = {program}
[credential]
    helper = {program}
[status]
    submoduleSummary = true
"""
    )
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc"):
        (root / ".git" / "hooks" / hook).write_bytes(program.read_bytes())
        (root / ".git" / "hooks" / hook).chmod(0o755)
    os.utime(root / "a.py", (1, 1))
    for name in ("b.py", "c.py"):
        write(root, {name: "changed"})
    source = open_source(root)
    assert len(rows(source)) == 3
    assert source.is_dirty
    assert len(rows(open_source(root, rev="HEAD"))) == 3
    assert not sprung.exists(), sprung.read_text()


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_a_partial_clone_does_not_call_its_remote(left_out: str, tmp_path: Path, trap: tuple[Path, Path]) -> None:
    program, sprung = trap
    root = repository(tmp_path / "r", {"a.py": "1", "b.py": "2"})
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", f"--filter={left_out}", f"file://{root}", "p")
    partial = tmp_path / "p"
    git(partial, "config", "remote.origin.uploadpack", str(program))
    git(partial, "config", "protocol.allow", "always")
    if left_out == "blob:none":
        assert {file.reason for file in open_source(partial, rev="HEAD").files()} == {Reason.NOT_FETCHED}
        assert open_source(partial).is_dirty
    else:
        with pytest.raises(Unavailable, match="git ls-tree"):
            list(open_source(partial, rev="HEAD").files())
    assert rows(open_source(partial)) == {}
    assert not sprung.exists(), sprung.read_text()


def test_a_submodule_is_not_asked(tmp_path: Path, trap: tuple[Path, Path]) -> None:
    program, sprung = trap
    other = repository(tmp_path / "other", {"o.py": "1"})
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(root, "submodule", "--quiet", "add", str(other), "other")
    commit(root)
    git(root / "other", "config", "core.fsmonitor", str(program))
    write(root, {"other/o.py": "changed"})
    source = open_source(root)
    assert rows(source)["other"].reason is Reason.SUBMODULE and not source.is_dirty
    assert not sprung.exists(), sprung.read_text()


def test_a_worktree_elsewhere_is_not_believed(tmp_path: Path) -> None:
    write(tmp_path / "secret", {"s.py": "secret"})
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(root, "config", "core.worktree", str(tmp_path / "secret"))
    assert list(rows(open_source(root))) == ["a.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_repository_of_another_user(open_folder: Path) -> None:
    root = repository(open_folder / "r", {"a.py": "1"})
    git(open_folder, "clone", "--quiet", "--bare", str(root), "b.git")
    for path in (open_folder, *open_folder.rglob("*")):
        os.chown(path, 1234, 1234)
    os.seteuid(NOBODY)
    try:
        assert list(rows(open_source(root))) == ["a.py"]
        assert not open_source(root).is_dirty
        assert list(rows(open_source(open_folder / "b.git", rev="HEAD"))) == ["a.py"]
    finally:
        os.seteuid(0)


def test_nothing_is_written_to_the_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    os.utime(root / "a.py", (1, 1))

    def state() -> dict[str, tuple[int, int]]:
        found = ((path, path.lstat()) for path in sorted(root.rglob("*")))
        return {str(path): (about.st_mtime_ns, about.st_size) for path, about in found}

    before = state()
    source = open_source(root)
    rows(source)
    rows(open_source(root, rev="HEAD"))
    assert not source.is_dirty
    assert state() == before
