"""Raw bytes to text, and offsets in that text back to raw bytes.

A span is a range of the file's raw bytes. Parsers count in other units: CPython in bytes of the UTF-8 form
of a line, tree-sitter in bytes of what it was given, which here is the same UTF-8 form. So there is one
intermediate coordinate, the offset in `Text.utf8`, and one map from it to raw bytes. For UTF-8 files the map
is a constant shift; for other encodings it is found by decoding byte by byte.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_WIDE_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f]")
_CONTROL_SHARE = 0.1
"""More control characters than this, and the bytes are no text."""

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


def decoded(raw: bytes) -> Text | None:
    """The text of a source file, read as CPython reads it or else as well as can be; None for what is no text."""
    encoding, problem = _declared(raw)
    start = 0
    if encoding == "utf-8-sig":
        start = 3
    elif problem and encoding.startswith(("utf-16", "utf-32")):
        start = 4 if encoding.startswith("utf-32") else 2
    body = raw[start:] if start else raw
    found = _text(body, encoding)
    if found is None and encoding not in ("latin-1", "iso8859-1"):
        problem = problem or f"the bytes are not valid {encoding.removesuffix('-sig')}"
        if start != 2 and start != 4 and encoding != "utf-8-sig" and (found := _text(body, "utf-8")) is not None:
            encoding = "utf-8"
        else:
            encoding, start, body = "iso8859-1", 0, raw
            found = _text(raw, encoding)
    if found is None:
        return None
    text, utf8, offsets = found
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        return None
    if offsets is not None and start:
        offsets = offsets + np.int32(start)
    line_starts = [0, *accumulate(map(len, utf8.splitlines(True)))]
    return Text(encoding, text, utf8, line_starts, start, offsets, problem)


def _declared(raw: bytes) -> tuple[str, str | None]:
    """The encoding that the first bytes declare, as `tokenize.detect_encoding` finds it, and what is wrong with it."""
    has_bom = raw.startswith(codecs.BOM_UTF8)
    if not has_bom:
        for bom, name in _WIDE_BOMS:
            if raw.startswith(bom):
                return name, f"the bytes are {name}, which Python does not read"
    default = "utf-8-sig" if has_bom else "utf-8"
    head = raw[3 if has_bom else 0 :][:4096].splitlines()[:2]
    for line in head:
        if found := _COOKIE.match(line):
            named = found[1].decode("ascii", "replace")
            try:
                codec = codecs.lookup(named)
            except (LookupError, ValueError):
                return default, f"the encoding {named!r} is not known"
            if not codec._is_text_encoding:
                return default, f"{named!r} is no encoding of text"
            if has_bom and codec.name != "utf-8":
                return default, f"the file starts with a UTF-8 mark, and declares {named!r}"
            return (default if codec.name == "utf-8" else codec.name), None
        if not _NO_CODE.match(line):
            break
    return default, None


def _text(raw: bytes, encoding: str) -> tuple[str, bytes, Offsets | None] | None:
    """Text, its UTF-8 form, and the raw offset of each offset in that form unless they are the same."""
    if encoding in ("utf-8", "utf-8-sig"):
        try:
            return raw.decode("utf-8"), raw, None
        except UnicodeDecodeError:
            return None
    if raw.isascii() and codecs.lookup(encoding).name in _OVER_ASCII:
        return raw.decode("ascii"), raw, None
    try:
        text = raw.decode(encoding)
        utf8 = text.encode("utf-8")
    except UnicodeError:
        return None
    offsets = _raw_offsets(raw, encoding, text, len(utf8))
    return None if offsets is None else (text, utf8, offsets)


_OVER_ASCII = frozenset(
    ["ascii", "iso8859-1", "iso8859-15", "cp1252", "cp1251", "koi8-r", "gbk", "gb2312", "big5", "euc_jp", "euc_kr"]
)
"""Encodings in which ASCII bytes are ASCII characters wherever they stand alone in a file; the usual ones."""


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
