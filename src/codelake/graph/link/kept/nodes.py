"""What is known of a solution, and since when: nodes that hold from a time on because others do.

Times are rounds, and within a round how many steps led there, so that whatever holds is held up by something earlier,
and nothing holds itself up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from codelake.graph.link.solver import MOST, MOST_FUNCTIONS, Waiting

STEPS = 20
"""Bits of a time that count steps within a round."""
_ROUNDS = 16
"""Bits that count rounds within a phase."""
NEVER = 1 << 62
NOTHING: frozenset[int] = frozenset()


def beginning(phase: int) -> int:
    """The time at which a phase begins. The first is 0."""
    return phase << (_ROUNDS + STEPS)


def next_round(time: int) -> int:
    return ((time >> STEPS) + 1) << STEPS


class Following(Protocol):
    """Who sees to it that what hangs on a node follows it."""

    def run(self, maker: Maker) -> None: ...

    def wake(self, node: Node, time: int) -> None: ...

    def wake_earlier(self, node: Node, time: int) -> None: ...

    def pass_on(self, copy: Copy, held: Held, *, is_later: bool) -> None: ...

    def meet(self, wait: Wait, held: Held, *, is_later: bool) -> None: ...

    def mark_anew(self, kind: str) -> None:
        """There are other marks of a kind than before, or since another time."""

    def reconsider(self, slot: Slot) -> bool:
        """See whether a slot holds too much, and whether that is another round, or another value, than it was."""


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

    def follow(self, live: Following, *, is_later: bool) -> None:
        """Tell what hangs on it that its time is another."""


class Maker(Node):
    """What makes others hold: they are known once its body has run."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Node] | None = None

    def run(self) -> None:
        """Its body."""

    def follow(self, live: Following, *, is_later: bool) -> None:
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

    def follow(self, live: Following, *, is_later: bool) -> None:
        live.mark_anew(self.kind)


class Held(Node):
    """A value in a slot. Its makers are what adds it; copies bring it too."""

    __slots__ = ("slot", "value")

    def __init__(self, slot: Slot, value: Any) -> None:
        super().__init__()
        self.slot, self.value = slot, value

    def after(self, maker: Maker) -> int:
        return 0 if self.slot.is_fixed else next_round(maker.time)

    def natural(self) -> int:
        """When it comes, were the slot not widened."""
        slot, value = self.slot, self.value
        best = min([self.after(one) for one in self.makers if one.time < NEVER], default=NEVER)
        for copy in slot.into:
            held = copy.src.held.get(value)
            if held is not None:
                time = max(held.time, copy.time)
                if time < NEVER and time < best and copy.src.shows(value, time):
                    best = min(best, next_round(time))
        return best

    def due(self) -> int:
        slot = self.slot
        if slot.closes < NEVER and self.value == slot.widened:
            return min(self.natural(), slot.closes << STEPS)
        return self.natural()

    def follow(self, live: Following, *, is_later: bool) -> None:
        slot = self.slot
        slot.all_of_it = None
        if len(slot.held) > MOST and live.reconsider(slot):
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

    def follow(self, live: Following, *, is_later: bool) -> None:
        for wait in self.slot.waits:
            live.meet(wait, self, is_later=is_later)


class Copy(Node):
    __slots__ = ("dst", "src")

    def __init__(self, src: Slot, dst: Slot) -> None:
        super().__init__()
        self.src, self.dst = src, dst

    def follow(self, live: Following, *, is_later: bool) -> None:
        for held in tuple(self.src.held.values()):
            live.pass_on(self, held, is_later=is_later)

    def brings(self, value: int) -> bool:
        """Whether it was there before what it leads to was closed, and a value came along it."""
        if self.time >> STEPS >= self.dst.closes:
            return False
        held = self.src.held.get(value)
        return held is not None and self.src.shows(value, max(self.time, held.time))


class Wait(Node):
    __slots__ = ("events", "slot", "waiting")

    def __init__(self, slot: Slot, waiting: Waiting) -> None:
        super().__init__()
        self.slot, self.waiting = slot, waiting
        self.events: dict[Any, Event] = {}

    def follow(self, live: Following, *, is_later: bool) -> None:
        for held in tuple(self.slot.held.values()):
            live.meet(self, held, is_later=is_later)


class Slot:
    __slots__ = (
        "all_of_it",
        "closes",
        "held",
        "into",
        "is_fixed",
        "number",
        "out",
        "since",
        "until",
        "waits",
        "widened",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.held: dict[Any, Held] = {}
        self.all_of_it: frozenset[int] | None = None
        """What it holds; None until somebody asks."""
        self.since = self.until = 0
        """From when on it holds all of it, and until when."""
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
        return time < NEVER and ((time >> STEPS) < self.closes or value == self.widened)

    def at(self, now: int) -> frozenset[int]:
        """What it held before a time."""
        if self.closes << STEPS < now:
            return NOTHING if self.widened is None else frozenset((self.widened,))
        if self.all_of_it is None:
            times = [held.time for held in self.held.values() if held.time < NEVER]
            self.since, self.until = max(times, default=-1) + 1, self.closes << STEPS
            self.all_of_it = frozenset([value for value, held in self.held.items() if held.time < NEVER])
        if self.since <= now:
            return self.all_of_it
        return frozenset([value for value, held in self.held.items() if held.time < now])

    def closing(self, is_function: Callable[[int], bool]) -> int:
        """The round in which it comes to hold too much, or never."""
        functions: list[int] = []
        others: list[int] = []
        for value, came in self._came():
            (functions if is_function(value) else others).append(came)
        found = NEVER
        if len(others) > MOST:
            found = sorted(others)[MOST]
        if len(functions) > MOST_FUNCTIONS:
            found = min(found, sorted(functions)[MOST_FUNCTIONS])
        return found

    def held_until(self, closes: int) -> set[int]:
        """What came up to a round."""
        return {value for value, came in self._came() if came <= closes}

    def _came(self) -> Iterator[tuple[int, int]]:
        """Values, with the rounds in which they came."""
        for value, held in self.held.items():
            time = held.natural() if value == self.widened else held.time
            if time < NEVER:
                yield value, time >> STEPS

    def let_in(self) -> Iterator[int]:
        """Of a closed slot: what it held, and what came later along copies that were there before."""
        for value, held in self.held.items():
            if held.time >= NEVER:
                continue
            if held.time >> STEPS <= self.closes or any(copy.brings(value) for copy in self.into):
                yield value
