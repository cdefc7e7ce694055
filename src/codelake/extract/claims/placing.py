"""From the lines and characters of a report to spans in the raw bytes of a content.

A report says what stands where. Where something else stands, or nothing, the report is about another content of the
file, and none of it is used.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from codelake.contracts.arrow_vectors import packed
from codelake.contracts.claims import CLAIM_FIELDS
from codelake.extract.claims.report import Document, Report, Unit
from codelake.extract.text import Text, decoded

_WIDTHS = {"utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Claimed(NamedTuple):
    """What a report says of a file: a row of `claims`."""

    repo: str
    path: str
    origin: str
    digest: str | None
    problem: str | None
    tool: str
    report_digest: str
    n_claims: int
    claims: bytes
    claims_digest: str


def claimed(report: Report, repo: str, path: str, content: bytes, digest: str) -> Claimed:
    found = _placed(report.document(repo, path), content)
    problem = found if isinstance(found, str) else None
    rows = [] if isinstance(found, str) else sorted(found)
    data = _packed(rows)
    return Claimed(
        repo,
        path,
        report.origin,
        None if problem else digest,
        problem,
        report.tool,
        report.digest,
        len(rows),
        data,
        sha256(data).hexdigest()[:16] if rows else "",
    )


def _packed(rows: list[tuple[int, int, str, str]]) -> bytes:
    columns: list[Any] = list(zip(*rows, strict=True)) or [()] * len(CLAIM_FIELDS)
    [data] = packed([[column] for column in columns], [len(rows)], CLAIM_FIELDS).to_pylist()
    return bytes(data)


def _placed(document: Document, content: bytes) -> set[tuple[int, int, str, str]] | str:
    """Spans with what they mean; or why the document is not about the content."""
    text = decoded(content)
    if text is None:
        return "the content is no text"
    if document.text is not None and document.text != text.text:
        return "its text is another"
    lines = _Lines(text, document.unit)
    found: set[tuple[int, int, str, str]] = set()
    for one in document.occurrences:
        start, end = lines.offset(*one.start), lines.offset(*one.end)
        if start is None or end is None or start > end:
            return f"it names line {one.start[0] + 1}, character {one.start[1] + 1}, which is not there"
        stands = text.utf8[start:end].decode("utf-8", "replace")
        if one.text is not None and one.text != stands:
            return f"it says that line {one.start[0] + 1} defines {one.text!r}, where {stands!r} stands"
        if one.target is not None and one.named in (None, stands):
            found.add((text.raw_offset(start), text.raw_offset(end), one.kind, one.target))
    return found


class _Lines:
    """Offsets in the text's UTF-8 form, by line and character."""

    def __init__(self, text: Text, unit: Unit) -> None:
        self._text, self._unit = text, unit
        self._wide: dict[int, bytes | None] = {}
        """By line: in the unit's encoding; None for one of ASCII, where all units are the same."""

    def offset(self, line: int, character: int) -> int | None:
        starts = self._text.line_starts
        if line >= len(starts) - 1:
            return starts[-1] if character == 0 and line == len(starts) - 1 else None
        begin, end = starts[line], starts[line + 1]
        wide = self._in_unit(line)
        if wide is None:
            return begin + character if begin + character <= end else None
        encoding, width = _WIDTHS[self._unit]
        if character * width > len(wide):
            return None
        return begin + len(wide[: character * width].decode(encoding, "ignore").encode("utf-8"))

    def _in_unit(self, line: int) -> bytes | None:
        if self._unit == "utf-8":
            return None
        if line not in self._wide:
            starts = self._text.line_starts
            utf8 = self._text.utf8[starts[line] : starts[line + 1]]
            self._wide[line] = None if utf8.isascii() else utf8.decode("utf-8").encode(_WIDTHS[self._unit][0])
        return self._wide[line]
