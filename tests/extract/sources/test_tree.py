from __future__ import annotations

import os
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codelake.delta.lake import MARKER
from codelake.errors import Unavailable
from codelake.extract.sources import Reason, open_source
from codelake.extract.sources import git as git_module
from codelake.extract.sources.folder import Folder
from codelake.extract.sources.tree import LAKE
from tests.extract.sources.conftest import commit, forbidden, git, repository, rows, write


def test_tracked_and_untracked_less_the_ignored(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "gone.py": "2", "sub/b.py": "3", ".gitignore": "*.gen.py\nout/\n"})
    write(root, {"new.py": "4", "x.gen.py": "5", "out/y.py": "6", "a.py": "changed"})
    (root / "gone.py").unlink()
    found = rows(open_source(root))
    assert {path: file.content for path, file in found.items()} == {
        "a.py": b"changed",
        "new.py": b"4",
        "sub/b.py": b"3",
    }


def test_what_is_known_of_the_commit(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    source = open_source(root)
    assert source.revision == git(root, "rev-parse", "HEAD")
    assert source.committed_at == datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)
    assert not source.is_dirty


@pytest.mark.parametrize(
    ("files", "dirty"),
    [
        ({"a.py": "2"}, True),
        ({"README": "2"}, True),
        ({"new.py": "2"}, True),
        ({"notes.txt": "not Python and not tracked"}, False),
        ({".lake/_codelake.json": "{}", ".lake/x.py": ""}, False),
    ],
)
def test_dirty(files: dict[str, str], dirty: bool, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "README": "1"})
    write(root, files)
    assert open_source(root).is_dirty is dirty


def test_staged_is_dirty_and_touched_is_not(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "sub/b.py": "1"})
    os.utime(root / "a.py", (1, 1))
    assert not open_source(root).is_dirty
    write(root, {"a.py": "2"})
    git(root, "add", "a.py")
    assert open_source(root).is_dirty
    assert not open_source(root / "sub").is_dirty


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "r")
    write(tmp_path / "r", {"a.py": "1"})
    source = open_source(tmp_path / "r")
    assert (source.revision, source.committed_at, source.is_dirty) == (None, None, False)
    assert list(rows(source)) == ["a.py"]


def test_a_folder_within_a_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", "sub/b.py": "2", "sub/deep/c.py": "3"})
    write(root, {"sub/new.py": "4"})
    source = open_source(root / "sub")
    assert source.repo == "sub"
    assert source.revision == git(root, "rev-parse", "HEAD")
    assert list(rows(source)) == ["b.py", "deep/c.py", "new.py"]


def test_a_folder_that_git_ignores_is_one_without_git(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1", ".gitignore": "env/"})
    write(root, {"env/pyvenv.cfg": "", "env/lib/x.py": "2"})
    assert list(rows(open_source(root))) == ["a.py"]
    for folder, paths in (("env", ["lib/x.py"]), ("env/lib", ["x.py"])):
        source = open_source(root / folder)
        assert (source.revision, list(rows(source))) == (None, paths)


def test_lakes_and_virtual_environments_are_left_out(tmp_path: Path) -> None:
    assert LAKE == MARKER
    files = {
        "a.py": "1",
        ".codelake/_codelake.json": "{}",
        ".codelake/t/x.py": "2",
        "v/pyvenv.cfg": "",
        "v/l/y.py": "3",
    }
    write(tmp_path / "plain", {**files, "__pycache__/z.py": "4", ".git-not/w.py": "5"})
    assert list(rows(open_source(tmp_path / "plain"))) == [".git-not/w.py", "a.py"]
    git(tmp_path, "init", "--quiet", "r")
    write(tmp_path / "r", files)
    assert list(rows(open_source(tmp_path / "r"))) == ["a.py"]
    commit(tmp_path / "r")
    assert list(rows(open_source(tmp_path / "r"))) == [".codelake/t/x.py", "a.py", "v/l/y.py"]
    assert list(rows(open_source(tmp_path / "plain" / "v"))) == ["l/y.py"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.py": "secret", "pkg/mod.py": "secret"})
    root = write(tmp_path / "r", {"a.py": "1", "pkg/mod.py": "2", "notes.txt": ""})
    for link, target in {
        "in.py": "a.py",
        "out.py": str(outside / "secret.py"),
        "up.py": "../outside/secret.py",
        "folder": "pkg",
        "away": "../outside/pkg",
        "away.txt": "../outside/pkg",
        "around.py": "around.py",
        "around": "around",
        "second": "folder",
        "notes": "notes.txt",
        "here": ".",
        "pkg/none": "nothing",
    }.items():
        (root / link).symlink_to(target)
    found = rows(open_source(root))
    assert {path for path, file in found.items() if file.reason is None} == {"a.py", "pkg/mod.py"}
    links = {path: file.problem for path, file in found.items() if file.reason is Reason.SYMBOLIC_LINK}
    assert links == {
        "in.py": "a symbolic link to a.py",
        "out.py": f"a symbolic link to {outside}/secret.py, out of the source",
        "up.py": "a symbolic link to ../outside/secret.py, out of the source",
        "folder": "a symbolic link to pkg",
        "away": "a symbolic link to ../outside/pkg, out of the source",
        "around.py": "a symbolic link to around.py",
        "second": "a symbolic link to folder",
        "here": "a symbolic link to .",
    }
    git(root, "init", "--quiet")
    assert rows(open_source(root)) == found


def test_a_folder_replaced_by_a_link_is_not_entered(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"b.py": "secret"})
    root = repository(tmp_path / "r", {"sub/b.py": "1"})
    (root / "sub" / "b.py").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    found = rows(open_source(root))
    assert {path: file.reason for path, file in found.items()} == {"sub": Reason.SYMBOLIC_LINK}


def test_a_folder_replaced_by_a_link_while_reading(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"b.py": "secret", "c.py": "secret"})
    root = write(tmp_path / "r", {"a.py": "", "sub/b.py": "1", "sub/c.py": "2"})
    files = open_source(root).files()
    assert next(files).path == "a.py"
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(tmp_path / "outside")
    assert {file.reason for file in files} <= {Reason.GONE, Reason.UNREADABLE}


