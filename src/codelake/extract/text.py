"""Raw bytes to text, and offsets in that text back to raw bytes.

A span is a range of the file's raw bytes. Parsers count in other units: CPython in bytes of the UTF-8 form
of a line, tree-sitter in bytes of what it was given, which here is the same UTF-8 form. So there is one
intermediate coordinate, the offset in `Text.utf8`, and one map from it to raw bytes. For UTF-8 files the map
is a constant shift; for other encodings it is found by decoding byte by byte.
"""

from __future__ import annotations

import codecs
import re
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|$)")
_WIDE_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LATIN = "iso8859-1"
# Names of hosts, which their codecs change.
_NO_SOURCE = ("idna", "punycode")
# Of several bytes a character, but a byte of ASCII is that character.
_OVER_ASCII = ("gbk", "gb2312", "gb18030", "big5", "big5hkscs", "cp949", "cp950", "euc_jp", "euc_kr", "johab")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f]")
_CONTROL_SHARE = 0.1
"""More control characters than this, and the bytes are no text."""

_COOKIE_WITHIN = 100_000
"""Characters at the start of a text among which the comment is that names its encoding."""

Offsets = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file. `problem` says why CPython would not have read it so."""

    encoding: str
    text: str
    utf8: bytes
    line_starts: list[int]
    """Offset in `utf8` at which each line starts, and the end of the text; lines end as CPython's do."""
    shift: int
    """What to add to an offset in `utf8` to get one in the raw bytes, where `raw_offsets` is None."""
    raw_offsets: Offsets | None
    problem: str | None

    def raw(self, offsets: Offsets) -> Offsets:
        """Offsets in `utf8` as offsets in the raw bytes."""
        if self.raw_offsets is not None:
            return self.raw_offsets[offsets]
        return offsets + np.int32(self.shift) if self.shift else offsets

    def raw_offset(self, offset: int) -> int:
        return offset + self.shift if self.raw_offsets is None else int(self.raw_offsets[offset])


class _Declared(NamedTuple):
    encoding: str
    start: int
    """How many bytes the mark at the start of the file takes."""
    problem: str | None
    cookie: str | None = None
    """The name in a comment, if the encoding is from there."""


def decoded(raw: bytes) -> Text | None:
    """The text of a source file, read as CPython reads it or else as well as can be; None for what is no text."""
    encoding, start, problem, cookie = _declared(raw)
    body = raw[start:] if start else raw
    found = _text(body, encoding)
    if found and cookie and cookie not in found[0][:_COOKIE_WITHIN]:
        found = None  # read with this encoding, the comment that names it is not there
    if found is None:
        problem = problem or f"the bytes are not valid {cookie or encoding.removesuffix('-sig')}"
        if start in (2, 4):
            body, start = raw, 0
        found = _text(body, "utf-8") if cookie else None
        encoding = _LATIN if found is None else "utf-8"
        found = found or _text(body, _LATIN)
    if found is None:
        return None
    text, utf8, offsets = found
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        return None
    if offsets is not None and start:
        offsets = offsets + np.int32(start)
    line_starts = [0, *accumulate(map(len, utf8.splitlines(True)))]
    return Text(encoding, text, utf8, line_starts, start, offsets, problem)


def _declared(raw: bytes) -> _Declared:
    """What the first bytes declare, as `tokenize.detect_encoding` finds it, and what is wrong with it."""
    has_bom = raw.startswith(codecs.BOM_UTF8)
    if not has_bom:
        for bom, name in _WIDE_BOMS:
            if raw.startswith(bom):
                return _Declared(name, len(bom), f"the bytes are {name}, which Python does not read")
    default, start = ("utf-8-sig", 3) if has_bom else ("utf-8", 0)
    at = start
    for _ in range(2):
        line = _LINE.match(raw, at)
        if line is None:
            break
        if found := _COOKIE.match(line[1]):
            return _named(found[1].decode("ascii"), default, start)
        if not _NO_CODE.match(line[1]):
            break
        at = line.end()
    return _Declared(default, start, None)


def _named(cookie: str, default: str, start: int) -> _Declared:
    """The encoding that a comment names."""
    normal = cookie[:12].lower().replace("_", "-")
    if normal == "utf-8" or normal.startswith("utf-8-"):  # as editors write it, utf-8-unix
        return _Declared(default, start, None)
    is_latin = normal.startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-"))
    try:
        codec = codecs.lookup(_LATIN if is_latin else cookie)
    except LookupError:
        return _Declared(default, start, f"the encoding {cookie!r} is not known")
    if not codec._is_text_encoding or codec.name in _NO_SOURCE:
        return _Declared(default, start, f"{cookie!r} is no encoding of source code")
    if start:  # `utf8` too: behind the mark CPython takes no other name for it
        return _Declared(default, start, f"the file starts with a UTF-8 mark, and declares {cookie!r}")
    if codec.name == "utf-8":
        return _Declared(default, start, None)
    return _Declared(codec.name, start, None, cookie)


def _text(raw: bytes, encoding: str) -> tuple[str, bytes, Offsets | None] | None:
    """Text, its UTF-8 form, and the raw offset of each offset in that form unless they are the same."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that are none, in the encoding of that name
            text = raw.decode("utf-8" if encoding == "utf-8-sig" else encoding)
        utf8 = text.encode("utf-8")
    except UnicodeError:  # lone surrogates too
        return None
    if encoding in ("utf-8", "utf-8-sig"):
        return text, raw, None
    is_single = _is_single_byte(encoding) and len(text) == len(raw)
    if utf8 == raw and (is_single or encoding in _OVER_ASCII):
        return text, raw, None
    offsets = _places_of_characters(utf8) if is_single else _raw_offsets(raw, encoding, text, len(utf8))
    return None if offsets is None else (text, utf8, offsets)


@cache
def _is_single_byte(encoding: str) -> bool:
    if encoding in ("ascii", _LATIN):
        return True
    module = sys.modules.get(f"encodings.{encoding.replace('-', '_')}")
    return hasattr(module, "decoding_table")


def _places_of_characters(utf8: bytes) -> Offsets:
    """Which character each byte is part of, counted from 0; behind the last, how many there are."""
    starts = (np.frombuffer(utf8, np.uint8) & 0xC0) != 0x80
    return np.append(np.cumsum(starts, dtype=np.int32) - 1, np.int32(np.count_nonzero(starts))).astype(np.int32)


def _raw_offsets(raw: bytes, encoding: str, text: str, n_utf8: int) -> Offsets | None:
    """Where in `raw` each character begins, spread over the bytes of its UTF-8 form; None if that cannot be told."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        return None
    offsets = np.zeros(n_utf8 + 1, np.int32)
    at, began, n_seen = 0, 0, 0
    for place in range(len(raw)):
        try:
            made = decoder.decode(raw[place : place + 1], final=place == len(raw) - 1)
        except UnicodeError:
            return None
        if not made:
            continue
        if text[n_seen : n_seen + len(made)] != made:
            return None
        n_seen += len(made)
        n = len(made.encode("utf-8"))
        offsets[at : at + n] = began
        at, began = at + n, place + 1
    offsets[at:] = len(raw)
    return offsets if n_seen == len(text) else None
