from __future__ import annotations

import pytest

from codelake.errors import UsageError
from codelake.extract.sources.select import Choice, has_ending, names_python


def unread() -> bytes:
    raise AssertionError("its first line was read")


@pytest.mark.parametrize(
    "line",
    [
        b"#!/usr/bin/env python3",
        b"#!/usr/bin/python -O\n",
        b"#! /usr/local/bin/python3.11 -u\nimport x",
        b"#!/usr/bin/env -S python3 -I\r\n",
        b"#!/usr/bin/env -S uv run python\n",
        b"#!/opt/pypy3\n",
        b"#!/usr/bin/python2.7-dbg\n",
        b"#!pythonw\n",
        b"#!/usr/bin/python3.13t",
    ],
)
def test_first_lines_that_name_python(line: bytes) -> None:
    assert names_python(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"import x",
        b"#!/bin/sh\npython x",
        b"# python\n",
        b"#!/usr/bin/env bash\n",
        b"#!/usr/bin/env pythonista\n",
        b"#!/home/python/run\n",
        b"#!/usr/bin/env python3\nPK\x03\x04",
        b"#!/usr/bin/env python3\n\0\0\0",
        b"\n#!/usr/bin/python",
        b"#!/usr/bin/env -S uv run --script",
    ],
)
def test_first_lines_that_do_not(line: bytes) -> None:
    assert not names_python(line)


def test_endings() -> None:
    choice = Choice()
    for path in ("a.py", "a/b.pyi", "c.pyw", ".py", "a\nb.py"):
        assert choice.counts(path, unread)
    for path in ("a.PY", "a.pyc", "a.pyx", "py.txt", "a.", "x.py/readme.md"):
        assert not choice.counts(path, unread)
    assert choice.counts("bin/tool", lambda: b"#!/usr/bin/python\n")
    assert choice.counts(".hidden", lambda: b"#!/usr/bin/python\n")
    assert not choice.counts("LICENSE", lambda: b"Copyright")
    assert not has_ending("a.d/tool") and has_ending("a/tool.sh")


def test_excluded_files_are_not_read() -> None:
    choice = Choice(exclude=["vendor/", "*_pb2.py", "/tool"])
    assert not choice.counts("a/vendor/b/x", unread)
    assert not choice.counts("a/x_pb2.py", unread)
    assert not choice.counts("tool", unread)
    assert choice.counts("a/x.py", unread)
    assert choice.prunes("a/vendor") and not choice.prunes("a")


def test_exclude_takes_back() -> None:
    choice = Choice(exclude=["gen/*", "!gen/keep.py"])
    assert choice.counts("gen/keep.py", unread) and not choice.counts("gen/other.py", unread)
    assert not choice.prunes("gen")


def test_include_narrows() -> None:
    choice = Choice(include=["src/", "docs/*"], exclude=["src/old/"])
    assert choice.counts("src/a/b.py", unread) and choice.counts("docs/conf.py", unread)
    assert not choice.counts("other.py", unread) and not choice.counts("src/old/a.py", unread)
    assert not choice.counts("src/readme.txt", unread) and not choice.counts("docs/readme.txt", unread)
    assert choice.allows("src/") and not choice.allows("lib/")


def test_include_by_name_makes_a_file_count() -> None:
    choice = Choice(include=["SConstruct", "*.bzl", "src/"])
    assert choice.counts("SConstruct", unread) and choice.counts("a/SConstruct", unread)
    assert choice.counts("rules/x.bzl", unread)
    assert not choice.counts("SConstruct/readme.txt", unread)
    assert not Choice(include=["SConstruct"], exclude=["a/"]).counts("a/SConstruct", unread)


@pytest.mark.parametrize("pattern", ["", "# a comment", "!", "[z-a]", "\\", "a[", "/"])
def test_patterns_that_are_none(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"--exclude .* expected a pattern"):
        Choice(exclude=[pattern])


def test_include_must_include() -> None:
    with pytest.raises(UsageError, match="Use --exclude"):
        Choice(include=["!tests/"])