def test_links_that_git_wrote_as_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    (root / "link.py").symlink_to("a.py")
    commit(root)
    git(root, "config", "core.symlinks", "false")
    (root / "link.py").unlink()
    git(root, "checkout", "--", "link.py")
    assert not (root / "link.py").is_symlink()
    assert rows(open_source(root))["link.py"].problem == "a symbolic link to a.py"


def test_submodules_and_nested_repositories(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"o.py": "1"})
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(root, "submodule", "--quiet", "add", str(other), "libs/other")
    commit(root)
    repository(root / "nested", {"n.py": "1"})
    git(root, "init", "--quiet", "unborn")
    found = rows(open_source(root))
    assert {path: file.reason for path, file in found.items()} == {
        "a.py": None,
        "libs/other": Reason.SUBMODULE,
        "nested": Reason.NESTED_REPOSITORY,
        "unborn": Reason.NESTED_REPOSITORY,
    }
    assert "source of its own" in str(found["libs/other"].problem)
    assert list(rows(open_source(root, exclude=["libs/", "nested", "unborn"]))) == ["a.py"]
    assert list(rows(open_source(root / "libs" / "other"))) == ["o.py"]
    git(root, "submodule", "--quiet", "deinit", "--force", "libs/other")
    assert rows(open_source(root))["libs/other"].reason is Reason.SUBMODULE


@pytest.mark.parametrize("index", ["--no-sparse-index", "--sparse-index"])
def test_sparse_checkouts(index: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"top.py": "1", "in/a.py": "2", "out/b.py": "3", "out/tool": "#!/usr/bin/python"})
    git(root, "sparse-checkout", "init", "--cone", index)
    git(root, "sparse-checkout", "set", "in")
    assert not (root / "out").exists()
    found = rows(open_source(root))
    assert {path: file.reason for path, file in found.items()} == {
        "in/a.py": None,
        "out/b.py": Reason.NOT_CHECKED_OUT,
        "top.py": None,
    }
    assert found["out/b.py"].module == "out.b"
    assert not open_source(root).is_dirty


def test_in_the_middle_of_a_merge(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1\n", "b.py": "1\n"})
    git(root, "checkout", "--quiet", "-b", "other")
    write(root, {"a.py": "2\n"})
    git(root, "rm", "--quiet", "b.py")
    commit(root)
    git(root, "checkout", "--quiet", "main")
    write(root, {"a.py": "3\n", "b.py": "3\n"})
    commit(root)
    subprocess.run(["git", "merge", "--quiet", "other"], cwd=root, capture_output=True, check=False)
    found = rows(open_source(root))
    assert list(found) == ["a.py", "b.py"]
    assert (found["a.py"].content or b"").startswith(b"<<<<<<<")
    assert "merge" in str(found["a.py"].problem) and "merge" in str(found["b.py"].problem)


def test_bytes_are_those_on_disk(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {".gitattributes": "*.py text eol=crlf\n", "a.py": "1\n"})
    (root / "a.py").unlink()
    git(root, "checkout", "--", "a.py")
    assert rows(open_source(root))["a.py"].content == b"1\r\n"
    assert rows(open_source(root, rev="HEAD"))["a.py"].content == b"1\n"
    assert not open_source(root).is_dirty


def test_pipes_sockets_and_devices_are_not_opened(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"tracked.py": "1", "became_folder.py": "2"})
    (root / "tracked.py").unlink()
    os.mkfifo(root / "tracked.py")
    (root / "became_folder.py").unlink()
    write(root, {"became_folder.py/x.py": "3"})
    found = rows(open_source(root))
    assert {path: file.reason for path, file in found.items()} == {
        "became_folder.py/x.py": None,
        "tracked.py": Reason.NOT_REGULAR,
    }
    plain = write(tmp_path / "plain", {"a.py": "1"})
    os.mkfifo(plain / "pipe.py")
    os.mkfifo(plain / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(plain / "sock.py"))
        found = rows(open_source(plain))
    assert {path: file.problem for path, file in found.items() if file.reason} == {
        "pipe.py": "a pipe, and never opened",
        "sock.py": "a socket, and never opened",
    }


