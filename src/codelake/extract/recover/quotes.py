"""Where strings end, if they do."""

from __future__ import annotations

import re

STRINGS = {
    quote: re.compile(body, re.S)
    for quote, body in {
        b'"': rb'[^"\\\r\n]*+(?:(?:\\(?:\r\n|.)|\r(?!\n))[^"\\\r\n]*+)*+',
        b"'": rb"[^'\\\r\n]*+(?:(?:\\(?:\r\n|.)|\r(?!\n))[^'\\\r\n]*+)*+",
        b'"""': rb'[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+',
        b"'''": rb"[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+",
    }.items()
}
FORMATTED = re.compile(rb"(?:\b|(?<=\d))(?:[fFtT][rR]?|[rR][fFtT])\Z")
_IN_FORMATTED = re.compile(rb"\\.|\{\{|\}\}|[{}]|\"\"\"|'''|[\"'\n]", re.S)
_MAX_FORMATTED = 20_000
"""Bytes in which the end of a formatted string is looked for."""
# Behind the quotes that close a string no word can stand: they open one.
_OPENS = re.compile(rb"[\w`*:<\\]")
_HEADER = re.compile(rb"\n[ \t]*(?:(?:async[ \t]+)?def\b|class\b|\))[^\n]*:[ \t]*\r?\n[ \t]*[rRuUbB]?\Z")
_CODE = re.compile(
    rb"^[ \t]*(?:(?:def|class)[ \t]+\w+.*|(?:if|for|while|with|try|elif|else|except|finally)\b.*:|@[\w.]+.*"
    rb"|(?:return|raise|yield)\b.*|(?:from[ \t]+[\w.]+[ \t]+)?import[ \t][\w., \t(]+|[\w.\[\]]+[ \t]*[-+*/|&]?=[ \t].*"
    rb"|[\w.]+\(.*|pass|break|continue|(?:del|assert|global)[ \t].*|[rRuUbB]?\"\"\".*)[ \t\r]*$",
    re.M,
)
_DEFINITION = re.compile(rb"^[ \t]*(?:@|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(])", re.M)


def seems_open(source: bytes, start: int, end: int) -> bool:
    """The quotes at the end of a long string look like those that open the next one."""
    return bool(_OPENS.match(source, end) or _HEADER.search(source, max(start + 3, end - 200), end - 3))


def end_of_text(source: bytes, start: int, *, is_last: bool) -> int:
    """Where a long string that nothing closes gives way to code: before the first line that looks like it. With no
    string behind it there may be no code, as in a file that is cut off: only definitions count then."""
    line_end = source.find(b"\n", start)
    if line_end < 0:
        return len(source)
    code = (_DEFINITION if is_last else _CODE).search(source, line_end + 1)
    if code:
        return len(source[: code.start()].rstrip())
    return len(source) if is_last else len(source[:line_end].rstrip())


def formatted_end(source: bytes, at: int, quote: bytes) -> int | None:
    """Where a formatted string ends, in whose braces any quotes may stand; None if it does not seem to end."""
    inside: list[bytes] = [quote]
    """Quotes of formatted strings and opening braces, from the outside in."""
    limit = at + _MAX_FORMATTED
    while (found := _IN_FORMATTED.search(source, at)) and at < limit:
        sign, top = found[0], inside[-1]
        at = found.end()
        if top == b"{":
            if sign[:1] == b"{":
                inside += [b"{"] * len(sign)
            elif sign[:1] == b"}":
                inside.pop()
                at = found.start() + 1
            elif sign[:1] in b"\"'":
                if FORMATTED.search(source, max(0, found.start() - 3), found.start()):
                    inside.append(sign)
                elif (plain := STRINGS[sign].match(source, at)) and source.startswith(sign, plain.end()):
                    at = plain.end() + len(sign)
                else:
                    return None
        elif sign == b"{":
            inside.append(b"{")
        elif sign.startswith(top):
            inside.pop()
            at = found.start() + len(top)
            if not inside:
                return at
        elif (sign == b"}" and len(inside) > 1 and inside[-1] != quote) or (sign == b"\n" and len(top) == 1):
            return None
    return None
