"""A call, as constraints pass it on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

_NO_KEYWORDS: Mapping[str, int] = {}


@dataclass(slots=True, eq=False)
class Call:
    """A call, written or implied. Slots of what it calls, passes and gives."""

    scope: int
    """-1 for one that nobody wrote: the getter of a property, a protocol."""
    callee: int
    result: int
    node: int = -1
    is_written: bool = False
    """Whether it stands in the code, or is made for one that does: then others were called on the way (`through`)."""
    positional: Sequence[int] = ()
    keywords: Mapping[str, int] = field(default_factory=lambda: _NO_KEYWORDS)
    stars: Sequence[tuple[int, int]] = ()
    """Position and slot of what is spread."""
    double_stars: Sequence[int] = ()
    late: Sequence[int] = ()
    """Arguments behind a star."""
    is_decorator: bool = False
    through: tuple[int, ...] = ()
    """What was called on the way: partials, instances with `__call__`. None comes twice, so this ends."""

    def key(self) -> tuple[Hashable, ...]:
        """What it does: the same for two that do the same."""
        passed = tuple(self.positional), tuple(sorted(self.keywords.items())), tuple(self.stars)
        spread = tuple(self.double_stars), tuple(self.late)
        return self.scope, self.callee, self.result, *passed, *spread, self.is_decorator, self.through

    def instead(self, value: int, callee: int, **changes: Any) -> Call:
        """The same call, of what `value` calls in its place."""
        made = copy(self)
        made.callee, made.through = callee, (*self.through, value)
        for name, changed in changes.items():
            setattr(made, name, changed)
        return made
