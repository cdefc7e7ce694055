"""Which files count: by ending, by first line, by the user's patterns.

A file counts as Python if it ends in `.py`, `.pyi` or `.pyw`, in small letters as the import system has
them; if it has no ending and its first line names Python; or if an include pattern names it. Patterns are
gitignore's. Without include patterns everything is included; exclude patterns win. What is excluded is never
read, not even its first line.

An include pattern names a file if it matches the file itself, not a folder above it, and ends in more than
wildcards: `SConstruct` and `*.bzl` do, `src/` and `src/*` only narrow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pathspec import GitIgnoreSpec

from codelake.errors import UsageError

ENDINGS = (".py", ".pyi", ".pyw")
HEAD_BYTES = 512
"""How much of a file without ending is read to see its first line."""

_SHEBANG = re.compile(rb"#![^\n]*")
_INTERPRETER = re.compile(rb"(?:python|pypy)w?[0-9.]*[a-z]?(?:-dbg)?(?:\.exe)?")
_LETTER = re.compile(r"\w")


class Choice:
    """The patterns of a build."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _spec(include, "--include") if include else None
        self._exclude = _spec(exclude, "--exclude")
        if self._include and not any(pattern.include for pattern in self._include.patterns):
            raise UsageError(
                f"--include {' '.join(include)}",
                expected="a pattern that includes something",
                found="only patterns that start with !",
                do="Use --exclude to leave files out.",
            )
        self._naming = _spec([text for text in include if _names_files(text)], "--include")
        self._prunes = all(pattern.include for pattern in self._exclude.patterns)

    def allows(self, path: str) -> bool:
        """Whether the patterns leave the file in; a folder ends in `/`."""
        if self._include is not None and not self._include.match_file(path):
            return False
        return not self.excludes(path)

    def excludes(self, path: str) -> bool:
        """Whether an exclude pattern leaves the file out, whatever is included."""
        return self._exclude.match_file(path)

    def names(self, path: str) -> bool:
        """Whether an include pattern asks for this very file, whatever its ending."""
        return any(
            pattern.include
            and pattern.regex is not None
            and (found := pattern.regex.match(path)) is not None
            and not found.groupdict().get("ps_d")
            for pattern in self._naming.patterns
        )

    def prunes(self, folder: str) -> bool:
        """Whether nothing within the folder is left in, so that it need not be listed."""
        return self._prunes and self._exclude.match_file(f"{folder}/")

    def counts(self, path: str, head: Callable[[], bytes]) -> bool:
        """Whether a file counts; `head` is asked for only where the first line decides."""
        if not self.allows(path):
            return False
        if path.endswith(ENDINGS) or self.names(path):
            return True
        return not has_ending(path) and names_python(head())


def has_ending(path: str) -> bool:
    return "." in path.rpartition("/")[2].lstrip(".")


def names_python(head: bytes) -> bool:
    """Whether a file that starts so is a Python script: not a program packed behind such a line."""
    if b"\0" in head:
        return False
    found = _SHEBANG.match(head)
    if found is None or head[found.end() + 1 :].startswith(b"PK"):
        return False
    words = found.group()[2:].split()
    return any(_INTERPRETER.fullmatch(word.rpartition(b"/")[2]) for word in words)


def _names_files(text: str) -> bool:
    return not text.endswith("/") and _LETTER.search(text.rpartition("/")[2]) is not None


def _spec(patterns: Sequence[str], option: str) -> GitIgnoreSpec:
    for text in patterns:
        try:
            spec = GitIgnoreSpec.from_lines([text], backend="simple")
        except (ValueError, re.error) as error:
            raise _bad(option, text, str(error)) from error
        if not any(pattern.include is not None for pattern in spec.patterns):
            raise _bad(option, text, "one that matches nothing")
    return GitIgnoreSpec.from_lines(patterns, backend="simple")


def _bad(option: str, text: str, found: str) -> UsageError:
    return UsageError(
        f"{option} {text!r}",
        expected="a pattern as in .gitignore",
        found=found,
        do="Write a # or ! at its start, and a [ or backslash anywhere, with a backslash before it.",
    )
