"""Tables as wide as a terminal, of which nothing is cut off: a name that lost its end cannot be asked for, nor a place
opened that lost its line.

What does not fit goes on in the next line: texts are broken between words; a name or a place stays whole and takes the
line to its end, with what comes after it below. Where that would be so in many rows, names are above the rest; where
that does not help, each value has a line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from unicodedata import east_asian_width

Styled = Callable[[int, str, bool], str]
"""A text of the column with that number as it is printed; whether it is the column's head."""
GAP = 2
_INDENT = 4
_NARROWEST = 8
"""With columns of less, a row is easier to read from top to bottom."""
_NAMES = ("name", "qualified_name")


class Columns(NamedTuple):
    starts: list[int]
    widths: list[int]


class Piece(NamedTuple):
    start: int
    column: int
    text: str


def fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, styled: Styled) -> Iterator[str]:
    natural = [max(map(size, each)) for each in zip(columns, *rows, strict=True)]
    side = _columns(columns, natural, width)
    if not side or 3 * sum(any(_sticks_out(row, side)) for row in rows) > len(rows):
        whole = [max(_widest_word(cell) for cell in each) for each in zip(columns, *rows, strict=True)]
        side = _columns(columns, natural, width, least=whole)
    if side:
        for number, row in enumerate((columns, *rows)):
            yield from _drawn(_flowed(row, side, width), styled, number == 0)
        return
    n_above = 1 + next((place for place, name in enumerate(columns) if name in _NAMES), 0)
    above = Columns(_starts(natural[:n_above]), natural[:n_above])
    below = _columns(columns[n_above:], natural[n_above:], width, _INDENT)
    is_title = natural[n_above - 1] > 2 * _NARROWEST and above.starts[-1] < width // 2
    if below and is_title and sum(sum(_sticks_out(row[n_above:], below)) for row in rows) <= len(rows):
        for number, row in enumerate((columns, *rows)):
            yield from _drawn([*_flowed(row[:n_above], above, width)], styled, number == 0)
            yield from _drawn(_flowed(row[n_above:], below, width), styled, number == 0, n_above)
        return
    names = max(map(size, columns)) + GAP
    for row in rows:
        for place, (name, cell) in enumerate(zip(columns, row, strict=True)):
            if cell:
                yield f"{styled(place, name, True)}{' ' * (names - size(name))}{styled(place, cell, False)}"
        yield ""


def size(text: str) -> int:
    """Cells of a terminal: letters of East Asia take two."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _columns(
    names: Sequence[str], natural: Sequence[int], width: int, start: int = 0, *, least: Sequence[int] | None = None
) -> Columns | None:
    """Wide columns are narrowed to one width, as wide as fits, but none to less than `least`; None where that would be
    too narrow."""
    room = width - start - GAP * (len(names) - 1)
    least = least or [size(name) for name in names]
    for most in range(width, _NARROWEST - 1, -1):
        widths = [max(each, min(whole, most)) for each, whole in zip(least, natural, strict=True)]
        if sum(widths) <= room:
            return Columns(_starts(widths, start), widths)
    return None


def _widest_word(cell: str) -> int:
    return max(map(size, _parts(cell, 1)))


def _starts(widths: Sequence[int], start: int = 0) -> list[int]:
    return list(accumulate((each + GAP for each in widths[:-1]), initial=start))


def _sticks_out(row: Sequence[str], columns: Columns) -> Iterator[bool]:
    for cell, width in zip(row, columns.widths, strict=True):
        yield any(size(part) > width for part in _parts(cell, width))


def _parts(cell: str, width: int) -> list[str]:
    """The lines of a cell. What has no words is not broken; the indent of a tree stays."""
    if size(cell) <= width or " " not in cell.strip():
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def _flowed(row: Sequence[str], columns: Columns, width: int) -> list[list[Piece]]:
    lines: list[list[Piece]] = [[]]
    first = 0  # the line on which a cell begins
    for number, cell in enumerate(row):
        if not cell:
            continue
        start, room = columns.starts[number], columns.widths[number]
        parts = _parts(cell, room)
        longest = max(map(size, parts))
        if longest > room and start + longest > width:
            start = max(0, width - longest)
        if any(piece.start + size(piece.text) + GAP > start for piece in lines[first]):
            first += 1
        for place, part in enumerate(parts, first):
            lines.extend([] for _ in range(place + 1 - len(lines)))
            lines[place].append(Piece(start, number, part))
        if longest > room:
            first = len(lines) - 1
    return lines


def _drawn(lines: list[list[Piece]], styled: Styled, is_head: bool, before: int = 0) -> Iterator[str]:
    for line in lines:
        drawn, at = "", 0
        for piece in line:
            drawn += " " * (piece.start - at) + styled(before + piece.column, piece.text, is_head)
            at = piece.start + size(piece.text)
        yield drawn
