from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelake.errors import SettingsError
from codelake.settings import NAMES, Settings, load

CANARY = "canary-7f3a"


def loaded(folder: Path, flags: dict[str, Any] | None = None, **environ: str) -> Settings:
    return load(flags, folder=folder, environ=environ)


def test_defaults(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    assert (settings.lake, settings.master, settings.remote) == (".codelake", "local[*]", None)
    assert settings.cache_dir == Path.home() / ".cache" / "codelake"
    assert {settings.origin(name) for name in NAMES} == {"default"}


def test_each_source_wins_over_the_next(tmp_path: Path) -> None:
    (tmp_path / "codelake.toml").write_text('lake = "file"\nmaster = "local[3]"\ndriver_memory = "3g"\n')
    settings = loaded(tmp_path, {"lake": "flag"}, CODELAKE_LAKE="variable", CODELAKE_MASTER="local[4]")
    assert (settings.lake, settings.origin("lake")) == ("flag", "--lake")
    assert (settings.master, settings.origin("master")) == ("local[4]", "CODELAKE_MASTER")
    assert (settings.driver_memory, settings.origin("driver_memory")) == ("3g", "codelake.toml")


def test_flags_that_were_not_given_do_not_count(tmp_path: Path) -> None:
    assert loaded(tmp_path, {"lake": None}, CODELAKE_LAKE="variable").lake == "variable"


def test_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.codelake]\nui = true\nlock_timeout = 5\n")
    settings = loaded(tmp_path)
    assert (settings.ui, settings.lock_timeout) == (True, 5.0)
    assert settings.origin("ui") == "pyproject.toml [tool.codelake]"


def test_two_files_with_settings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "codelake.toml").write_text("ui = true\n")
    (tmp_path / "pyproject.toml").write_text("[tool.codelake]\nui = true\n")
    with pytest.raises(SettingsError, match=r"Keep codelake\.toml and delete"):
        loaded(tmp_path)


def test_variables_of_the_machine_are_below_everything_else(tmp_path: Path) -> None:
    settings = loaded(tmp_path, XDG_CACHE_HOME="/xdg", JAVA_HOME="/java")
    assert settings.cache_dir == Path("/xdg/codelake")
    assert (settings.java_home, settings.origin("java_home")) == (Path("/java"), "JAVA_HOME")
    assert loaded(tmp_path, JAVA_HOME="/java", CODELAKE_JAVA_HOME="/other").java_home == Path("/other")


def test_tables_are_laid_over_one_another_key_by_key(tmp_path: Path) -> None:
    (tmp_path / "codelake.toml").write_text('[store]\nregion = "eu"\nallow_http = true\n')
    settings = loaded(tmp_path, CODELAKE_STORE='{"secret_key": "x", "region": "us"}')
    assert settings.store == {"region": "us", "allow_http": "true", "secret_key": "x"}
    assert settings.origin("store.region") == "CODELAKE_STORE"
    assert settings.origin("store.allow_http") == "codelake.toml"


def test_unquoted_keys_of_spark_are_one_key(tmp_path: Path) -> None:
    (tmp_path / "codelake.toml").write_text("[spark]\nspark.sql.ansi.enabled = false\n")
    assert loaded(tmp_path).spark == {"spark.sql.ansi.enabled": "false"}


@pytest.mark.parametrize(
    ("toml", "variables", "says"),
    [
        ('laek = "x"', {}, "unknown setting `laek` in codelake.toml. Did you mean `lake`?"),
        ("", {"CODELAKE_MASTR": "x"}, "unknown setting `CODELAKE_MASTR` in the environment. "
         "Did you mean `CODELAKE_MASTER`?"),
        ("ui = 3", {}, "setting `ui` from codelake.toml; expected true or false; found 3."),
        ("", {"CODELAKE_LOCK_TIMEOUT": "soon"}, "expected a number of seconds, 0 or more; found 'soon'"),
        ("", {"CODELAKE_LOCK_TIMEOUT": "nan"}, "found 'nan'"),
        ("", {"CODELAKE_DRIVER_MEMORY": "lots"}, "expected a number and k, m, g or t; found 'lots'"),
        ("", {"CODELAKE_MASTER": "mesos://x"}, "expected local[*], local[n], spark://host:port, yarn or k8s"),
        ("", {"CODELAKE_REMOTE": "http://x"}, "expected sc://host:port"),
        ("", {"CODELAKE_LAKE": ""}, "setting `lake` from CODELAKE_LAKE"),
        ("store = 3", {}, "expected a table of options; found 'int'"),
        ("store.x = [1]", {}, "setting `store.x` from codelake.toml; expected a text"),
        ("ui = = 3", {}, "codelake.toml is not valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path: Path, toml: str, variables: dict[str, str], says: str) -> None:
    (tmp_path / "codelake.toml").write_text(toml)
    with pytest.raises(SettingsError) as raised:
        loaded(tmp_path, **variables)
    assert says in str(raised.value)
    assert raised.value.exit_code == 2


SECRETS = {
    "CODELAKE_STORE": f'{{"secret_key": "{CANARY}", "anything_unknown": "{CANARY}"}}',
    "CODELAKE_LOG_STORE": f'{{"azure_storage_sas_token": "{CANARY}"}}',
    "CODELAKE_SPARK": f'{{"spark.hadoop.fs.s3a.secret.key": "{CANARY}", "spark.x": "s3://u:{CANARY}@h/"}}',
    "CODELAKE_REMOTE": f"sc://host:1/;token={CANARY}",
}


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    settings = loaded(tmp_path, **SECRETS)
    assert settings.store["secret_key"] == CANARY
    shown = [
        repr(settings),
        str(settings),
        *(str(settings.shown(n)) for n in NAMES),
    ]
    assert not [text for text in shown if CANARY in text]
    assert settings.shown("remote") == "sc://host:1/;token=***"
    assert CANARY in set(settings.secrets())


@pytest.mark.parametrize(
    "bad",
    [
        {"CODELAKE_STORE": f'{{"secret_key": "{CANARY}"'},
        {"CODELAKE_STORE": f'["{CANARY}"]'},
        {"CODELAKE_LAKE": f"s3://user:{CANARY}@bucket"},
        {"CODELAKE_REMOTE": f"http://host/;token={CANARY}"},
    ],
)
def test_secrets_are_not_in_errors(tmp_path: Path, bad: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as raised:
        loaded(tmp_path, **bad)
    assert CANARY not in str(raised.value) + str(raised.value.as_dict())
