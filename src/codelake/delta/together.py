"""Commits that do not depend on each other, at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_AT_ONCE = 2
"""More of them would only wait for each other: most of what a small commit takes is the driver's own."""


def together(work: Iterable[Callable[[], T]]) -> list[T]:
    """What each gives, in their order. If one fails, the others are done all the same before its error is raised."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [done.result() for done in [pool.submit(one) for one in work]]
