from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

from codelake.cli import main
from codelake.cli.options import given, settings
from codelake.errors import Conflict

Run = Callable[..., tuple[int, str, str]]


def command(name: str) -> click.Command:
    found = main.cli.get_command(click.Context(main.cli), name)
    assert found is not None
    return found


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        settings()
        raise error

    monkeypatch.setattr(command("doctor"), "callback", fail)


def test_an_error_is_one_paragraph_and_its_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, Conflict("table t", expected="version 1", found="version 2", do="Plan again."))
    said = "codelake: table t; expected version 1; found version 2. Plan again.\n"
    assert run("doctor") == (4, "", said)


def test_an_error_as_json_leaves_standard_output_for_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, Conflict("table t", do="Plan again."))
    code, out, err = run("--json", "doctor")
    assert (code, out, json.loads(err)["error"], json.loads(err)["do"]) == (4, "", "Conflict", "Plan again.")


def test_a_bug_is_said_to_be_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, ValueError("odd\n\tat org.apache.spark"))
    code, _, err = run("doctor")
    assert code == 5
    assert err == (
        "codelake: this is a bug in codelake: ValueError: odd. "
        "Run it again with -v for the traceback, and report both.\n"
    )
    assert "Traceback (most recent call last)" in run("doctor", "-v")[2]


def test_secrets_are_hidden_in_what_others_wrote(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODELAKE_STORE", '{"secret_key": "canary-7f3a", "some_count": "10"}')
    raising(monkeypatch, ValueError("10 times denied for canary-7f3a"))
    for arguments in (["doctor"], ["doctor", "-v"], ["doctor", "--json"]):
        _, out, err = run(*arguments)
        assert "canary" not in out + err and "10 times denied for ***" in err


def test_interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    # click ends the line on which a terminal shows ^C.
    assert run("doctor") == (130, "", "\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["confg"], "No such command 'confg'. Did you mean 'config'? See `codelake --help`."),
        (["doctor", "--nope"], "See `codelake doctor --help`."),
        (["--lake"], "Option '--lake' requires an argument."),
    ],
)
def test_a_wrong_command(run: Run, arguments: list[str], says: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize("arguments", [[], ["table"], ["config"]])
def test_nothing_to_do_shows_the_help(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and err.startswith("Usage: codelake ") and "Commands:" in err


@pytest.mark.parametrize("arguments", [["--help"], ["table", "--help"]])
def test_what_a_command_does_is_said_whole_in_the_list(run: Run, arguments: list[str]) -> None:
    """In 80 columns, as it is where nobody says how wide the terminal is."""
    commands = run(*arguments)[1].partition("Commands:\n")[2].splitlines()
    assert len(commands) > 5 and [line for line in commands if line.endswith("...")] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--lake", "x", "--quiet", "-v", "config", "show"],
        ["config", "--lake", "x", "show", "--quiet", "-v"],
        ["config", "show", "--lake", "x", "-v", "--quiet"],
        ["--lake", "y", "config", "show", "--lake", "x", "-v", "--quiet"],
    ],
)
def test_options_before_and_after_the_verb(run: Run, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    config = command("config")
    assert isinstance(config, click.Group)
    monkeypatch.setattr(config.commands["show"], "callback", lambda: seen.append((given(), settings())))
    assert run(*arguments)[0] == 0
    ((said, current),) = seen
    assert (current.lake, current.verbose, said.quiet, said.json) == ("x", True, True, False)


def test_the_start_of_the_command_line_loads_no_engine() -> None:
    engines = "{'pyspark', 'rich', 'pyarrow', 'deltalake'}"
    program = f"import sys, codelake.cli.main; print(*{engines} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")
