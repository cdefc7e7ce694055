"""What a repository needs, from its metadata: each format, which of them counts, what is malformed."""

from __future__ import annotations

import random
import subprocess
import zipfile
from pathlib import Path

import pytest

from codelake.extract.sources import Declared, Source, distributions, import_names, open_source
from codelake.extract.sources.distributions import FORMATS, LARGEST, format_of
from tests.extract.sources.conftest import commit, git, repository, write

PYPROJECT = """
[project]
name = "Our.Project"
dependencies = ["Flask>=2", "ruamel.yaml==0.18.6 ; python_version > '3'", "pkg @ https://example.org/pkg.zip"]
[project.optional-dependencies]
test = ["pytest==8.*", "our-project[docs]"]
docs = ["sphinx[x] >=1,==7.4.0"]
[dependency-groups]
dev = ["ruff===0.6.1", {include-group = "lint"}]
lint = ["mypy"]
"""
POETRY = """
[tool.poetry]
name = "ours"
[tool.poetry.dependencies]
python = "^3.11"
exact = "1.2.3"
equal = "== 2.0"
caret = "^1.2"
table = {version = "=3.1", extras = ["x"]}
several = [{version = "1.0", python = "<3.9"}, {version = "1.10", python = ">=3.9"}]
from_git = {git = "https://example.org/x.git"}
[tool.poetry.dev-dependencies]
old-group = "*"
[tool.poetry.group.dev.dependencies]
new-group = "1.*"
"""
SETUP_CFG = """
[metadata]
name = ours
description = 100% ours
[options]
install_requires =
    # one a line
    requests[socks]>=2 ; python_version < "4"
    six==1.16.0
    file: requirements.txt
[options.extras_require]
one = a; b
test =
    ours[one]
    nose (==1.3)
"""
SETUP_PY = """
import setuptools
more = ["unknown"]
setuptools.setup(
    name="ours",
    install_requires=["requests>=2", "six==1.16.0", *more, compute(), "ours"],
    extras_require={"x": ["nose"], "y": more, "z": ("mock==1",)},
)
raise SystemExit("never run")
"""
REQUIREMENTS = """\
# comment
-r other.txt
--index-url https://example.org/simple
-e .
-e git+https://example.org/x.git@v1#egg=from_git&subdirectory=y
git+https://example.org/x.git#egg=from-egg
./local/thing.whl
thing-1.0-py3-none-any.whl
Flask == 2.0.1 \\
    --hash=sha256:00 \\
    --hash=sha256:11  # via us
requests[socks]>=2,<3 ; python_version < "4" # why
direct@https://example.org/direct-1.0.tar.gz
"""
UV = """
version = 1
[[package]]
name = "ours"
source = { editable = "." }
[[package]]
name = "member"
version = "0.1"
source = { editable = "packages/member" }
[[package]]
name = "neighbour"
version = "0.1"
source = { directory = "../neighbour" }
[[package]]
name = "numpy"
version = "1.26.4"
[[package]]
name = "numpy"
version = "2.0.0"
[[package]]
name = "numpy"
version = "1.9.0"
"""
POETRY_LOCK = """
[[package]]
name = "Jinja2"
version = "3.1.4"
[[package]]
name = "beside"
version = "0"
source = {type = "directory", url = "libs/beside"}
[metadata]
lock-version = "2.0"
"""
PIPFILE = """{"_meta": {"hash": {"sha256": "0"}}, "default": {"Flask": {"version": "==2.0"}, "g": {"git": "x"}},
"develop": {"pytest": {"version": "==8.1", "markers": "x"}}}"""
METADATA = """\
Metadata-Version: 2.1
Name: ours
Version: 1.0
Requires-Dist: click (>=8)
Requires-Dist: colorama==0.4.6; platform_system == "Windows"
Requires-Dist: ours[x]; extra == "all"

Requires-Dist: not-a-header
"""


def needed(files: dict[str, str | bytes]) -> dict[str, str | None]:
    found, problems = distributions({p: c if isinstance(c, bytes) else c.encode() for p, c in files.items()})
    assert problems == []
    assert [each.name for each in found] == sorted({each.name for each in found})
    return {each.name: each.version for each in found}


