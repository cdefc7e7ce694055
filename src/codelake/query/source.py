"""The text of what is in a file, as the run has it."""

from __future__ import annotations

from collections.abc import Iterable

from codelake.delta.reading import text
from codelake.query.engine import Asking
from codelake.query.lookups import quoted

FILE = "SELECT digest, encoding FROM files WHERE repo = {repo} AND path = {path}"
CONTENTS = "SELECT digest, content FROM {blobs} WHERE digest IN ({digests})"


def contents(engine: Asking, digests: Iterable[str], *, blobs: str = "blobs") -> dict[str, bytes]:
    wanted = quoted(digests)
    if not wanted:
        return {}
    rows = engine.ask(CONTENTS.format(digests=wanted, blobs=blobs), blobs)
    return {row["digest"]: bytes(row["content"]) for row in rows}


def content(engine: Asking, repo: str, path: str) -> tuple[bytes, str]:
    """Raw bytes of a file and their encoding; nothing for a file that was not read."""
    rows = engine.ask(FILE.format(repo=text(repo), path=text(path)), "files")
    if not rows or rows[0]["digest"] is None:
        return b"", "utf-8"
    return contents(engine, [rows[0]["digest"]])[rows[0]["digest"]], rows[0]["encoding"] or "utf-8"


def lines_of(raw: bytes, encoding: str, start: int, end: int) -> list[str]:
    """The lines of a place, the first one from its own beginning on: indentation as in the file."""
    line_start = max(raw.rfind(b"\n", 0, start), raw.rfind(b"\r", 0, start)) + 1
    return raw[line_start:end].decode(encoding, "replace").splitlines()


def header(source: str) -> str:
    """Of a definition: from `def` or `class` to the colon that opens its body, on one line."""
    depth, quote = 0, ""
    for at, char in enumerate(source):
        if quote:
            quote = "" if char == quote and source[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == ":" and depth == 0:
            return " ".join(source[:at].split())
    return ""
