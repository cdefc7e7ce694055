from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelake.errors import UsageError
from codelake.extract.sources import open_source, open_sources, read_list
from codelake.extract.sources.open import without_version
from tests.extract.sources.conftest import git, repository, rows, write


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Django-1.4", "Django"),
        ("py-3d-lib-1.0", "py-3d-lib"),
        ("foo-1.0-rc1", "foo"),
        ("repo-v2.3.1", "repo"),
        ("repo-main", "repo-main"),
        ("repo-" + "a1" * 20, "repo"),
        ("v1.2", "v1.2"),
        ("plain", "plain"),
        ("zope.interface-5.0.dev0", "zope.interface"),
    ],
)
def test_names_without_versions(stem: str, name: str) -> None:
    assert without_version(stem) == name


def test_names_of_wheels() -> None:
    assert without_version("my_pkg-1.0-1-py3-none-any", is_wheel=True) == "my_pkg"


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "some repo", {"a.py": "1"})
    assert open_source(root).repo == "some repo"
    assert open_source(root, name="org/name").repo == "org/name"
    assert open_source(f"other={root}").repo == "other"
    assert open_source(f"other={root}").location == str(root)
    monkeypatch.chdir(root)
    assert open_source(".").repo == "some repo"
    assert open_source(".", rev="HEAD").repo == "some repo"
    write(tmp_path / "x=y", {"a.py": ""})
    assert open_source(tmp_path / "x=y").repo == "x=y"
    (tmp_path / "link").symlink_to(root)
    assert list(rows(open_source(tmp_path / "link"))) == ["a.py"]
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    write(strange, {"a.py": ""})
    source = open_source(strange)
    assert source.repo == "caf\\xe9" and source.location.endswith("caf\\xe9")
    assert list(rows(source)) == ["a.py"]


@pytest.mark.parametrize("name", ["", "  ", "a\nb"])
def test_names_that_are_none(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="NAME="):
        open_source(tmp_path, name=name)


def test_what_is_no_source(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "1", "a.rar": ""})
    os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a.zip").symlink_to("missing.zip")
    for location, found in [
        ("missing", "nothing of that name"),
        ("a.zip", "nothing of that name"),
        ("a.py", "a file of another kind"),
        ("a.rar", "a file of another kind"),
        ("pipe.zip", "neither a file nor a folder"),
        ("loop", "loop"),
        ("a.py/x", "directory"),
        ("a\0b", "null"),
    ]:
        with pytest.raises(UsageError, match=f"expected a folder, a git repository or an archive .*{found}"):
            open_source(f"{tmp_path}/{location}")
    for address in ("https://github.com/a/b", "git@github.com:a/b.git", "ssh://x/y"):
        with pytest.raises(UsageError, match="Clone it first"):
            open_source(address)


def test_revisions_of_what_has_none(tmp_path: Path) -> None:
    write(tmp_path, {"plain/a.py": "1"})
    with pytest.raises(UsageError, match="a folder that is in none"):
        open_source(tmp_path / "plain", rev="HEAD")
    root = repository(tmp_path / "r", {"a.py": "1"})
    git(root, "archive", f"--output={tmp_path / 'r.zip'}", "HEAD")
    with pytest.raises(UsageError, match="an archive, which has no revisions"):
        open_source(tmp_path / "r.zip", rev="HEAD")


def test_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = repository(tmp_path / "a", {"a.py": "1"})
    b = write(tmp_path / "b", {"b.py": "2", "skip.py": ""})
    write(tmp_path / "other" / "a", {"c.py": "3"})
    git(a, "archive", f"--output={tmp_path / 'z-1.0.zip'}", "HEAD")
    write(tmp_path, {"list.txt": "# some\n\n  b  \nthird=other/a\n./z-1.0.zip\n"})
    monkeypatch.chdir(tmp_path)
    assert read_list("list.txt") == ["b", "third=other/a", "./z-1.0.zip"]
    sources = open_sources([a, "@list.txt"], exclude=["skip.py"])
    assert [source.repo for source in sources] == ["a", "b", "third", "z"]
    assert [list(rows(source)) for source in sources] == [["a.py"], ["b.py"], ["c.py"], ["a.py"]]
    assert open_sources([]) == []
    assert b.name == "b"


def test_two_of_one_name(tmp_path: Path) -> None:
    write(tmp_path, {"x/a/a.py": "1", "y/a/a.py": "1"})
    first, second = str(tmp_path / "x/a"), str(tmp_path / "y/a")
    with pytest.raises(UsageError) as raised:
        open_sources([first, second])
    assert str(raised.value) == (
        f"two sources are called a; expected a name for each repository; found {first} and {second}. "
        f"Give one another name: NAME={second}"
    )
    assert [source.repo for source in open_sources([first, f"b={second}"])] == ["a", "b"]


def test_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        open_sources([f"@{tmp_path}/none"])
