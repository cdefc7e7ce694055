"""Values along copies, to the least fixed point, in rounds. Whoever waits for a slot sees each of its values once.

What a round adds is seen in the next one, so what is known after a round does not depend on the order of work
within it. A slot with more than MOST values says nothing about any of them: it is widened, to nothing, or for the
receiver of a method to instances of the class that has the method. Cutting a set where it stood would leave what
was derived from the part that came first; so the whole is solved again, with the slots that were too large
widened from the start, until none is. Which those are depends on the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

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
        n = self.n_static + len(self._names)
        self.sets: list[set[int] | None] = [None] * n
        self._copies: list[set[int] | None] = [None] * n
        self._waiting: list[list[Waiting] | None] = [None] * n
        self._coming: dict[int, set[int]] = {}
        self._added_copies: list[tuple[int, int]] = []
        self._added_waiting: list[tuple[int, Waiting]] = []
        self._done: set[Hashable] = set()
        self._too_large: set[int] = set()
        self._closed = set(self.widened)
        self.n_steps = 0

    def named(self, *name: Hashable) -> int:
        """The slot of a name, the same whenever it is asked for."""
        slot = self._names.get(name)
        if slot is None:
            slot = self._names[name] = self.n_static + len(self._names)
            self.sets.append(None)
            self._copies.append(None)
            self._waiting.append(None)
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
        held = self.sets[slot]
        if (held is None or value not in held) and slot not in self._closed:
            self._pass({value}, slot)

    def give(self, slot: int, value: int) -> None:
        """Add a value also to a slot that is closed: what it is widened to."""
        self._closed.discard(slot)
        self._pass({value}, slot)
        self._closed.add(slot)

    def _pass(self, values: set[int], dst: int) -> None:
        held = self.sets[dst]
        if held is None:
            if dst in self._closed:
                return
            self.sets[dst] = set(values)
            self._coming[dst] = set(values)
            return
        more = values - held
        if more and dst not in self._closed:
            held |= more
            coming = self._coming.get(dst)
            if coming is None:
                self._coming[dst] = more
            else:
                coming |= more

    def _seen(self, slot: int) -> set[int] | None:
        """What a slot held before this round."""
        held = self.sets[slot]
        if held is None:
            return None
        coming = self._coming.get(slot)
        return held - coming if coming else held

    def copy(self, src: int, dst: int) -> None:
        """Whatever src holds, now or later, dst holds."""
        copies = self._copies[src]
        if src == dst or (copies is not None and dst in copies) or dst in self._closed:
            return
        self._added_copies.append((src, dst))
        if self.sets[src] is not None:
            seen = self._seen(src)
            if seen:
                self._pass(seen, dst)

    def wait(self, slot: int, waiting: Waiting) -> None:
        """Call `waiting` with each value of a slot, those that are there and those that come."""
        self._added_waiting.append((slot, waiting))
        if self.sets[slot] is not None:
            for value in tuple(self._seen(slot) or ()):
                waiting(value)

    def solve(self) -> None:
        """Rounds until nothing comes."""
        copies, waits, pass_on = self._copies, self._waiting, self._pass
        while True:
            self._settle()
            coming, self._coming = self._coming, {}
            if not coming:
                break
            self.n_steps += len(coming)
            for slot in sorted(coming, reverse=True) if self._backwards else coming:
                new = coming[slot]
                found = copies[slot]
                if found is not None:
                    for dst in found:
                        pass_on(new, dst)
                waiting = waits[slot]
                if waiting is not None:
                    for one in waiting:
                        for value in new:
                            one(value)

    def _settle(self) -> None:
        """Between rounds: what was asked for is in force, and slots that are too large are closed."""
        for src, dst in self._added_copies:
            copies = self._copies[src]
            if copies is None:
                self._copies[src] = {dst}
            else:
                copies.add(dst)
        for slot, waiting in self._added_waiting:
            waits = self._waiting[slot]
            if waits is None:
                self._waiting[slot] = [waiting]
            else:
                waits.append(waiting)
        self._added_copies.clear()
        self._added_waiting.clear()
        for slot in [slot for slot in self._coming if len(self.sets[slot] or ()) > MOST]:
            del self._coming[slot]
            self._too_large.add(slot)
            self._closed.add(slot)

    def widen(self) -> bool:
        """Whether slots turned out to be too large, which are widened from now on."""
        grew = bool(self._too_large - self.widened)
        self.widened |= self._too_large
        return grew
