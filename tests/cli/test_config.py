from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


def test_each_value_with_its_origin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("codelake.toml").write_text('driver_memory = "3g"\n[store]\nregion = "eu"\n')
    monkeypatch.setenv("CODELAKE_UI", "true")
    code, out, err = run("config", "show", "--lake", "x", "--json")
    assert (code, err) == (0, "")
    rows = {row["setting"]: (row["value"], row["origin"]) for row in json.loads(out)}
    assert rows["lake"] == ("x", "--lake")
    assert rows["ui"] == (True, "CODELAKE_UI")
    assert rows["driver_memory"] == ("3g", "codelake.toml")
    assert rows["store.region"] == ("eu", "codelake.toml")
    assert rows["master"] == ("local[*]", "default")


def test_aligned_text_on_a_pipe(run: Run) -> None:
    _, out, _ = run("config", "show")
    header, lake, *_ = out.splitlines()
    assert header.split() == ["setting", "value", "origin", "help"]
    assert lake.index(".codelake") == header.index("value")
    assert "\x1b" not in out


def test_secrets_are_stars(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODELAKE_STORE", '{"secret_key": "canary-7f3a"}')
    monkeypatch.setenv("CODELAKE_LOG_STORE", '{"odd": "canary-7f3a"}')
    monkeypatch.setenv("CODELAKE_SPARK", '{"spark.hadoop.fs.s3a.access.key": "canary-7f3a"}')
    monkeypatch.setenv("CODELAKE_REMOTE", "sc://h:1/;token=canary-7f3a")
    for arguments in (["config", "show"], ["config", "show", "--json"], ["config", "show", "-v"]):
        code, out, err = run(*arguments)
        assert code == 0 and out.count("***") == 4
        assert "canary" not in out + err


def test_a_bad_setting(run: Run) -> None:
    Path("codelake.toml").write_text('laek = "x"\n')
    said = "codelake: unknown setting `laek` in codelake.toml. Did you mean `lake`?\n"
    assert run("config", "show") == (2, "", said)
