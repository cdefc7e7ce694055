from __future__ import annotations

import hashlib
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codelake.errors import Refused, Unavailable, UsageError
from codelake.extract.sources import Reason, open_source, revision
from tests.extract.sources.conftest import commit, git, repository, rows, write


def test_each_revision_has_its_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "sub/b.py": "2"})
    first = git(root, "rev-parse", "HEAD")
    git(root, "tag", "--annotate", "v1", "--message", "one")
    write(root, {"a.py": "changed", "new.py": "3"})
    second = commit(root)
    write(root, {"a.py": "not committed", "untracked.py": "4"})
    for rev, expected, contents in [
        ("v1", first, [b"1", b"2"]),
        ("HEAD~1", first, [b"1", b"2"]),
        (first[:10], first, [b"1", b"2"]),
        ("main", second, [b"changed", b"3", b"2"]),
        (":/some change", second, [b"changed", b"3", b"2"]),
    ]:
        source = open_source(root, rev=rev)
        assert (source.revision, source.kind, source.is_dirty) == (expected, "revision", False)
        assert source.committed_at == datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)
        assert [file.content for file in rows(source).values()] == contents


def test_a_folder_of_a_revision(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "sub/b.py": "2", "subway/c.py": "3"})
    source = open_source(root / "sub", rev="HEAD")
    assert (source.repo, list(rows(source))) == ("sub", ["b.py"])
    write(root, {"fresh/d.py": "4"})
    with pytest.raises(UsageError, match="expected the folder fresh in that commit"):
        list(open_source(root / "fresh", rev="HEAD").files())


def test_submodules_and_links(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"o.py": "1"})
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(root, "submodule", "--quiet", "add", str(other), "libs/other")
    (root / "out.py").symlink_to("/etc/passwd")
    commit(root)
    found = rows(open_source(root, rev="HEAD"))
    assert {path: file.reason for path, file in found.items()} == {
        "a.py": None,
        "libs/other": Reason.SUBMODULE,
        "out.py": Reason.SYMBOLIC_LINK,
    }
    assert git(other, "rev-parse", "HEAD") in str(found["libs/other"].problem)
    assert found["out.py"].problem == "a symbolic link to /etc/passwd, out of the source"


