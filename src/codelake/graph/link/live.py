"""Solving that can be taken up again when some of what was solved has changed.

It gives what `Solver` gives, round by round, and keeps why: for each value of a slot when it came and from where, for
each thing that was arranged who asked for it. Times are rounds, and within a round how many steps led there, so that
whatever holds is held up by something earlier, and nothing holds itself up. When a fact goes or comes, only what hangs
on it is worked out again, the earliest first (as D* Lite does it for shortest ways).

This takes several times the room and the time of `Solver` at first; it is for sessions that stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from heapq import heappop, heappush
from typing import Any

from codelake.graph.link.linking import Call
from codelake.graph.link.solver import MARKS, MOST, MOST_FUNCTIONS, Waiting

_STEPS = 20
"""Bits of a time that count steps within a round."""
_ROUNDS = 16
"""Bits that count rounds within a phase."""
NEVER = 1 << 62
_NONE: frozenset[int] = frozenset()


def beginning(phase: int) -> int:
    """The time at which a phase begins. The first is 0."""
    return phase << (_ROUNDS + _STEPS)


def _next_round(time: int) -> int:
    return ((time >> _STEPS) + 1) << _STEPS


class Node:
    """Something that holds from a time on, as long as one of its makers does."""

    __slots__ = ("makers", "time")

    def __init__(self) -> None:
        self.time = NEVER
        self.makers: list[Maker] = []

    def due(self) -> int:
        """The time that follows from its makers."""
        time = min([one.time for one in self.makers], default=NEVER)
        return time + 1 if time < NEVER else NEVER

    def follow(self, live: Live, *, is_later: bool) -> None:
        """Tell what hangs on it that its time is another."""


class Maker(Node):
    """What makes others hold: they are known once its body has run."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Node] | None = None

    def run(self) -> None:
        """Its body."""

    def follow(self, live: Live, *, is_later: bool) -> None:
        if self.made is None:
            live.run(self)
        for one in self.made or ():
            if is_later:
                live.wake(one, one.time)
            else:
                live.wake_earlier(one, one.after(self) if isinstance(one, Held) else self.time + 1)


class Root(Maker):
    """Static facts, which hold from the beginning of a phase on."""

    __slots__ = ()

    def __init__(self, time: int = 0) -> None:
        super().__init__()
        self.time, self.made = time, []


class Once(Maker):
    __slots__ = ("does", "given")

    def __init__(self, does: Callable[..., object], given: tuple[object, ...]) -> None:
        super().__init__()
        self.does, self.given = does, given

    def run(self) -> None:
        self.does(*self.given)


class Event(Maker):
    """A value came to where something waits."""

    __slots__ = ("held", "wait")

    def __init__(self, wait: Wait, held: Held) -> None:
        super().__init__()
        self.wait, self.held = wait, held

    def due(self) -> int:
        time = max(self.wait.time, self.held.time)
        return time + 1 if self.wait.slot.shows(self.held.value, time) else NEVER

    def run(self) -> None:
        does, *given = self.wait.waiting
        does(*given, self.held.value)


class Mark(Node):
    __slots__ = ("kind", "what")

    def __init__(self, kind: str, what: Any) -> None:
        super().__init__()
        self.kind, self.what = kind, what


class Held(Node):
    """A value in a slot. Its makers are what adds it; copies bring it too."""

    __slots__ = ("slot", "value")

    def __init__(self, slot: Slot, value: Any) -> None:
        super().__init__()
        self.slot, self.value = slot, value

    def after(self, maker: Maker) -> int:
        return 0 if self.slot.is_fixed else _next_round(maker.time)

    def natural(self) -> int:
        """When it comes, were the slot not widened."""
        slot, value = self.slot, self.value
        best = min([self.after(one) for one in self.makers if one.time < NEVER], default=NEVER)
        for copy in slot.into:
            held = copy.src.held.get(value)
            if held is not None:
                time = max(held.time, copy.time)
                if time < NEVER and time < best and copy.src.shows(value, time):
                    best = min(best, _next_round(time))
        return best

    def due(self) -> int:
        slot = self.slot
        if slot.closes < NEVER and self.value == slot.widened:
            return min(self.natural(), slot.closes << _STEPS)
        return self.natural()

    def follow(self, live: Live, *, is_later: bool) -> None:
        slot = self.slot
        if len(slot.held) > MOST and live.close(slot):
            return
        for copy in slot.out:
            live.pass_on(copy, self, is_later=is_later)
        for wait in slot.waits:
            live.meet(wait, self, is_later=is_later)


class Key(Held):
    """A key of a container: who waits for it sees it at once."""

    __slots__ = ()

    def after(self, maker: Maker) -> int:
        return maker.time + 1

    def due(self) -> int:
        return Node.due(self)

    def follow(self, live: Live, *, is_later: bool) -> None:
        for wait in self.slot.waits:
            live.meet(wait, self, is_later=is_later)


class Copy(Node):
    __slots__ = ("dst", "src")

    def __init__(self, src: Slot, dst: Slot) -> None:
        super().__init__()
        self.src, self.dst = src, dst

    def follow(self, live: Live, *, is_later: bool) -> None:
        for held in tuple(self.src.held.values()):
            live.pass_on(self, held, is_later=is_later)


class Wait(Node):
    __slots__ = ("events", "slot", "waiting")

    def __init__(self, slot: Slot, waiting: Waiting) -> None:
        super().__init__()
        self.slot, self.waiting = slot, waiting
        self.events: dict[Any, Event] = {}

    def follow(self, live: Live, *, is_later: bool) -> None:
        for held in tuple(self.slot.held.values()):
            live.meet(self, held, is_later=is_later)


