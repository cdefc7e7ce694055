"""Ids: readable text that is the same on every machine and in every run. Each has a Python function and its
twin in SQL, for columns.

    file id    REPO:PATH

`%`, spaces and `#` are written as `%25`, `%20` and `%23`, and `:` in the name of a repository as `%3A`: so that
no two files have the same id, and what other ids put behind it can be told from it.
"""

from __future__ import annotations

_ESCAPED = {"%": "%25", " ": "%20", "#": "%23"}
_ESCAPED_IN_REPO = {**_ESCAPED, ":": "%3A"}


def file_id(repo: str, path: str) -> str:
    return f"{_escaped(repo, _ESCAPED_IN_REPO)}:{_escaped(path, _ESCAPED)}"


def file_id_sql(repo: str = "repo", path: str = "path") -> str:
    """The same as SQL over columns of these names."""
    return f"concat({_escaped_sql(repo, _ESCAPED_IN_REPO)}, ':', {_escaped_sql(path, _ESCAPED)})"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    for plain, escaped in escapes.items():  # % comes first
        text = text.replace(plain, escaped)
    return text


def _escaped_sql(column: str, escapes: dict[str, str]) -> str:
    text = f"`{column}`"
    for plain, escaped in escapes.items():
        text = f"replace({text}, '{plain}', '{escaped}')"
    return text
