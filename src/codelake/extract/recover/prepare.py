"""What tree-sitter is given in place of the bytes themselves.

It is of the same length, so offsets mean the same; texts of names and strings are taken from the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CR = re.compile(rb"\r(?!\n)")
_SPACE_BEFORE_TAB = re.compile(rb"^(?=[\t\f]* +\t)[ \t\f]+", re.M)
# Python 2's exec takes any expression, which tree-sitter knows of `del` only.
_EXEC = re.compile(rb"(?:^|[:;])[ \t\f]*(exec)(?=[ \t]+[^\s=.,()\]:+*/%|&^<>@;-])", re.M)
# `type` is a word of the language before a name and = or [ only.
_TYPE = re.compile(rb"\btype\b(?![ \t]+\w+[ \t]*(?:=(?!=)|\[))")
# tree-sitter has no star import from `__future__`; the compiler refuses it, the parser does not.
_FUTURE = re.compile(rb"\b(?<=from[ \t])__future__(?=[ \t]+import[ \t]*\*)")
# What was a name before it was a word of the language; tree-sitter takes most of them for names in some places only.
_NAMES = re.compile(
    rb"\b(?:(?:True|False)(?=(?:[ \t]*,[ \t]*(?:True|False))?[ \t]*=(?!=))"
    rb"|async\b(?![ \t]+(?:def|with|for)\b)|await(?=[ \t]*[=,).:\]])"
    rb"|(?<=\.)(?:await|True|False|None)\b)"
)
# In type parameters, `= default` and `**P` are written so that tree-sitter takes them for expressions.
_TYPE_PARAMETERS = re.compile(
    rb"\b(?:def|class|type)[ \t]+\w+[ \t]*\[(?:[^][=*]*+|\[[^][]*+\])*?[=*][^][]*+(?:\[[^][]*+\][^][]*+)*+\]"
)
_DEFAULT = re.compile(rb"(?<![=!<>:])=(?!=)|\*\*(?=[ \t]*\w)")
_CONFLICT = re.compile(rb"^(<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)(?:[ \t][^\n]*)?\r?$", re.M)
_NO_NEWLINE = re.compile(rb"[^\r\n]")
TAB = 8


def prepared(utf8: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The bytes for tree-sitter, and what was left out of them: merge conflicts are read as the side that is first."""
    left_out: list[tuple[int, int]] = []
    if b"\r" in utf8:
        utf8 = _CR.sub(b"\n", utf8)
    if b"\0" in utf8:
        utf8 = utf8.replace(b"\0", b"\x01")  # to tree-sitter, a NUL may be the end
    if b"\t" in utf8:
        utf8 = _SPACE_BEFORE_TAB.sub(_indentation, utf8)
    if b"type" in utf8:
        utf8 = _TYPE.sub(b"tYpe", utf8)
    utf8 = _FUTURE.sub(b"__futurE__", utf8)
    utf8 = _NAMES.sub(lambda m: m[0][:-1] + m[0][-1:].upper(), utf8)
    utf8 = _TYPE_PARAMETERS.sub(lambda m: _DEFAULT.sub(lambda d: b"<" if d[0] == b"=" else b" *", m[0]), utf8)
    if b"exec" in utf8:
        utf8 = _EXEC.sub(lambda m: m[0].replace(b"exec", b"del "), utf8)
    if b"\n=======" in utf8 and b"\n>>>>>>>" in utf8:
        marked = bytearray(utf8)
        for first, start, end in _conflicts(utf8):
            marked[first] = ord("#")
            marked[start:end] = _NO_NEWLINE.sub(b" ", utf8[start:end])
            left_out += [(first, first + 7), (start, end)]
        utf8 = bytes(marked)
    return utf8, left_out


def _conflicts(utf8: bytes) -> Iterator[tuple[int, int, int]]:
    """Where the first mark of a conflict is, and from where to where the sides are that are not read."""
    first = other = -1
    for found in _CONFLICT.finditer(utf8):
        if found[1] == b"<<<<<<<":
            first, other = found.start(), -1
        elif found[1] != b">>>>>>>":
            other = found.start() if other < 0 else other
        elif 0 <= first < other:
            yield first, other, found.end()
            first = other = -1


def _indentation(found: re.Match[bytes]) -> bytes:
    """The same width in the same number of bytes. tree-sitter adds 8 a tab, Python goes on to the next multiple
    of 8; to both of them, a form feed starts at 0 again."""
    width = 0
    for byte in found[0]:
        width = 0 if byte == 0x0C else width + 1 if byte == 0x20 else (width // TAB + 1) * TAB
    tabs, spaces = divmod(width, TAB)
    return (b"\t" * tabs + b" " * spaces).rjust(len(found[0]), b"\f")
