"""Solving that can be taken up again when some of what was solved has changed.

It gives what `Solver` gives, round by round, and keeps why: for each value of a slot when it came and from where, for
each thing that was arranged who asked for it (`nodes`). When a fact goes or comes, only what hangs on it is worked out
again, the earliest first (as D* Lite does it for shortest ways).

This takes several times the room and the time of `Solver` at first; it is for sessions that stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from heapq import heappop, heappush
from typing import Any, cast

from codelake.graph.link.call import Call
from codelake.graph.link.kept.nodes import (
    NEVER,
    NOTHING,
    STEPS,
    Copy,
    Event,
    Held,
    Key,
    Maker,
    Mark,
    Node,
    Once,
    Root,
    Slot,
    Wait,
    beginning,
    next_round,
)
from codelake.graph.link.kept.touched import Touched
from codelake.graph.link.solver import MARKS, Waiting


class Live:
    def __init__(
        self, n_slots: int, is_function: Callable[[int], bool], widened: Callable[[int, Collection[int]], int | None]
    ) -> None:
        self._is_function, self._widened = is_function, widened
        self._n_slots = n_slots
        self._slots: dict[int, Slot] = {}
        self._names: dict[Hashable, int] = {}
        self.name_of: dict[int, tuple[Hashable, ...]] = {}
        """By slot that came up while solving: its name."""
        self._copies: dict[tuple[int, int], Copy] = {}
        self._onces: dict[Hashable, Once] = {}
        self._marks: dict[str, dict[Any, Mark]] = {kind: {} for kind in MARKS}
        self._marked: dict[str, dict[int, dict[Any, None]]] = {kind: {} for kind in MARKS}
        """Those that there are before a time, for whoever asks again."""
        self._keys: dict[int, Slot] = {}
        self._static: dict[Hashable, Wait] = {}
        """Waits of static facts, which are the same when a file is read again."""
        self._shut: set[int] = set()
        self._maker: Maker = Root()
        self._gathered: list[tuple[str, int, int]] | None = None
        self._phases: dict[int, tuple[Root, set[tuple[str, int, int]]]] = {}
        self._times: list[int] = []
        self._due: dict[int, list[Node]] = {}
        self.now = NEVER
        """What came before this time is what slots hold, to whoever asks."""
        self.touched: Touched | None = None
        """Where it is noted what changes, if it is."""
        self.n_steps = 0

    # names -----------------------------------------------------------------------------------------

    def take(self, n: int) -> int:
        """Numbers for more static slots: the first of them."""
        first, self._n_slots = self._n_slots, self._n_slots + n
        return first

    def named(self, *name: Hashable) -> int:
        slot = self._names.get(name)
        if slot is None:
            slot = self._names[name] = self._n_slots
            self.name_of[slot] = name
            self._n_slots += 1
        return slot

    def _slot(self, number: int) -> Slot:
        slot = self._slots.get(number)
        if slot is None:
            slot = self._slots[number] = Slot(number)
        return slot

    # what facts and events say ---------------------------------------------------------------------

    def _make(self, node: Node) -> None:
        node.makers.append(self._maker)
        cast(list[Node], self._maker.made).append(node)  # it runs

    def once(self, what: Hashable, does: Callable[..., object], *given: object) -> None:
        node = self._onces.get(what)
        if node is None:
            node = self._onces[what] = Once(does, given)
        self._make(node)

    def mark(self, kind: str, what: Any) -> None:
        node = self._marks[kind].get(what)
        if node is None:
            node = self._marks[kind][what] = Mark(kind, what)
        self._make(node)

    def add(self, slot: int, value: int) -> None:
        if self._gathered is not None:
            self._gathered.append(("add", slot, value))
        elif slot not in self._shut:
            self._make(self._held(self._slot(slot), value))

    def fix(self, slot: int, value: int) -> None:
        self._slot(slot).is_fixed = True
        self.add(slot, value)

    def is_fixed(self, slot: int) -> bool:
        found = self._slots.get(slot)
        return found is not None and found.is_fixed

    def _held(self, slot: Slot, value: Any) -> Held:
        held = slot.held.get(value)
        if held is None:
            held = slot.held[value] = Held(slot, value)
        return held

    def copy(self, src: int, dst: int) -> None:
        if self._gathered is not None:
            self._gathered.append(("copy", src, dst))
        elif src != dst and dst not in self._shut:
            self._make(self._copy(src, dst))

    def _copy(self, src: int, dst: int) -> Copy:
        node = self._copies.get((src, dst))
        if node is None:
            node = self._copies[src, dst] = Copy(self._slot(src), self._slot(dst))
            node.src.out.append(node)
            node.dst.into.append(node)
        return node

    def wait(self, slot: int, waiting: Waiting) -> None:
        if isinstance(self._maker, Root):
            key = (slot, *map(_key, waiting))
            node = self._static.get(key)
            if node is None:
                node = self._static[key] = self._waiting(self._slot(slot), waiting)
        else:
            node = self._waiting(self._slot(slot), waiting)
        self._make(node)

    def _waiting(self, slot: Slot, waiting: Waiting) -> Wait:
        node = Wait(slot, waiting)
        slot.waits.append(node)
        return node

    def add_key(self, container: int, key: str) -> None:
        slot = self._keys.setdefault(container, Slot(-1))
        held = slot.held.get(key)
        if held is None:
            held = slot.held[key] = Key(slot, key)
        self._make(held)

    def wait_for_keys(self, container: int, waiting: Callable[[str], None]) -> None:
        self._make(self._waiting(self._keys.setdefault(container, Slot(-1)), (waiting,)))

    def close(self, slot: int) -> None:
        """From now on nothing comes into it."""
        self._shut.add(slot)

    def reconsider(self, slot: Slot) -> bool:
        """See whether a slot holds too much, and whether that is from another round on than it was, or widened to
        something else."""
        closes = slot.closing(self._is_function)
        widened = self._widened(slot.number, slot.held_until(closes)) if closes < NEVER else slot.widened
        if (closes, widened) == (slot.closes, slot.widened):
            return False
        values = {slot.widened, widened} - {None}
        slot.closes, slot.widened, slot.all_of_it = closes, widened, None
        for value in values:
            held = self._held(slot, value)
            self.wake(held, min(held.time, held.due()))
        for held in tuple(slot.held.values()):
            for is_later in (True, False):
                for copy in slot.out:
                    self.pass_on(copy, held, is_later=is_later)
                for wait in slot.waits:
                    self.meet(wait, held, is_later=is_later)
        return True

    # time ------------------------------------------------------------------------------------------

    def wake(self, node: Node, time: int) -> None:
        """Look at a node when it is that time."""
        if time >= NEVER:
            return
        due = self._due.get(time)
        if due is None:
            due = self._due[time] = []
            heappush(self._times, time)
        due.append(node)

    def wake_earlier(self, node: Node, time: int) -> None:
        if time < node.time:
            self.wake(node, time)

    def pass_on(self, copy: Copy, held: Held, *, is_later: bool) -> None:
        value = held.value
        target = copy.dst.held.get(value)
        if is_later:
            if target is not None:
                self.wake(target, target.time)
            return
        time = max(copy.time, held.time)
        if not copy.src.shows(value, time):
            return
        self.wake_earlier(target or self._held(copy.dst, value), next_round(time))

    def meet(self, wait: Wait, held: Held, *, is_later: bool) -> None:
        value = held.value
        event = wait.events.get(value)
        if is_later:
            if event is not None:
                self.wake(event, event.time)
            return
        time = max(wait.time, held.time)
        if not wait.slot.shows(value, time):
            return
        if event is None:
            event = wait.events[value] = Event(wait, held)
        self.wake_earlier(event, time + 1)

    def run(self, maker: Maker) -> None:
        before, self._maker = self._maker, maker
        maker.made = []
        maker.run()
        self._maker = before

    def solve(self, until: int = NEVER) -> None:
        """Bring everything before a time to what follows from its makers."""
        times = self._times
        while times and times[0] < until:
            now = heappop(times)
            for node in self._due.pop(now):
                due = node.due()
                if due == node.time:
                    continue
                self.n_steps += 1
                if min(due, node.time) > now:
                    self.wake(node, min(due, node.time))
                    continue
                if self.touched is not None:
                    self.touched.note(node, self.now)
                if due < node.time:
                    node.time = due
                    node.follow(self, is_later=False)
                else:
                    node.time = NEVER
                    node.follow(self, is_later=True)
                    self.wake(node, due)

    # static facts ----------------------------------------------------------------------------------

    def state(self, says: Callable[[], None]) -> Root:
        """Static facts that hold from the beginning."""
        root = self._maker = Root()
        says()
        self._maker = Root()
        for node in root.made or ():
            self.wake_earlier(node, node.after(root) if isinstance(node, Held) else root.time + 1)
        return root

    def drop(self, root: Root) -> None:
        """They hold no longer."""
        root.time = NEVER
        for node in root.made or ():
            node.makers = [one for one in node.makers if one is not root]
            self.wake(node, node.time)

    def phase(self, number: int, says: Callable[[], None]) -> None:
        """What follows from all that is known at the beginning of a phase; said again, only differences count."""
        self.now = beginning(number)
        self.solve(self.now)
        self._gathered = []
        says()
        gathered, self._gathered = set(self._gathered), None
        root, before = self._phases.get(number) or (Root(self.now), set())
        self._phases[number] = root, gathered
        for kind, a, b in gathered - before:
            node = self._held(self._slot(a), b) if kind == "add" else self._copy(a, b)
            node.makers.append(root)
            self.wake_earlier(node, node.after(root) if isinstance(node, Held) else root.time + 1)
        for kind, a, b in before - gathered:
            node = self._slot(a).held[b] if kind == "add" else self._copies[a, b]
            node.makers.remove(root)
            self.wake(node, node.time)
        self.now = NEVER

    # what holds ------------------------------------------------------------------------------------

    def of(self, slot: int) -> frozenset[int]:
        found, now = self._slots.get(slot), self.now
        if found is None:
            return NOTHING
        if found.all_of_it is not None and found.since <= now <= found.until:  # asked of every slot, more than once
            return found.all_of_it
        return found.at(now)

    def marked(self, kind: str) -> Collection[Any]:
        known, now = self._marked[kind], self.now
        if now not in known:
            known[now] = {what: None for what, mark in self._marks[kind].items() if mark.time < now}
        return known[now]

    def mark_anew(self, kind: str) -> None:
        self._marked[kind].clear()

    def is_closed(self, slot: int) -> bool:
        found = self._slots.get(slot)
        return slot in self._shut or (found is not None and found.closes << STEPS < self.now)

    def kept_out(self, slot: int) -> set[int]:
        found: set[int] = set()
        seen, todo = {slot}, [slot]
        while todo:
            one = self._slots.get(todo.pop())
            if one is None or one.closes >= NEVER:
                continue
            found.update(filter(self._is_function, one.let_in()))
            for copy in one.into:
                if copy.time < NEVER and copy.time >> STEPS >= one.closes:
                    found.update(filter(self._is_function, copy.src.at(self.now)))
                    if copy.src.number not in seen:
                        seen.add(copy.src.number)
                        todo.append(copy.src.number)
        return found

    def finish(self) -> None:
        """Nothing is forgotten here."""


def _key(one: Any) -> Hashable:
    """What makes a static wait the same as another."""
    if isinstance(one, dict):
        return tuple(sorted(one.items()))
    return one.key() if isinstance(one, Call) else one
