"""Values along copies, to the least fixed point, in rounds. Whoever waits for a slot sees each of its values once.

What a round adds is seen in the next one, so what is known after a round does not depend on the order of work
within it. A slot with more than MOST values, or MOST_FUNCTIONS functions, says nothing about any of them: it is
widened, to nothing, or for the receiver of a method to instances of the class that has the method. Which slots those
are, and what went through them in the rounds before, depends on the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

MOST = 10
MOST_FUNCTIONS = 24
"""Functions are told apart from other values: tables of them are written to be called."""
MARKS = {
    "call": "calls, written and implied",
    "called": "functions that some call was bound to",
    "started": "classes of which calls make instances: others have a `__new__` that gives something else",
    "perhaps": "defaults and their parameters, of calls that spread what they pass: they hold if nothing else comes",
    "implied": "scope, receiver and name of special methods that Python calls by itself",
    "implied function": "scope and function, where the function is known",
    "nothing": "slots that calls give None to: of functions that reach their end, or of which stubs say so",
    "said": "slots and values that annotations put there",
}
"""What solving notes beside values."""
Waiting = tuple[Any, ...]
"""A function, and what it is called with; the value comes last."""
_NONE: frozenset[int] = frozenset()
_FEW_COPIES = 16
_SETS = 50_000


class Solver:
    def __init__(
        self,
        n_slots: int,
        is_function: Callable[[int], bool],
        widened: Callable[[int, Collection[int]], int | None],
        *,
        backwards: bool = False,
    ) -> None:
        """`widened` says which value a slot holds in the place of those that are too many. `backwards` turns the order
        within rounds around, for the test that it makes no difference."""
        self._is_function, self._widened = is_function, widened
        self.n_static = n_slots
        self._backwards = backwards
        self._names: dict[Hashable, int] = {}
        self._sets: dict[frozenset[int], frozenset[int]] = {}
        """Sets are small, and the same for many slots: each is kept once. Now and then those are left out that no slot
        holds any more."""
        self._n_sets = _SETS
        self.restart()

    def restart(self) -> None:
        """Forget all values and constraints; names of slots stay."""
        n = self.n_static + len(self._names)
        self.sets: list[frozenset[int] | None] = [None] * n
        self._copies: list[int | list[int] | set[int] | None] = [None] * n
        self._waiting: list[Waiting | list[Waiting] | None] = [None] * n
        """Most slots are copied to one other, and one waits for them: those are kept without a list."""
        self._coming: dict[int, frozenset[int]] = {}
        self._added_copies: list[int] = []
        self._added_waiting: list[Any] = []
        self._done: set[Hashable] = set()
        self._marks: dict[str, dict[Any, None]] = {kind: {} for kind in MARKS}
        self._keys: dict[int, list[str]] = {}
        self._waiting_for_keys: dict[int, list[Callable[[str], None]]] = {}
        self._fixed: set[int] = set()
        self._closed: set[int] = set()
        self._kept_out: dict[int, set[int]] = {}
        """By slot that is widened: the functions that it held, or that came later."""
        self._not_copied: dict[int, set[int]] = {}
        """By slot that is widened: the slots that were to be copied into it later."""
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

    def once(self, what: Hashable, does: Callable[..., object], *given: object) -> None:
        """Arrange what comes into a slot, or something else that has a name, when it is first asked for."""
        if what not in self._done:
            self._done.add(what)
            does(*given)

    def mark(self, kind: str, what: Any) -> None:
        """Note something that was met on the way. `MARKS` says what."""
        self._marks[kind][what] = None

    def marked(self, kind: str) -> Collection[Any]:
        return self._marks[kind]

    def add_key(self, container: int, key: str) -> None:
        """A container comes to have a key: whoever waits for its keys sees it at once."""
        self._keys.setdefault(container, []).append(key)
        for waiting in tuple(self._waiting_for_keys.get(container, ())):
            waiting(key)

    def wait_for_keys(self, container: int, waiting: Callable[[str], None]) -> None:
        """Call what is waiting with each key of a container, those that are there and those that come."""
        self._waiting_for_keys.setdefault(container, []).append(waiting)
        for key in tuple(self._keys.get(container, ())):
            waiting(key)

    def of(self, slot: int) -> frozenset[int]:
        return self.sets[slot] or _NONE

    def add(self, slot: int, value: int) -> None:
        held = self.sets[slot]
        if (held is None or value not in held) and slot not in self._closed:
            self._pass(self._kept(frozenset((value,))), slot)

    def fix(self, slot: int, value: int) -> None:
        """A slot that holds this value and nothing else, ever. Constants are many: nobody waits for them."""
        self.sets[slot] = self._kept(frozenset((value,)))
        self._fixed.add(slot)

    def is_fixed(self, slot: int) -> bool:
        return slot in self._fixed

    def _kept(self, values: frozenset[int]) -> frozenset[int]:
        return self._sets.setdefault(values, values)

    def _pass(self, values: frozenset[int], dst: int) -> None:
        held = self.sets[dst]
        if held is not None and (held is values or values <= held):
            return
        if dst in self._closed:
            if dst in self._kept_out:
                self._kept_out[dst].update(filter(self._is_function, values))
            return
        if held is None:
            self.sets[dst] = self._coming[dst] = values
            return
        more = values - held
        self.sets[dst] = self._kept(held | more)
        coming = self._coming.get(dst)
        self._coming[dst] = self._kept(more if coming is None else coming | more)

    def _seen(self, slot: int) -> frozenset[int] | None:
        """What a slot held before this round."""
        held = self.sets[slot]
        if held is None:
            return None
        coming = self._coming.get(slot)
        return held - coming if coming else held

    def copy(self, src: int, dst: int) -> None:
        """Whatever src holds, now or later, dst holds."""
        copies = self._copies[src]
        if src == dst or copies == dst or (copies is not None and not isinstance(copies, int) and dst in copies):
            return
        if dst in self._closed:
            if dst in self._kept_out:
                self._not_copied.setdefault(dst, set()).add(src)
            return
        if src in self._fixed:
            self._pass(self.of(src), dst)
            return
        self._added_copies.append(src)
        self._added_copies.append(dst)
        if self.sets[src] is not None:
            seen = self._seen(src)
            if seen:
                self._pass(seen, dst)

    def wait(self, slot: int, waiting: Waiting) -> None:
        """Call what is waiting with each value of a slot, those that are there and those that come."""
        if slot not in self._fixed:
            self._added_waiting.append(slot)
            self._added_waiting.append(waiting)
        if self.sets[slot] is not None:
            for value in self._seen(slot) or ():
                waiting[0](*waiting[1:], value)

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
                if isinstance(found, int):
                    pass_on(new, found)
                elif found is not None:
                    for dst in found:
                        pass_on(new, dst)
                waiting = waits[slot]
                if isinstance(waiting, tuple):
                    does, *given = waiting
                    for value in new:
                        does(*given, value)
                elif waiting is not None:
                    for does, *given in reversed(waiting) if self._backwards else waiting:
                        for value in new:
                            does(*given, value)

    def _settle(self) -> None:
        """Between rounds: what was asked for is in force, and slots that are too large are closed."""
        added = iter(self._added_copies)
        for src, dst in zip(added, added, strict=True):
            copies = self._copies[src]
            if copies is None:
                self._copies[src] = dst
            elif isinstance(copies, int):
                if dst != copies:
                    self._copies[src] = [copies, dst]
            elif isinstance(copies, set):
                copies.add(dst)
            elif dst not in copies:
                copies.append(dst)
                if len(copies) > _FEW_COPIES:
                    self._copies[src] = set(copies)
        more = iter(self._added_waiting)
        for slot, waiting in zip(more, more, strict=True):
            waits = self._waiting[slot]
            if waits is None:
                self._waiting[slot] = waiting
            elif isinstance(waits, tuple):
                self._waiting[slot] = [waits, waiting]
            else:
                waits.append(waiting)
        self._added_copies.clear()
        self._added_waiting.clear()
        if len(self._sets) > self._n_sets:
            self._sets = {held: held for held in self.sets if held is not None}
            self._n_sets = 2 * len(self._sets)
        for slot in [slot for slot in self._coming if self._is_many(self.sets[slot] or _NONE)]:
            self._widen(slot, self._coming.pop(slot))

    def _widen(self, slot: int, coming: frozenset[int]) -> None:
        held = self.sets[slot] or _NONE
        self._closed.add(slot)
        self._kept_out[slot] = set(filter(self._is_function, held))
        value = self._widened(slot, held)
        if value is None:
            self.sets[slot] = None
            return
        only = self.sets[slot] = self._kept(frozenset((value,)))
        if value not in held or value in coming:
            self._coming[slot] = only

    def _is_many(self, held: frozenset[int]) -> bool:
        if len(held) <= MOST:
            return False
        n_functions = sum(map(self._is_function, held))
        return n_functions > MOST_FUNCTIONS or len(held) - n_functions > MOST

    def close(self, slot: int) -> None:
        """From now on nothing comes into it."""
        self._closed.add(slot)

    def is_closed(self, slot: int) -> bool:
        return slot in self._closed

    def kept_out(self, slot: int) -> set[int]:
        """The functions that would be in a slot if it were not widened, through others that are."""
        found: set[int] = set()
        seen, todo = {slot}, [slot]
        while todo:
            one = todo.pop()
            found |= self._kept_out.get(one, _NONE)
            for src in self._not_copied.get(one, ()):
                found.update(filter(self._is_function, self.of(src)))
                if src not in seen:
                    seen.add(src)
                    todo.append(src)
        return found

    def finish(self) -> None:
        """Only what slots hold is asked for from now on. What held on to whoever asked goes: all of it then goes with
        the last who asks, and nobody has to look for it among millions of objects."""
        self._copies, self._waiting, self._done = [], [], set()
        self._waiting_for_keys.clear()
        del self._widened