class Slot:
    __slots__ = ("closes", "held", "into", "is_fixed", "number", "out", "waits", "widened")

    def __init__(self, number: int) -> None:
        self.number = number
        self.held: dict[Any, Held] = {}
        self.out: list[Copy] = []
        self.into: list[Copy] = []
        self.waits: list[Wait] = []
        self.closes = NEVER
        """The round in which it holds too much."""
        self.widened: int | None = None
        """The value that it holds in the place of too many."""
        self.is_fixed = False

    def shows(self, value: Any, time: int) -> bool:
        """Whether a value that is there can be seen at a time."""
        return time < NEVER and ((time >> _STEPS) < self.closes or value == self.widened)


class Live:
    def __init__(self, n_slots: int, is_function: Callable[[int], bool], widened: Callable[[int], int | None]) -> None:
        self._is_function, self._widened = is_function, widened
        self._n_slots = n_slots
        self._slots: dict[int, Slot] = {}
        self._names: dict[Hashable, int] = {}
        self.name_of: dict[int, tuple[Hashable, ...]] = {}
        """By slot that came up while solving: its name."""
        self._copies: dict[tuple[int, int], Copy] = {}
        self._onces: dict[Hashable, Once] = {}
        self._marks: dict[str, dict[Any, Mark]] = {kind: {} for kind in MARKS}
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
        self.tracks = False
        """Whether it is noted what changes."""
        self.touched: dict[Slot, tuple[frozenset[int], bool]] = {}
        """Slots whose values have another time than before, with what they held, and whether they were closed."""
        self.touched_marks: set[tuple[str, Any]] = set()
        self.touched_outside = False
        """Whether functions came or went that closed slots keep out."""
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
        made = self._maker.made
        assert made is not None
        made.append(node)

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

    def close(self, slot: int | Slot) -> bool:
        """Nothing comes into a slot (given by number) from now on; or see whether one holds too much, and whether that
        is another round than it was."""
        if isinstance(slot, int):
            self._shut.add(slot)
            return True
        closes = self._closing(slot)
        if closes == slot.closes:
            return False
        slot.closes = closes
        if closes < NEVER and slot.widened is None:
            slot.widened = self._widened(slot.number)
        if slot.widened is not None:
            held = self._held(slot, slot.widened)
            self.wake(held, min(held.time, held.due()))
        for held in tuple(slot.held.values()):
            for copy in slot.out:
                self.pass_on(copy, held, is_later=True)
                self.pass_on(copy, held, is_later=False)
            for wait in slot.waits:
                self.meet(wait, held, is_later=True)
                self.meet(wait, held, is_later=False)
        return True

    def _closing(self, slot: Slot) -> int:
        functions, others = [], []
        for value, held in slot.held.items():
            time = held.natural() if value == slot.widened else held.time
            if time < NEVER:
                (functions if self._is_function(value) else others).append(time >> _STEPS)
        found = NEVER
        if len(others) > MOST:
            found = sorted(others)[MOST]
        if len(functions) > MOST_FUNCTIONS:
            found = min(found, sorted(functions)[MOST_FUNCTIONS])
        return found

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
        self.wake_earlier(target or self._held(copy.dst, value), _next_round(time))

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
                if self.tracks:
                    self._touch(node)
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
        found = self._slots.get(slot)
        return _NONE if found is None else self._of(found)

    def _of(self, slot: Slot) -> frozenset[int]:
        now = self.now
        if slot.closes << _STEPS < now:
            return _NONE if slot.widened is None else frozenset((slot.widened,))
        return frozenset([value for value, held in slot.held.items() if held.time < now])

    def _touch(self, node: Node) -> None:
        """A node is about to have another time."""
        if isinstance(node, Mark):
            self.touched_marks.add((node.kind, node.what))
        elif isinstance(node, Held):
            slot = node.slot
            if slot.closes < NEVER and self._is_function(node.value):
                self.touched_outside = True
            if slot not in self.touched:
                self.touched[slot] = self._of(slot), slot.closes < NEVER

    def marked(self, kind: str) -> Collection[Any]:
        now = self.now
        return {what: None for what, mark in self._marks[kind].items() if mark.time < now}

    def is_closed(self, slot: int) -> bool:
        found = self._slots.get(slot)
        return slot in self._shut or (found is not None and found.closes << _STEPS < self.now)

    def kept_out(self, slot: int) -> set[int]:
        found: set[int] = set()
        seen, todo = {slot}, [slot]
        while todo:
            one = self._slots.get(todo.pop())
            if one is None or one.closes >= NEVER:
                continue
            found.update(filter(self._is_function, self._let_in(one)))
            for copy in one.into:
                if copy.time < NEVER and copy.time >> _STEPS >= one.closes:
                    found.update(filter(self._is_function, self._of(copy.src)))
                    if copy.src.number not in seen:
                        seen.add(copy.src.number)
                        todo.append(copy.src.number)
        return found

    def _let_in(self, slot: Slot) -> Iterator[int]:
        """What a closed slot held, and what came later along copies that were there before."""
        for value, held in slot.held.items():
            if held.time >= NEVER:
                continue
            if held.time >> _STEPS <= slot.closes or any(_brings(copy, value) for copy in slot.into):
                yield value

    def finish(self) -> None:
        """Nothing is forgotten here."""


def _brings(copy: Copy, value: int) -> bool:
    if copy.time >> _STEPS >= copy.dst.closes:
        return False
    held = copy.src.held.get(value)
    return held is not None and copy.src.shows(value, max(copy.time, held.time))


def _key(one: Any) -> Hashable:
    """What makes a static wait the same as another."""
    return one.key() if isinstance(one, Call) else one
