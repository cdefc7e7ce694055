from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codelake.extract.sources.paths import folders_of, resolved, shown, shown_problem

NAMES = st.lists(st.sampled_from([b"a", b"\\", b"x", b"e9", b"\xe9", b"\xed\xa0\x80", "é".encode(), b"\n"]), max_size=7)


@given(NAMES.map(b"".join), NAMES.map(b"".join))
def test_no_two_paths_are_shown_alike(one: bytes, other: bytes) -> None:
    assert (shown(one) == shown(other)) is (one == other)
    shown(one).encode()


def test_only_what_is_not_utf8_is_escaped() -> None:
    assert shown("dé/a b\n.py".encode()) == "dé/a b\n.py"
    assert shown(b"a\\b.py") == "a\\b.py"
    assert shown(b"d\xe9/a\\b.py") == "d\\xe9/a\\\\b.py"
    assert shown_problem(b"a\\b.py") is None
    assert shown_problem(b"d\xe9.py") == "the path is not UTF-8; it is shown as d\\xe9.py"
    assert shown_problem(rb"d\xe9.py") == "the path has a backslash; it is shown as d\\\\xe9.py"


def test_where_links_lead() -> None:
    assert resolved(b"a/b/link", b"../c.py") == b"a/c.py"
    assert resolved(b"a/link", b".././/x") == b"x"
    assert resolved(b"link", b".") == b""
    assert resolved(b"link", b"a/../../x") is None
    assert resolved(b"a/link", b"/etc/passwd") is None


def test_folders_of_a_path() -> None:
    assert folders_of("a/b/c.py") == ["a/b", "a"]
    assert folders_of("c.py") == []