def problem(files: dict[str, str | bytes]) -> str:
    _, [found] = distributions({p: c if isinstance(c, bytes) else c.encode() for p, c in files.items()})
    assert found.path in files
    return found.message


PIPS = {"from-git": None, "from-egg": None, "flask": "2.0.1", "requests": None, "direct": None}
CASES: dict[str, tuple[str, dict[str, str | None]]] = {
    "pyproject.toml": (
        PYPROJECT,
        {
            "flask": None,
            "ruamel-yaml": "0.18.6",
            "pkg": None,
            "pytest": None,
            "sphinx": "7.4.0",
            "ruff": "0.6.1",
            "mypy": None,
        },
    ),
    "setup.cfg": (SETUP_CFG, {"requests": None, "six": "1.16.0", "a": None, "b": None, "nose": "1.3"}),
    "setup.py": (SETUP_PY, {"requests": None, "six": "1.16.0", "nose": None, "mock": "1"}),
    "requirements.txt": (REQUIREMENTS, PIPS),
    "requirements-dev.txt": (REQUIREMENTS, PIPS),
    "requirements/dev.txt": (REQUIREMENTS, PIPS),
    "uv.lock": (UV, {"numpy": "2.0.0", "neighbour": "0.1"}),
    "poetry.lock": (POETRY_LOCK, {"jinja2": "3.1.4"}),
    "pdm.lock": (POETRY_LOCK, {"jinja2": "3.1.4"}),
    "Pipfile.lock": (PIPFILE, {"flask": "2.0", "g": None, "pytest": "8.1"}),
    "PKG-INFO": (METADATA, {"click": None, "colorama": "0.4.6"}),
    "ours-1.0.dist-info/METADATA": (METADATA, {"click": None, "colorama": "0.4.6"}),
}


@pytest.mark.parametrize("path", CASES)
def test_a_format(path: str) -> None:
    content, expected = CASES[path]
    assert needed({path: content}) == expected
    assert needed({path: b"\xef\xbb\xbf" + content.encode()}) == expected
    assert needed({f"deeper/in/{path}": content}) == {}


def test_every_format_has_a_case() -> None:
    assert {format_of(path) for path in CASES} == set(FORMATS)


def test_poetry_says_exact_versions_without_an_operator() -> None:
    assert needed({"pyproject.toml": POETRY}) == {
        "exact": "1.2.3",
        "equal": "2.0",
        "caret": None,
        "table": "3.1",
        "several": "1.10",
        "from-git": None,
        "old-group": None,
        "new-group": None,
    }


def test_requirements_as_powershell_writes_them() -> None:
    assert needed({"requirements.txt": "flask==1.0\r\nsix\r\n".encode("utf-16")}) == {"flask": "1.0", "six": None}
    assert needed({"requirements.txt": b"# caf\xe9\nsix\n"}) == {"six": None}


def test_what_is_no_metadata_says_nothing() -> None:
    no = ["METADATA", "a/b.dist-info/METADATA", "my-requirements.txt", "requirements/a/b.txt", "uv.lock.py", "Pipfile"]
    assert [path for path in no if format_of(path)] == []
    assert distributions(dict.fromkeys(no, b"\0")) == ([], [])


