"""Raw bytes to text: the encoding that CPython would find, and a way back to raw bytes from any offset."""

from __future__ import annotations

import codecs
import encodings.aliases
import io
import tokenize
from itertools import pairwise

import numpy as np
import pytest

from codelake.extract.text import Text, decoded

TEXT = "x = 'é ж 中 😀'\r\ny = 2\n"
# They have no place for such characters, or for Latin letters where ASCII has them.
SINGLE_BYTE = ["latin-1", "cp1252", "cp1251", "koi8-r", "iso8859-15", "mac-roman", "cp437", "cp850", "tis-620"]
MULTI_BYTE = ["utf-8", "gbk", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "iso2022_jp", "hz", "utf-7", "cp932"]


def text_of(raw: bytes) -> Text:
    found = decoded(raw)
    assert found is not None
    return found


def check_offsets(raw: bytes, found: Text) -> None:
    """Each character, taken back to raw bytes, is what those bytes decode to; offsets never go back."""
    n = len(found.utf8)
    offsets = found.raw(np.arange(n + 1, dtype=np.int32)).tolist()
    assert offsets == [found.raw_offset(i) for i in range(n + 1)]
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(raw)
    starts = [i for i in range(n) if found.utf8[i] & 0xC0 != 0x80] + [n]
    for start, end in pairwise(starts):
        character = found.utf8[start:end].decode()
        codec = "utf-8" if found.encoding == "utf-8-sig" else found.encoding
        if codec not in ("iso2022_jp", "hz", "utf-7", "unicode_escape"):  # their bytes mean nothing alone
            assert raw[offsets[start] : offsets[end]].decode(codec) == character


@pytest.mark.parametrize("encoding", [*SINGLE_BYTE, *MULTI_BYTE])
def test_declared_encodings(encoding: str) -> None:
    body = TEXT.encode(encoding, "ignore").decode(encoding)
    source = f"#!/usr/bin/python\n# vim: set fileencoding={encoding} :\n{body}"
    raw = source.encode(encoding)
    found = text_of(raw)
    assert (found.text, found.problem) == (source, None)
    assert found.utf8.decode() == source
    check_offsets(raw, found)
    ascii_only = f"# coding: {encoding}\nx = 1\n".encode()
    assert text_of(ascii_only).utf8 == ascii_only


def test_any_name_is_read_or_said_to_be_wrong() -> None:
    """What `tokenize` refuses is a problem; what it reads is read the same, or is a problem."""
    for name in sorted({*encodings.aliases.aliases, "utf-8-unix", "latin-1-dos", "utf_8_sig", "nonsense"}):
        raw = f"# coding: {name}\nx = 'abc'\n".encode()
        found = text_of(raw)
        try:
            expected = raw.decode(tokenize.detect_encoding(io.BytesIO(raw).readline)[0])
        except (SyntaxError, LookupError, UnicodeError):
            assert found.problem, name
        else:
            assert found.text == expected or found.problem, name
        assert "x = 'abc'" in found.text, name
        check_offsets(raw, found)


@pytest.mark.parametrize(
    ("cookie", "problem"),
    [
        ("rot13", "'rot13' is no encoding of source code"),
        ("hex", "'hex' is no encoding of source code"),
        ("idna", "'idna' is no encoding of source code"),
        ("punycode", "'punycode' is no encoding of source code"),
        ("undefined", "the bytes are not valid undefined"),
        ("mbcs-xyz", "the encoding 'mbcs-xyz' is not known"),
        ("utf-16", "the bytes are not valid utf-16"),
        ("utf-32-le", "the bytes are not valid utf-32-le"),
        ("cp037", "the bytes are not valid cp037"),
        ("ascii", "the bytes are not valid ascii"),
    ],
)
def test_encodings_that_are_wrong_are_read_as_utf_8(cookie: str, problem: str) -> None:
    raw = f"# coding: {cookie}\né = 1\n".encode()
    found = text_of(raw)
    assert (found.encoding, found.problem) == ("utf-8", problem)
    assert found.text == raw.decode()