def test_what_cannot_be_read(open_folder: Path) -> None:
    for root in (write(open_folder / "plain", {}), repository(open_folder / "r", {"x": ""})):
        write(root, {"a.py": "1", "closed.py": "2", "LICENSE": "3", "shut/b.py": "4"})
        with forbidden(root / "closed.py", root / "LICENSE", root / "shut"):
            found = rows(open_source(root))
        assert {path: file.reason for path, file in found.items()} == {
            "a.py": None,
            "closed.py": Reason.UNREADABLE,
            "shut": Reason.UNREADABLE,
        }
        assert found["closed.py"].problem == "the operating system says: Permission denied"
        assert found["shut"].problem == "the operating system says: Permission denied"


def test_tracked_files_in_a_folder_that_cannot_be_entered(open_folder: Path) -> None:
    root = repository(open_folder / "r", {"a.py": "1", "shut/b.py": "2", "sub/shut/c.py": ""})
    with forbidden(root / "shut"):
        assert rows(open_source(root))["shut/b.py"].reason is Reason.UNREADABLE
    write(root, {"sub/new/d.py": ""})
    with forbidden(root / "sub" / "new"):
        assert rows(open_source(root / "sub"))["new"].reason is Reason.UNREADABLE


def test_a_root_that_cannot_be_read(open_folder: Path) -> None:
    root = write(open_folder / "plain", {"a.py": "1"})
    with forbidden(root), pytest.raises(Unavailable, match="Permission denied"):
        list(open_source(root).files())


def test_files_that_go_while_reading(tmp_path: Path) -> None:
    root = write(tmp_path / "r", {"a.py": "1", "b.py": "2", "d/c.py": "3", "e.py": "4", "f.py": "5"})
    files = open_source(root).files()
    assert next(files).content == b"1"
    (root / "b.py").unlink()
    (root / "d" / "c.py").unlink()
    (root / "d").rmdir()
    (root / "e.py").unlink()
    os.mkfifo(root / "e.py")
    write(root, {"f.py": "another"})
    left = {file.path: file.reason or file.content for file in files}
    assert left == {"b.py": Reason.GONE, "d/c.py": Reason.GONE, "e.py": Reason.NOT_REGULAR, "f.py": b"another"}


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "r", {"a.py": "1", "b.py": "2"})
    real, times = os.fstat, [0]

    def fstat(fd: int) -> os.stat_result:
        found = real(fd)
        if found.st_ino == (root / "b.py").stat().st_ino and times[0]:
            times[0] -= 1
            with (root / "b.py").open("a") as file:
                file.write("more")
        return found

    monkeypatch.setattr(os, "fstat", fstat)
    times[0] = 2
    folder = Folder(root)
    assert folder.read(b"b.py", 1000) == b"2moremore"
    times[0] = 1000
    assert getattr(folder.read(b"b.py", 100000), "reason", None) is Reason.CHANGED
    folder.close()


def test_sizes(tmp_path: Path) -> None:
    root = write(tmp_path / "r", {"a.py": "12345", "b.py": "1234", "empty.py": ""})
    found = rows(open_source(root, max_file_bytes=4))
    assert found["a.py"].reason is Reason.TOO_LARGE and found["a.py"].n_bytes == 5
    assert found["b.py"].content == b"1234" and found["empty.py"].content == b""


def test_excluded_folders_are_not_even_listed(open_folder: Path) -> None:
    root = write(open_folder / "plain", {"a.py": "1", "shut/b.py": "4"})
    with forbidden(root / "shut"):
        assert list(rows(open_source(root, exclude=["shut/"]))) == ["a.py"]


def test_a_repository_that_is_none(tmp_path: Path) -> None:
    write(tmp_path / "r", {"a.py": "1", ".git": "gitdir: /nowhere"})
    with pytest.raises(Unavailable, match=r"a folder without \.git is read without git"):
        open_source(tmp_path / "r")


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": "1"})
    write(tmp_path / "plain", {"b.py": "1"})
    monkeypatch.setenv("PATH", "")
    git_module._git_version.cache_clear()
    try:
        with pytest.raises(Unavailable, match=r"no program of that name\. Install git"):
            open_source(root)
        assert list(rows(open_source(tmp_path / "plain"))) == ["b.py"]
    finally:
        git_module._git_version.cache_clear()


def test_an_old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "_git_version", lambda: "git version 2.25.1")
    with pytest.raises(Unavailable, match=r"expected git 2\.31 or newer .* found git version 2\.25\.1"):
        git_module.require_git(tmp_path)


def test_variables_of_a_hook_are_about_another_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(tmp_path / "other", {"o.py": "1"})
    root = repository(tmp_path / "r", {"a.py": "1"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert list(rows(open_source(root))) == ["a.py"]
    assert list(rows(open_source(root, rev="HEAD"))) == ["a.py"]


def test_a_large_folder_is_listed() -> None:
    import pyspark

    root = Path(pyspark.__file__).parent
    found = rows(open_source(root))
    assert found["sql/session.py"].module == "pyspark.sql.session"
    assert not any(file.reason for file in found.values())
