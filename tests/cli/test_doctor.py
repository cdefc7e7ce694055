from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codelake.errors import Unavailable
from codelake.runtime import jars, java
from codelake.runtime.java import Java
from codelake.settings import Settings

Run = Callable[..., tuple[int, str, str]]


def findings(run: Run, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code, out, err = run("doctor", "--json", *arguments)
    assert err == ""
    return code, {row["check"]: row for row in json.loads(out)}


def test_all_is_well(run: Run) -> None:
    code, found = findings(run)
    assert code == 0
    assert {row["state"] for row in found.values() if row["needed"]} == {"ok"}
    assert found["pyspark"]["found"] == "4.2.0"
    assert found["delta jars"]["found"].startswith(f"{jars.DELTA_VERSION} in ")
    assert {"python", "delta-spark", "deltalake", "java", "master", "lake"} < set(found)


def test_jars_that_are_missing_or_wrong(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODELAKE_CACHE_DIR", str(tmp_path / "cache"))
    code, found = findings(run)
    assert (code, found["delta jars"]["state"], found["delta jars"]["do"]) == (
        5,
        "missing",
        "Run `codelake setup`.",
    )
    (tmp_path / "cache" / f"jars-{jars.DELTA_VERSION}").mkdir(parents=True)
    code, found = findings(run)
    assert (code, found["delta jars"]["state"]) == (5, "wrong")


def test_no_archive_is_no_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find", lambda _: Java(Path("/elsewhere"), "21.0.1", "PATH"))
    code, found = findings(run)
    assert (code, found["class archive"]["state"]) == (0, "missing")


def test_no_java(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: Settings) -> Java:
        raise Unavailable("no Java to run Spark on", found="none", do="Install one.")

    monkeypatch.setattr(java, "find", none)
    code, found = findings(run)
    assert (code, found["java"]["state"], found["java"]["do"]) == (5, "missing", "Install one.")


def test_a_package_of_another_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.metadata.requires", lambda _: ["pyspark[sql]==4.1.0", "nope>=1", 'x; extra == "java"']
    )
    code, found = findings(run)
    assert code == 5
    assert (found["pyspark"]["state"], found["pyspark"]["do"]) == ("wrong", "Install pyspark==4.1.0.")
    assert found["nope"]["state"] == "missing" and "x" not in found


def test_spark_that_does_not_answer(run: Run) -> None:
    code, found = findings(run, "--master", "spark://127.0.0.1:1")
    assert (code, found["master"]["found"]) == (5, "spark://127.0.0.1:1 does not answer")
    code, found = findings(run, "--remote", "sc://127.0.0.1:1/;token=canary")
    assert (code, found["remote"]["found"]) == (5, "sc://127.0.0.1:1/;token=*** does not answer")
    assert "java" not in found


def test_lakes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert findings(run, "--lake", "folder")[1]["lake"]["state"] == "ok"
    assert findings(run, "--lake", "file")[1]["lake"]["found"] == "file is a file"
    assert findings(run, "--lake", "s3a://bucket/lake")[0] == 0
    monkeypatch.setenv("CODELAKE_LOCAL_ONLY", "true")
    assert findings(run, "--lake", "s3a://bucket/lake")[1]["lake"]["state"] == "wrong"