def test_what_is_not_utf_8_and_declares_nothing_is_read_as_latin_1() -> None:
    raw = b"x = '\xe9'\n"
    found = text_of(raw)
    assert (found.encoding, found.problem, found.text) == ("iso8859-1", "the bytes are not valid utf-8", "x = 'é'\n")
    check_offsets(raw, found)


@pytest.mark.parametrize(
    ("first", "second", "encoding"),
    [
        (b"# coding: latin-1", b"", "iso8859-1"),
        (b"", b"# coding: latin-1", "iso8859-1"),
        (b"\x0c \t# x", b"# -*- coding=latin-1 -*-", "iso8859-1"),
        (b"x = 1", b"# coding: latin-1", "utf-8"),
        (b"'''", b"# coding: latin-1'''", "utf-8"),
        (b"#" + b" " * 10_000 + b"coding: latin-1", b"", "iso8859-1"),
        (b"#" + b" " * 10_000, b"# coding: latin-1", "iso8859-1"),
        (b"# encoding: utf8", b"# coding: latin-1", "utf-8"),
    ],
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_where_an_encoding_is_declared(first: bytes, second: bytes, encoding: str, newline: bytes) -> None:
    raw = newline.join([first, second, b"x = 1", b""])
    assert text_of(raw).encoding == encoding


def test_a_mark_of_utf_8_is_not_part_of_the_text() -> None:
    raw = codecs.BOM_UTF8 + TEXT.encode()
    found = text_of(raw)
    assert (found.encoding, found.text, found.problem, found.raw_offset(0)) == ("utf-8-sig", TEXT, None, 3)
    check_offsets(raw, found)
    assert "declares 'latin-1'" in str(text_of(codecs.BOM_UTF8 + b"# coding: latin-1\n").problem)
    assert text_of(codecs.BOM_UTF8 + b"# coding: utf-8\n").problem is None
    broken = text_of(codecs.BOM_UTF8 + b"x = '\xe9'\n")
    assert (broken.encoding, broken.text, broken.raw_offset(0)) == ("iso8859-1", "x = 'é'\n", 3)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_read_by_their_marks(encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else "\ufeff".encode(encoding)
    raw = mark + TEXT.encode(encoding)
    found = text_of(raw)
    assert found.text == TEXT
    assert "which Python does not read" in str(found.problem)
    check_offsets(raw, found)
    assert decoded(raw[:-1]) is None or encoding.startswith("utf-8")


@pytest.mark.parametrize("cookie", ["utf-7", "unicode_escape", "raw_unicode_escape"])
def test_lone_surrogates_are_no_text(cookie: str) -> None:
    raw = f"# coding: {cookie}\nx = '+2AA-', '\\ud800'\n".encode()
    found = text_of(raw)
    found.text.encode()
    if found.problem:
        assert found.encoding == "utf-8"


def test_binary_is_no_text() -> None:
    for raw in (bytes(100), bytes(range(256)) * 3, b"\x7fELF\x02\x01\x01" + bytes(50), "x = 1\n".encode("utf-16-le")):
        assert decoded(raw) is None
    assert decoded(b"x = 1 # " + b"a" * 100 + b"\0") is not None


def test_lines_end_as_those_of_cpython_do() -> None:
    found = text_of("a\nb\r\nc\rd\x0ce\x0bf\x85g\u2028h\x1ci".encode())
    assert [found.utf8[s:e] for s, e in pairwise(found.line_starts)] == [
        b"a\n",
        b"b\r\n",
        b"c\r",
        "d\x0ce\x0bf\x85g\u2028h\x1ci".encode(),
    ]
    assert text_of(b"").line_starts == [0]
    assert text_of(b"\n").line_starts == [0, 1]
