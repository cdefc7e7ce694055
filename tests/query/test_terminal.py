"""What a person sees: commands run in a terminal, which is a pseudo-terminal here."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import codelake
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import build
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.lakes import PreparedLake
from tests.query.conftest import Shop

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TURNS = re.compile("[\x1b\u202a-\u202e\u2066-\u2069]")
_COLOURS = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3|4|9|10)[0-9](?:;[0-9;]*)?m")
_COMMAND = [sys.executable, "-m", "codelake"]


def seen(*words: str, columns: int = 60, **environment: str) -> str:
    """What a command writes to a terminal that has so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
    variables |= {"TERM": "xterm-256color", **environment}
    process = subprocess.Popen([*_COMMAND, *words], stdout=theirs, stderr=theirs, stdin=theirs, env=variables)
    os.close(theirs)
    written = []
    while True:
        try:
            written.append(os.read(ours, 65536))
        except OSError:  # how Linux says that nobody has the terminal open any more
            break
    os.close(ours)
    assert process.wait() == 0
    return b"".join(written).decode()


@pytest.mark.parametrize("columns", [40, 60, 132])
def test_tables_fit_the_width_and_nothing_is_cut_off(shop: Shop, columns: int) -> None:
    """A name that lost its end cannot be asked for, nor a place opened that lost its line."""
    asked = ("callers", "gross", "--depth", "3", "--lake", shop.uri)
    rows = codelake.open(shop.uri).callers("gross", depth=3).rows
    lines = _ESCAPES.sub("", seen(*asked, columns=columns)).splitlines()
    said = {word for line in lines for word in line.split()}
    assert len(rows) > 2 and said >= {row[column] for row in rows for column in ("name", "place")}
    assert max(map(len, lines)) <= columns


def test_what_is_in_a_cell_tells_the_terminal_nothing(shop: Shop) -> None:
    text = "SELECT 'a' || chr(27) || '[2J' || chr(10) || 'b' AS one, 2 AS two"
    lines = seen("sql", text, "--lake", shop.uri, NO_COLOR="1").splitlines()
    assert lines[-1].split() == ["a\\x1b[2J\\nb", "2"]


@pytest.mark.slow
def test_source_and_errors_tell_the_terminal_nothing(prepared_lake: PreparedLake, tmp_path: Path) -> None:
    """Escapes, and characters that turn around the direction of a text, are shown and not obeyed."""
    source = "def f():\n\treturn '\x1b]0;title\x07 \u202euser\u2066'\n"
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text(source)
    lake = prepared_lake(tmp_path / "lake")
    build(lake, Reading(open_sources([str(tmp_path / "repo")]), Progress()), limits=Limits())
    asked = ("--lake", str(tmp_path / "lake"))
    lines = _ESCAPES.sub("", seen("show", "a.f", *asked)).splitlines()
    assert r"return '\x1b]0;title\x07 \u202euser\u2066'" in lines[2].expandtabs(1)
    as_json = subprocess.run([*_COMMAND, "show", "a.f", "--json", *asked], check=True, capture_output=True, text=True)
    assert not _TURNS.search(as_json.stdout)
    assert json.loads(as_json.stdout)["definitions"][0]["source"] == source.splitlines()
    wrong = subprocess.run([*_COMMAND, "show", "a.\u202e\x1b[2J", *asked], capture_output=True, text=True)
    assert wrong.returncode and r"a.\u202e\x1b[2J" in wrong.stderr and not _TURNS.search(wrong.stderr)


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_a_reader_that_has_seen_enough(shop: Shop, form: tuple[str, ...]) -> None:
    """As `codelake find '*' | head -1`: no complaint, and not the code that means "no"."""
    asked = [*_COMMAND, "sql", "SELECT * FROM cpg_nodes a CROSS JOIN runs b", "--lake", shop.uri, *form]
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)


def test_colours_are_for_terminals_and_who_wants_them(shop: Shop) -> None:
    asked = ("callers", "checkout", "--lake", shop.uri)
    assert _COLOURS.search(seen(*asked))
    assert not _COLOURS.search(seen(*asked, NO_COLOR="1"))
    piped = subprocess.run([*_COMMAND, *asked], check=True, capture_output=True, text=True)
    assert piped.stdout and "\x1b" not in piped.stdout + piped.stderr
