"""What tree-sitter is given in place of the bytes themselves.

It is of the same length, so offsets mean the same; texts of names and strings are taken from the original.
"""

from __future__ import annotations

import re

_CR = re.compile(rb"\r(?!\n)")
_SPACE_BEFORE_TAB = re.compile(rb"^(?=[\t\f]* +\t)[ \t\f]+", re.M)
# Python 2's exec takes any expression, which tree-sitter knows of `del` only.
_EXEC = re.compile(rb"(?:^|[:;])[ \t\f]*(exec)(?=[ \t]+[^\s=.,()\]:+*/%|&^<>@;-]|[ \t]*\(.*\)[ \t]*in\b)", re.M)
# `type` is a word of the language before a name and = or [ only.
_TYPE = re.compile(rb"\btype\b(?![ \t]+\w+[ \t]*(?:=(?!=)|\[))")
# What was a name before it was a word of the language; tree-sitter takes most of them for names in some places only.
_NAMES = re.compile(
    rb"\b(?:(?:True|False|None)(?=[ \t]*=(?!=))|async\b(?![ \t]+(?:def|with|for)\b)|await(?=[ \t]*[=,).:\]]))"
)
_CONFLICT = re.compile(
    rb"^<<<<<<<(?:[ \t][^\n]*)?\n(?:.*\n)*?(?P<other>(?:\|\|\|\|\|\|\|(?:[ \t][^\n]*)?\n(?:.*\n)*?)?"
    rb"=======\r?\n(?:.*\n)*?>>>>>>>(?:[ \t][^\n]*)?$)",
    re.M,
)
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
    utf8 = _NAMES.sub(lambda m: m[0][:-1] + m[0][-1:].upper(), utf8)
    if b"exec" in utf8:
        utf8 = _EXEC.sub(lambda m: m[0].replace(b"exec", b"del "), utf8)
    if b"\n=======" in utf8 and b"\n>>>>>>>" in utf8:
        marked = bytearray(utf8)
        for found in _CONFLICT.finditer(utf8):
            first, (start, end) = found.start(), found.span("other")
            marked[first] = ord("#")
            marked[start:end] = _NO_NEWLINE.sub(b" ", utf8[start:end])
            left_out += [(first, first + 7), (start, end)]
        utf8 = bytes(marked)
    return utf8, left_out


def _indentation(found: re.Match[bytes]) -> bytes:
    """The same width in the same number of bytes. tree-sitter adds 8 a tab, Python goes on to the next multiple
    of 8; to both of them, a form feed starts at 0 again."""
    width = 0
    for byte in found[0]:
        width = 0 if byte == 0x0C else width + 1 if byte == 0x20 else (width // TAB + 1) * TAB
    tabs, spaces = divmod(width, TAB)
    return (b"\t" * tabs + b" " * spaces).rjust(len(found[0]), b"\f")