def test_a_lock_wins_over_a_pin_and_a_pin_over_a_name() -> None:
    files = {
        "pyproject.toml": '[project]\ndependencies = ["a>=1", "b==1", "c", "d"]',
        "requirements.txt": "a==2\nb==2\nc==2\nonly==5\n",
        "requirements-dev.txt": "c==3\nd==3\n",
        "uv.lock": '[[package]]\nname = "a"\nversion = "4"\n',
        "poetry.lock": '[[package]]\nname = "a"\nversion = "5"\n',
        "Pipfile.lock": '{"default": {"c": {"git": "x"}}}',
    }
    found, _ = distributions({path: content.encode() for path, content in files.items()})
    assert [(each.name, each.version, each.declared_in) for each in found] == [
        ("a", "4", "uv.lock"),
        ("b", "1", "pyproject.toml"),
        ("c", "2", "requirements.txt"),
        ("d", "3", "requirements-dev.txt"),
        ("only", "5", "requirements.txt"),
    ]
    turned = dict(reversed(files.items()))
    assert distributions({path: content.encode() for path, content in turned.items()}) == (found, [])


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("pyproject.toml", "[project", "not TOML"),
        ("pyproject.toml", b"\xff\xfe", "not UTF-8"),
        ("pyproject.toml", "project = 3", "expected a table, found 3"),
        ("pyproject.toml", '[project]\ndependencies = "flask"', "expected a list, found 'flask'"),
        ("pyproject.toml", "[project]\ndependencies = [1]", "expected a requirement, found 1"),
        ("pyproject.toml", "x = " + "[" * 50_000, "nested too deeply"),
        ("pyproject.toml", "x = 2024-99-99", "not TOML"),
        ("uv.lock", "package = 3", "expected a list"),
        ("uv.lock", "[[package]]\nversion = '1'", "a distribution's name, found None"),
        ("poetry.lock", "[[package]]\nname = 'a'\nversion = 1", "a version of a, found 1"),
        ("Pipfile.lock", "{", "not JSON"),
        ("Pipfile.lock", "[" * 50_000, "nested too deeply"),
        ("Pipfile.lock", '{"default": {"a": {"version": "==\\ud800"}}}', "'\\ud800'"),
        ("setup.cfg", "install_requires = x", "not a configuration file"),
        ("setup.cfg", "[options]\ninstall_requires = a b", "expected a requirement, found 'a b'"),
        ("setup.py", "print 'two'", "not Python of today"),
        ("setup.py", "a" + ".b" * 50_000, "nested too deeply"),
        ("setup.py", b"\0", "not Python of today"),
        (
            "requirements.txt",
            "six\n{{ name }}\n!\n",
            "line 2: expected a requirement, found '{{ name }}'; 1 more like it",
        ),
        ("requirements.txt", b"#" * (LARGEST + 1), "1,048,577 bytes are more than"),
        ("PKG-INFO", b"\x7fELF", "it has no Name"),
    ],
)
def test_a_malformed_file_is_a_problem(path: str, content: str | bytes, said: str) -> None:
    message = problem({path: content})
    assert said in message
    message.encode()


def test_the_rest_of_a_malformed_file_counts() -> None:
    found, problems = distributions({"requirements.txt": b"six==1\na b c\nflask\n", "uv.lock": b"="})
    assert [(each.name, each.version) for each in found] == [("flask", None), ("six", "1")]
    assert [problem.path for problem in problems] == ["requirements.txt", "uv.lock"]


def test_no_bytes_raise() -> None:
    chance = random.Random(7)
    letters = b"[]{}\"'=:;#\\\n\n -@,.<>()ab01\0\xff"
    for path, (content, _) in CASES.items():
        for _ in range(150):
            raw = bytearray(content.encode())
            for _ in range(chance.randrange(1, 8)):
                at = chance.randrange(len(raw))
                raw[at : at + chance.choice((0, 1, 5))] = bytes(chance.choices(letters, k=chance.randrange(4)))
            for each in distributions({path: bytes(raw)})[0]:
                assert each.name.isascii() and (each.version is None or each.version.isascii())


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("requests", ("requests",)),
        ("PyYAML", ("yaml", "_yaml")),
        ("Pillow", ("PIL",)),
        ("attrs", ("attr", "attrs")),
        ("protobuf", ("google.protobuf",)),
        ("ruamel.yaml", ("ruamel.yaml",)),
        ("typing_extensions", ("typing_extensions", "typing.extensions")),
        ("google-cloud-storage", ("google_cloud_storage", "google.cloud_storage", "google.cloud.storage")),
    ],
)
def test_import_names(name: str, names: tuple[str, ...]) -> None:
    assert import_names(name) == names


# sources -----------------------------------------------------------------------------------------

