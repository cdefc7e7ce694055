"""What came to hold at another time than before, or no longer: links of whoever looks at it may be others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codelake.graph.link.kept.nodes import NEVER, Held, Mark, Node, Slot


class Touched:
    def __init__(self, is_function: Callable[[int], bool]) -> None:
        self._is_function = is_function
        self.slots: dict[Slot, tuple[frozenset[int], bool]] = {}
        """With what they held, and whether they were closed."""
        self.marks: set[tuple[str, Any]] = set()
        self.is_outside = False
        """Whether functions came or went that closed slots keep out."""

    def note(self, node: Node, now: int) -> None:
        """A node is about to have another time."""
        if isinstance(node, Mark):
            self.marks.add((node.kind, node.what))
        elif isinstance(node, Held):
            slot = node.slot
            if slot.closes < NEVER and self._is_function(node.value):
                self.is_outside = True
            if slot not in self.slots:
                self.slots[slot] = slot.at(now), slot.closes < NEVER