@pytest.mark.parametrize("rev", ["nothing", "", "-x", "--all", "HEAD\nHEAD", "HEAD:a.py", "HEAD^{tree}", "0" * 40])
def test_revisions_that_are_none(rev: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    with pytest.raises(UsageError, match="expected a commit, a branch or a tag; found no commit of that name"):
        open_source(root, rev=rev)


def test_an_abbreviation_that_fits_two_commits(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    seen: dict[str, bytes] = {}
    tree = git(root, "rev-parse", "HEAD^{tree}")
    for number in range(5000):
        content = raw(tree, number)
        name = hashlib.sha1(b"commit %d\0" % len(content) + content).hexdigest()
        if name[:4] in seen:
            for given in (content, seen[name[:4]]):
                git(root, "hash-object", "-w", "-t", "commit", "--stdin", given=given)
            break
        seen[name[:4]] = content
    with pytest.raises(UsageError, match="no commit of that name"):
        open_source(root, rev=name[:4])


def raw(tree: str, number: int, time: str = "1 +0000") -> bytes:
    return f"tree {tree}\nauthor a <a> {time}\ncommitter a <a> {time}\n\n{number}".encode()


@pytest.mark.parametrize(("second", "year"), [("-1", 1969), ("99999999999999", None), ("9" * 30, None)])
def test_times_that_do_not_exist(second: str, year: int | None, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    given = raw(git(root, "rev-parse", "HEAD^{tree}"), 0, f"{second} +0000")
    name = git(root, "hash-object", "--literally", "-w", "-t", "commit", "--stdin", given=given)
    committed_at = open_source(root, rev=name).committed_at
    assert (committed_at.year if committed_at else None) == year


def test_shallow_clones(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    first = git(root, "rev-parse", "HEAD")
    write(root, {"b.py": "2"})
    commit(root)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{root}", "shallow")
    assert list(rows(open_source(tmp_path / "shallow", rev="HEAD"))) == ["a.py", "b.py"]
    with pytest.raises(UsageError, match="git fetch --unshallow"):
        open_source(tmp_path / "shallow", rev=first)


def test_partial_clones_fetch_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "sub/b.py": "2", "tool": "#!/usr/bin/python"})
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{root}", "partial")
    partial = tmp_path / "partial"
    git(partial, "sparse-checkout", "set", "sub")
    git(partial, "checkout", "--quiet", "main", "--", "sub")
    for _ in range(2):
        found = rows(open_source(partial, rev="HEAD"))
        assert {path: file.reason for path, file in found.items()} == {"a.py": Reason.NOT_FETCHED, "sub/b.py": None}
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=tree:0", f"file://{root}", "treeless")
    with pytest.raises(Unavailable, match="git ls-tree"):
        list(open_source(tmp_path / "treeless", rev="HEAD").files())


def test_damaged_and_missing_objects(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "b.py": "2" * 100, "c.py": "3", "d.py": "4", "tool": "5"})
    for name, damage in (("b.py", b"not zlib"), ("tool", b"neither")):
        blob = git(root, "rev-parse", f"HEAD:{name}")
        path = root / ".git" / "objects" / blob[:2] / blob[2:]
        path.chmod(0o644)
        path.write_bytes(damage)
    missing = git(root, "rev-parse", "HEAD:c.py")
    (root / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    found = rows(open_source(root, rev="HEAD"))
    assert {path: file.reason for path, file in found.items()} == {
        "a.py": None,
        "b.py": Reason.UNREADABLE,
        "c.py": Reason.UNREADABLE,
        "d.py": None,
    }
    assert found["c.py"].problem == f"git cannot read {missing}: the repository does not have it"
    assert "git cannot read" in str(found["b.py"].problem)


def test_content_longer_than_what_is_said_of_it(tmp_path: Path) -> None:
    """Objects of many sizes come back whole from one process, each in its place."""
    sizes = [0, 1, 511, 512, 513, 65535, 65536, 65537, 300000]
    root = repository(tmp_path / "r", {f"{size:07}.py": b"\n" * size for size in sizes})
    found = rows(open_source(root, rev="HEAD", max_file_bytes=65536))
    assert [file.n_bytes for file in found.values()] == sizes
    assert [file.content is None for file in found.values()] == [size > 65536 for size in sizes]


def test_a_tree_of_far_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    tree = git(root, "rev-parse", "HEAD^{tree}")
    for _ in range(12):
        tree = git(root, "mktree", given="".join(f"040000 tree {tree}\t{n}\n" for n in range(10)).encode())
    bomb = git(root, "commit-tree", tree, "-m", "x")
    monkeypatch.setattr(revision, "MAX_FILES", 1000)
    with pytest.raises(Refused, match="no more than 1,000 files"):
        list(open_source(root, rev=bomb).files())


def test_a_path_that_is_there_twice(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    blob = git(root, "rev-parse", "HEAD:a.py")
    entry = b"100644 a.py\0" + bytes.fromhex(blob)
    tree = git(root, "hash-object", "--literally", "-w", "-t", "tree", "--stdin", given=entry * 2)
    name = git(root, "commit-tree", tree, "-m", "x")
    with pytest.raises(Refused, match="expected each path once"):
        list(open_source(root, rev=name).files())


def test_a_bare_repository_needs_a_revision(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(tmp_path, "clone", "--quiet", "--bare", str(root), "b.git")
    with pytest.raises(UsageError, match="Add --rev HEAD"):
        open_source(tmp_path / "b.git")
    for folder, name in ((tmp_path / "b.git", "b"), (root / ".git", "r")):
        source = open_source(folder, rev="HEAD")
        assert (source.repo, list(rows(source))) == (name, ["a.py"])


def test_sha256_repositories(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "r")
    write(tmp_path / "r", {"a.py": "1"})
    name = commit(tmp_path / "r")
    source = open_source(tmp_path / "r", rev="HEAD")
    assert (source.revision, len(name), list(rows(source))) == (name, 64, ["a.py"])


def test_processes_end_with_the_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "b.py": "2"})
    files = open_source(root, rev="HEAD").files()
    next(files)
    files.close()  # type: ignore[attr-defined]
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in running.splitlines() if str(root) in line and "cat-file" in line]
