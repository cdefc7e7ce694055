"""Every exception of codelake. One root, one branch for each thing the caller can do.

    CodelakeError
    ├── UsageError            fix the command                                       exit 2
    │   └── SettingsError     fix a setting: the key, where it came from, the nearest right one
    ├── NotFound              the answer is "no": no such table, symbol, run         exit 1
    ├── Refused               a gate or guard said no; nothing was written           exit 3
    │   ├── ContractBroken    schema, key, check, reference, drift, semantic type
    │   ├── FeatureRefused    a table feature that a promised reader cannot read
    │   ├── QueryRefused      a text that does not parse or is not allowed, with its place
    │   └── LimitReached      a query needs more rows, time or memory than it may take
    ├── Conflict              somebody else committed first; plan again              exit 4
    │   └── ConflictFinal     metadata or protocol changed: planning again needs a person
    ├── Unavailable           something needed is not there or cannot be reached     exit 5
    │   ├── PinUnavailable    the version that a pin names can no longer be read
    │   └── FeedUnavailable   a change feed was not enabled or was vacuumed
    ├── EngineFailed          a query that the engine gave up; its own words         exit 5
    └── Damaged               a table's log or files are not what they should be     exit 5

Every message says which table or file, what was expected, what was found, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class CodelakeError(Exception):
    """The root. `exit_code` is what the command line returns for it."""

    exit_code = 5

    def __init__(self, what: str, *, expected: object = None, found: object = None, do: str = "") -> None:
        self.what = what
        self.expected = expected
        self.found = found
        self.do = do
        super().__init__(what)

    def __str__(self) -> str:
        parts = [self.what.rstrip(".")]
        if self.expected is not None:
            parts.append(f"expected {self.expected}")
        if self.found is not None:
            parts.append(f"found {self.found}")
        text = "; ".join(parts) + "."
        return f"{text} {self.do}" if self.do else text

    def as_dict(self) -> dict[str, Any]:
        """For `--json`: the same parts, apart."""
        return {
            "error": type(self).__name__,
            "what": self.what,
            "expected": None if self.expected is None else str(self.expected),
            "found": None if self.found is None else str(self.found),
            "do": self.do,
        }


class UsageError(CodelakeError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class NotFound(CodelakeError):
    exit_code = 1


class Refused(CodelakeError):
    exit_code = 3


class ContractBroken(Refused):
    """`violations` holds the rows that broke a rule: (rule, number of rows, a sample of them)."""

    def __init__(
        self,
        what: str,
        *,
        expected: object = None,
        found: object = None,
        do: str = "",
        violations: Sequence[Any] = (),
    ) -> None:
        super().__init__(what, expected=expected, found=found, do=do)
        self.violations = tuple(violations)


class FeatureRefused(Refused):
    """`feature` is the Delta feature's canonical name, `engine` the reader it locks out."""

    def __init__(self, what: str, *, feature: str, engine: str, do: str = "") -> None:
        super().__init__(what, do=do)
        self.feature = feature
        self.engine = engine


class QueryRefused(Refused):
    """`text` with the `place` (offset of the first character) that was refused."""

    def __init__(self, what: str, *, text: str, place: int, expected: object = None, do: str = "") -> None:
        super().__init__(what, expected=expected, do=do)
        self.text = text
        self.place = place

    @property
    def line_and_column(self) -> tuple[int, int]:
        """Both from 1 on."""
        before = self.text[: self.place]
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    def __str__(self) -> str:
        line, column = self.line_and_column
        shown = self.text.split("\n")[line - 1]
        return f"{super().__str__()}\n  line {line}, column {column}:\n    {shown}\n    {' ' * (column - 1)}^"

    def as_dict(self) -> dict[str, Any]:
        line, column = self.line_and_column
        return {**super().as_dict(), "line": line, "column": column}


class LimitReached(Refused):
    pass


class Conflict(CodelakeError):
    exit_code = 4


class ConflictFinal(Conflict):
    pass


class Unavailable(CodelakeError):
    exit_code = 5


class PinUnavailable(Unavailable):
    pass


class FeedUnavailable(Unavailable):
    pass


class EngineFailed(CodelakeError):
    pass


class Damaged(CodelakeError):
    exit_code = 5
