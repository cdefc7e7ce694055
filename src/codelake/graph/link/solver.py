"""Values along copies, to the least fixed point, in rounds. Whoever waits for a slot sees each of its values once.

What a round adds is seen in the next one, so what is known after a round does not depend on the order of work
within it. A slot with more than MOST values says nothing about any of them: it is widened, to nothing, or for the
receiver of a method to instances of the class that has the method. Cutting a set where it stood would leave what
was derived from the part that came first; so the whole is solved again, with the slots that were too large
widened from the start, until none is. Which those are depends on the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

MOST = 40
Waiting = Callable[[int], None]
_NONE: frozenset[int] = frozenset()


class Solver:
    def __init__(self, n_slots: int, *, backwards: bool = False) -> None:
        """`backwards` turns the order within rounds around, for the test that it makes no difference."""
        self.n_static = n_slots
        self._backwards = backwards
        self._names: dict[Hashable, int] = {}
        self.widened: set[int] = set()
        self.restart()

    def restart(self) -> None:
        """Forget all values and constraints; names of slots, and which are widened, stay."""
        self.sets: list[set[int] | None] = [None] * (self.n_static + len(self._names))
        self._copies: dict[int, dict[int, None]] = {}
        self._waiting: dict[int, list[Waiting]] = {}
        self._coming: dict[int, set[int]] = {}
        self._added_copies: list[tuple[int, int]] = []
        self._added_waiting: list[tuple[int, Waiting]] = []
        self._done: set[Hashable] = set()
        self._too_large: set[int] = set()
        self.n_steps = 0

    def named(self, *name: Hashable) -> int:
        """The slot of a name, the same whenever it is asked for."""
        slot = self._names.get(name)
        if slot is None:
            slot = self._names[name] = self.n_static + len(self._names)
            self.sets.append(None)
        return slot

    def first(self, *name: Hashable) -> bool:
        """Whether something is done for the first time."""
        if name in self._done:
            return False
        self._done.add(name)
        return True

    def of(self, slot: int) -> set[int] | frozenset[int]:
        return self.sets[slot] or _NONE

    def add(self, slot: int, value: int) -> None:
        self._pass((value,), slot)

    def give(self, slot: int, value: int) -> None:
        """Add a value also to a slot that is widened: what it is widened to."""
        was = slot in self.widened
        self.widened.discard(slot)
        self._pass((value,), slot)
        if was:
            self.widened.add(slot)

    def _pass(self, values: Iterable[int], dst: int) -> None:
        if dst in self.widened or dst in self._too_large:
            return
        held = self.sets[dst]
        if held is None:
            held = self.sets[dst] = set()
        more = [value for value in values if value not in held]
        if more:
            held.update(more)
            coming = self._coming.get(dst)
            if coming is None:
                self._coming[dst] = set(more)
            else:
                coming.update(more)

    def _seen(self, slot: int) -> set[int] | frozenset[int]:
        """What a slot held before this round."""
        held = self.sets[slot]
        if not held:
            return _NONE
        coming = self._coming.get(slot)
        return held - coming if coming else held

    def copy(self, src: int, dst: int) -> None:
        """Whatever src holds, now or later, dst holds."""
        copies = self._copies.get(src)
        if src == dst or dst in self.widened or (copies is not None and dst in copies):
            return
        self._added_copies.append((src, dst))
        seen = self._seen(src)
        if seen:
            self._pass(seen, dst)

    def wait(self, slot: int, waiting: Waiting) -> None:
        """Call `waiting` with each value of a slot, those that are there and those that come."""
        self._added_waiting.append((slot, waiting))
        for value in tuple(self._seen(slot)):
            waiting(value)

    def solve(self) -> None:
        """Rounds until nothing comes. Slots that were too large are in `widened` then: restart, and solve again."""
        while True:
            self._settle()
            coming, self._coming = self._coming, {}
            if not coming:
                break
            for slot in sorted(coming, reverse=True) if self._backwards else coming:
                self._round(slot, coming[slot])

    def _round(self, slot: int, new: set[int]) -> None:
        self.n_steps += 1
        for dst in self._copies.get(slot, ()):
            self._pass(new, dst)
        for waiting in self._waiting.get(slot, ()):
            for value in new:
                waiting(value)

    def _settle(self) -> None:
        """Between rounds: what was asked for is in force, and slots that are too large are closed."""
        for src, dst in self._added_copies:
            self._copies.setdefault(src, {})[dst] = None
        for slot, waiting in self._added_waiting:
            self._waiting.setdefault(slot, []).append(waiting)
        self._added_copies.clear()
        self._added_waiting.clear()
        large = [slot for slot in self._coming if len(self.sets[slot] or ()) > MOST]
        for slot in large:
            del self._coming[slot]
            self._too_large.add(slot)

    def widen(self) -> bool:
        """Whether slots turned out to be too large, which are widened from now on."""
        grew = bool(self._too_large - self.widened)
        self.widened |= self._too_large
        return grew
