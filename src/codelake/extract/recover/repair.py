"""Brackets and strings that nothing closes, and where one statement of a module ends and the next begins.

A bracket that is never closed makes all that follows part of one expression. But some words never stand inside
brackets: before a line that starts with one of them, all brackets must have been closed. They are closed here,
where the line before ends, so that what follows is read as if nothing had been wrong.

The statements of a module are parsed one by one: an error spoils no more than one of them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelake.extract.recover.quotes import FORMATTED, STRINGS, end_of_text, formatted_end, seems_open

_TOKEN = re.compile(
    rb"""(?P<comment>\#[^\n]*)|(?P<quote>\"\"\"|'''|\"|')|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<colon>:)"""
    rb"""|(?P<continuation>\\\r?\n)|(?P<newline>\r?\n)"""
)
_CLOSERS = {b"(": b")", b"[": b"]", b"{": b"}"}
_NEVER_IN_BRACKETS = re.compile(
    rb"[ \t\f]*(?:(?:def|class|return|import|while|with|try|except|finally|raise|pass|break|continue|global|nonlocal"
    rb"|assert|del|elif)\b(?![ \t]*[=.(,)\]}])|(?:return|raise|assert|del|while|elif|except)\b[ \t]*\("
    rb"|from[ \t]+[\w.]+[ \t]+import\b|async[ \t]+(?:def|with)\b)"
)
_OPENS_BLOCK = re.compile(
    rb"[ \t\f]*(?:async[ \t]+)?(?:(?P<named>def|class)|if|while|for|with|try|else|elif|except|finally)\b(?![ \t]*[=.,])"
)
_NO_PARAMETERS = re.compile(rb"[ \t\f]*(?:async[ \t]+)?def[ \t]+\w+[ \t]*\Z")
_DECORATOR = re.compile(rb"[ \t\f]*@")
_CONTINUES = re.compile(rb"(?:else|elif|except|finally)\b")
_BLANK = re.compile(rb"[ \t\f]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_INDENTATION = re.compile(rb"[ \t\f]*")
# No statement ends so: the newline would be taken for a space, and two lines for one.
_INCOMPLETE = re.compile(
    rb"(?:(?<!\.\.)\.|[-+/%&|^~<>=@]|(?<!import)(?<!import[ \t])\*|\b(?:and|or|not|in|is|as|if|lambda|await))\Z"
)
_FLOAT = re.compile(rb"(?<![\w.])[0-9][0-9_]*\.\Z")
_MAX_TRIES = 3
_MAX_OPEN_FORMATS = 20
"""How often the end of a formatted string is looked for without success."""


class Break(NamedTuple):
    """The end of a line inside brackets."""

    at: int
    end: int
    """Of the last thing before it that is no comment."""
    innermost: int
    """Where the innermost bracket is that was open."""
    n_blanked: int
    n_inserted: int
    n_problems: int


class Repaired(NamedTuple):
    source: bytes
    """Without newlines and comments inside brackets: tree-sitter is not sure of indentation there."""
    statements: list[int]
    """Where the statements of the module start; the first is 0."""
    inserted: list[tuple[int, bytes]]
    """What is missing, and where."""
    problems: list[tuple[int, int, str]]


def repaired(source: bytes) -> Repaired:
    closed: dict[int, int] = {}
    while True:
        lexer = _Lexer(source, closed)
        found = lexer.run()
        if lexer.unclosed is None or len(closed) == _MAX_TRIES:
            return found
        closed[lexer.unclosed] = end_of_text(source, lexer.unclosed, is_last=lexer.unclosed == lexer.last)


class _Lexer:
    def __init__(self, source: bytes, closed: dict[int, int]) -> None:
        self.source = source
        self.closed = closed
        """Where long strings start that are to end before their closing quotes, and where."""
        self.unclosed: int | None = None
        """Where a long string starts that was probably not closed, if the last one was not."""
        self.last: int | None = None
        """Where the last long string starts, if it was not closed."""
        self._suspect: int | None = None
        self.inserted: list[tuple[int, bytes]] = []
        self.problems: list[tuple[int, int, str]] = []
        self.statements = [0]
        self.blanked: list[tuple[int, int]] = []
        self.opened: list[tuple[bytes, int]] = []
        self.breaks: list[Break] = []
        self.indentation = 0
        """Of the line that the statement starts with."""
        self.end = 0
        """Of the last thing seen that is no comment."""
        self.line = 0
        """Where the statement's first line starts."""
        self.header: re.Match[bytes] | None = None
        """The words with which it opens a block."""
        self.has_colon = False
        """Outside of brackets."""
        self.is_ended = True
        """What follows, if anything does, is another statement."""
        self.is_decorated = False
        self.n_open_formats = 0

    def run(self) -> Repaired:
        source, at = self.source, 0
        self._start_line(0)
        while True:
            while found := _TOKEN.search(source, at):
                at = self._token(found, at)
            self._mark_text(at, len(source))
            if not self.opened:
                break
            at = self._close_all(len(source))
            if at >= len(source):
                break
        self._end_line()
        made = bytearray(source)
        for start, end in self.blanked:
            made[start:end] = b" " * (end - start)
        return Repaired(bytes(made), self.statements, sorted(self.inserted, key=lambda i: i[0]), self.problems)

    def _mark_text(self, start: int, end: int) -> None:
        text = self.source[start:end].rstrip()
        if text:
            self.end = start + len(text)

    def _token(self, found: re.Match[bytes], at: int) -> int:
        """Goes over one token, and says where to go on."""
        start, end = found.span()
        self._mark_text(at, start)
        kind = found.lastgroup
        if kind == "newline":
            return self._newline(start, end)
        if kind == "quote":
            return self._string(start, found[0])
        if kind == "colon":
            self.has_colon = self.has_colon or not self.opened
            self.end = end
        elif kind == "open":
            self.opened.append((found[0], start))
            self.end = end
        elif kind == "close":
            self._close(found[0], start)
            self.end = end
        elif self.opened:
            self.blanked.append((start, end))
        return end

    def _newline(self, start: int, end: int) -> int:
        if not self.opened:
            self._end_line()
            self._start_line(end)
            return end
        counts = len(self.blanked), len(self.inserted), len(self.problems)
        self.breaks.append(Break(start, self.end, self.opened[-1][1], *counts))
        self.blanked.append((start, end))
        if _NEVER_IN_BRACKETS.match(self.source, end):
            return self._close_all(end)
        return end

    def _end_line(self) -> None:
        """Puts in what is missing at the end of a statement: a name, and a colon."""
        if self.is_ended:
            return
        self.is_ended = True
        here = max(self.line, self.end - 40), self.end
        if _INCOMPLETE.search(self.source, *here) and not _FLOAT.search(self.source, *here):
            self.inserted.append((self.end, b" _"))
        if self.header and not self.has_colon and self.end >= self.header.end() + bool(self.header["named"]):
            has_none = _NO_PARAMETERS.match(self.source, self.line, self.end)
            self.inserted.append((self.end, b"():" if has_none else b":"))
            self.problems.append((self.end, self.end, ": is missing"))
        self.header = None

    def _start_line(self, at: int) -> None:
        self.breaks.clear()
        if _BLANK.match(self.source, at):
            return
        self.line, self.has_colon, self.is_ended = at, False, False
        self.header = _OPENS_BLOCK.match(self.source, at)
        self.indentation = self._width(at)
        if self.indentation == 0:
            first = _INDENTATION.match(self.source, at)
            here = first.end() if first else at
            if not self.is_decorated and at and not _CONTINUES.match(self.source, here):
                self.statements.append(at)
            self.is_decorated = self.source.startswith(b"@", here)

    def _width(self, at: int) -> int:
        found = _INDENTATION.match(self.source, at)
        width = 0
        for byte in found[0] if found else b"":
            width = 0 if byte == 0x0C else width + 8 if byte == 0x09 else width + 1
        return width

    # Brackets

    def _close(self, sign: bytes, at: int) -> None:
        depth = len(self.opened) - 1
        while depth >= 0 and _CLOSERS[self.opened[depth][0]] != sign:
            depth -= 1
        if depth < 0:
            self.blanked.append((at, at + 1))
            self.problems.append((at, at + 1, f"nothing is open that {sign.decode()} could close"))
            return
        self._insert_closers(self.end, depth + 1)
        self.opened.pop()

    def _insert_closers(self, at: int, depth: int) -> None:
        while len(self.opened) > depth:
            opening, place = self.opened.pop()
            self.inserted.append((at, _CLOSERS[opening]))
            self.problems.append((place, place + 1, f"{opening.decode()} is never closed"))

    def _close_all(self, at: int) -> int:
        """Closes what is open before the line at `at`, or sooner if an earlier line looks like a statement. Says
        where to go on: at the end of the line behind which all is closed."""
        chosen = self._break_before(at)
        if chosen is not None:
            del self.blanked[chosen.n_blanked :]
            del self.inserted[chosen.n_inserted :]
            del self.problems[chosen.n_problems :]
        end = self.end if chosen is None else chosen.end
        if self.header and self.source[end - 1 : end] == b":":
            end -= 1  # def f(a, b:
            self.has_colon = True
        self._insert_closers(end, 0)
        return at if chosen is None else chosen.at

    def _break_before(self, at: int) -> Break | None:
        candidates = [b for b in self.breaks if b.innermost == self.opened[-1][1]]
        for found in candidates:
            behind = self.source.index(b"\n", found.at) + 1
            is_header = self.header and self.source[found.end - 1 : found.end] == b":"
            if is_header or (self._width(behind) <= self.indentation and not _BLANK.match(self.source, behind)):
                return found
        chosen = None
        for found in reversed(candidates):
            behind = self.source.index(b"\n", found.at) + 1
            if behind != at and not _DECORATOR.match(self.source, behind):
                break
            chosen = found  # decorators belong to what they stand before
        return chosen

    # Strings

    def _string(self, start: int, quote: bytes) -> int:
        is_formatted = bool(FORMATTED.search(self.source, max(0, start - 3), start))
        if is_formatted and self.n_open_formats < _MAX_OPEN_FORMATS:
            end = formatted_end(self.source, start + len(quote), quote)
            if end is not None:
                self.end = end
                return end
            self.n_open_formats += 1
        found = STRINGS[quote].match(self.source, start + len(quote))
        end = found.end() if found else start + len(quote)
        if start in self.closed:
            end = self.closed[start]
        elif self.source.startswith(quote, end):
            end += len(quote)
            if len(quote) == 3 and self._suspect is None and seems_open(self.source, start, end):
                self._suspect = start
            self.end = end
            return end
        elif len(quote) == 3:
            self.last = start
            self.unclosed = start if self._suspect is None else self._suspect
        n_open = self.source.count(b"{", start, end) - self.source.count(b"}", start, end) if is_formatted else 0
        self.inserted.append((end, b"}" * n_open + quote))
        self.problems.append((start, end, "the string is never closed"))
        self.end = end
        return end
