r"""Paths as text. A path is bytes; tables hold UTF-8.

A path that is UTF-8 is shown as it is. Of any other, each byte that is no UTF-8 is shown as `\xe9`, and a
backslash as two. So that no two paths look the same, a path that is UTF-8 but has such an escape in its
name is shown like that as well.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\x[0-9a-f]{2}")


def shown(path: bytes) -> str:
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return _escaped(path)
    return _escaped(path) if _ESCAPE.search(text) else text


def shown_problem(path: bytes) -> str | None:
    """What to say about a path that is not shown as it is."""
    text = shown(path)
    try:
        plain = path.decode()
    except UnicodeDecodeError:
        return f"the path is not UTF-8; it is shown as {text}"
    return None if plain == text else f"the path has a backslash; it is shown as {text}"


def _escaped(path: bytes) -> str:
    return path.replace(b"\\", b"\\\\").decode(errors="backslashreplace")


def folders_of(path: str) -> list[str]:
    """The folders that a path is in, the nearest first, without the root."""
    found = []
    while "/" in path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found


def resolved(link: bytes, target: bytes) -> bytes | None:
    """The path a link leads to, by names alone; None where it leaves the root."""
    if target.startswith(b"/"):
        return None
    parts = link.split(b"/")[:-1]
    for part in target.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/".join(parts)