FILES: dict[str, bytes | str] = {
    "pyproject.toml": PYPROJECT,
    "uv.lock": UV,
    "requirements.txt": "six==1.16.0\n",
    "requirements/dev.txt": "nose\n",
    "requirements-bad.txt": "a b c\n",
    "requirements-lfs.txt": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
    "setup.cfg": "#" * 5000,
    "sub/pyproject.toml": POETRY,
    "pkg/__init__.py": "",
}


def declared(source: Source) -> Declared:
    with source.read() as opened:
        found = opened.declared()
        assert {file.path for file in opened.files()} == {"pkg/__init__.py"}
    return found


def test_the_same_as_tree_revision_and_archive(tmp_path: Path) -> None:
    made = repository(tmp_path / "repo", FILES)
    (made / "requirements-link.txt").symlink_to("requirements.txt")
    commit(made)
    git(made, "archive", f"--output={tmp_path / 'repo.zip'}", "HEAD")
    git(made, "archive", "--prefix=repo-1.4/", f"--output={tmp_path / 'repo-1.4.tar.gz'}", "HEAD")
    subprocess.run(["cp", "-a", made, tmp_path / "copy"], check=True)
    subprocess.run(["rm", "-r", tmp_path / "copy/.git"], check=True)
    expected = declared(open_source(made, max_file_bytes=4000))
    assert [(each.name, each.version) for each in expected.distributions if each.version] == [
        ("neighbour", "0.1"),
        ("numpy", "2.0.0"),
        ("ruamel-yaml", "0.18.6"),
        ("ruff", "0.6.1"),
        ("six", "1.16.0"),
        ("sphinx", "7.4.0"),
    ]
    assert "nose" in {each.name for each in expected.distributions}
    said = {problem.path: problem.message for problem in expected.problems}
    assert list(said) == ["requirements-bad.txt", "requirements-lfs.txt", "requirements-link.txt", "setup.cfg"]
    assert "git-lfs" in said["requirements-lfs.txt"] and "5,000 bytes" in said["setup.cfg"]
    assert said["requirements-link.txt"] == "a symbolic link to requirements.txt, which is not followed"
    assert declared(open_source(made, rev="HEAD", max_file_bytes=4000)) == expected
    for name in ("copy", "repo.zip", "repo-1.4.tar.gz"):
        assert declared(open_source(tmp_path / name, max_file_bytes=4000)) == expected


def test_exclude_holds_for_metadata_and_include_does_not(tmp_path: Path) -> None:
    made = repository(tmp_path / "repo", FILES)
    git(made, "archive", f"--output={tmp_path / 'repo.zip'}", "HEAD")
    exclude = ["requirements/", "requirements-*", "*.lock", "setup.cfg", "/pyproject.toml"]
    for source in (
        open_source(made, include=["pkg/"], exclude=exclude),
        open_source(made, rev="HEAD", include=["pkg/"], exclude=exclude),
        open_source(tmp_path / "repo.zip", include=["pkg/"], exclude=exclude),
    ):
        found = declared(source)
        assert [(each.name, each.declared_in) for each in found.distributions] == [("six", "requirements.txt")]
        assert found.problems == []


def test_a_wheel_and_an_sdist(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ours-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pkg/__init__.py", "")
        wheel.writestr("ours-1.0.dist-info/METADATA", METADATA)
    write(tmp_path / "packed", {"ours-1.0/PKG-INFO": METADATA, "ours-1.0/pkg/__init__.py": ""})
    subprocess.run(["tar", "-czf", tmp_path / "ours-1.0.tar.gz", "ours-1.0"], cwd=tmp_path / "packed", check=True)
    for name, path in (
        ("ours-1.0-py3-none-any.whl", "ours-1.0.dist-info/METADATA"),
        ("ours-1.0.tar.gz", "PKG-INFO"),
    ):
        found = declared(open_source(tmp_path / name))
        assert [(each.name, each.declared_in) for each in found.distributions] == [("click", path), ("colorama", path)]


def test_metadata_that_is_not_tracked_makes_a_tree_dirty(tmp_path: Path) -> None:
    made = repository(tmp_path / "repo", {"a.py": ""})
    write(made, {"sub/requirements.txt": "six"})
    assert not open_source(made).is_dirty
    write(made, {"requirements.txt": "six"})
    assert open_source(made).is_dirty
