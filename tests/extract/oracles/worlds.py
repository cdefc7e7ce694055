"""What programs run in: functions that decide, fail or wait as a seed says."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from types import CoroutineType, GeneratorType, SimpleNamespace
from typing import Any

from .tracer import Tracer


class E1(Exception):
    pass


class E2(Exception):
    pass


class Stop2(BaseException):
    pass


class Thing(SimpleNamespace):
    a = b = 0


class Any_(type):
    """Of classes that all are instances of."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class Manager:
    def __init__(self, world: World, value: object) -> None:
        self.world, self.value = world, value

    def __enter__(self) -> object:
        self.world.maybe_raise()
        return self.value

    def __exit__(self, *error: object) -> bool:
        self.world.maybe_raise()
        return self.world.odds(0.4)

    async def __aenter__(self) -> object:
        await Waiting(self.world, None)
        return self.__enter__()

    async def __aexit__(self, *error: object) -> bool:
        await Waiting(self.world, None)
        return self.__exit__(*error)


class Waiting:
    def __init__(self, world: World, value: object) -> None:
        self.world, self.value = world, value

    def __await__(self) -> Generator[None, None, object]:
        for _ in range(self.world.random.randrange(3)):
            yield
        self.world.maybe_raise()
        return self.value


class Value:
    """Can do whatever is asked of it; true or not, but the same whenever asked: CPython may ask twice for once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.is_true = world.random.random() < 0.5

    def __bool__(self) -> bool:
        return self.is_true

    def __iter__(self) -> Iterator[Value]:
        return iter((self, self))

    def __index__(self) -> int:
        return 0

    def __add__(self, other: object) -> Value:
        return self

    __radd__ = __getitem__ = __add__

    def __setitem__(self, key: object, value: object) -> None:
        self.world.maybe_raise()

    @property
    def a(self) -> Value:
        return self

    @a.setter
    def a(self, value: object) -> None:
        self.world.maybe_raise()


class Refusing(dict[str, object]):
    def __setitem__(self, name: str, value: object) -> None:
        if name in self:
            raise E1(name)
        super().__setitem__(name, value)


class World:
    """The globals of a program, and how it is driven. After `budget` decisions, nothing fails and loops end."""

    def __init__(self, tracer: Tracer, seed: int, *, budget: int = 60, failing: float = 0.12) -> None:
        self.tracer, self.random = tracer, random.Random(seed)
        self.budget, self.failing = budget, failing
        bad = Any_("Bad", (), {"__match_args__": 1})  # which a pattern stumbles over
        self.globals: dict[str, Any] = {
            "c": self.c, "f": self.f, "g": self.g, "it": self.it, "done": self.done,
            "cm": lambda v=None: Manager(self, v), "aw": lambda v: Waiting(self, v),
            "ait": self.ait, "acm": lambda v=None: Manager(self, v),
            "E1": E1, "E2": E2, "Stop2": Stop2, "Thing": Thing, "Bad": bad, "pick": lambda *v: self.random.choice(v),
            "thing": lambda a=1, b=2: Thing(a=a, b=b), "consts": SimpleNamespace(one=1, half=1.5),
            "deco": lambda g: g, "refusing": Refusing, "__name__": "program",
        }  # fmt: skip

    def odds(self, share: float) -> bool:
        self.budget -= 1
        return self.budget > 0 and self.random.random() < share

    def maybe_raise(self) -> None:
        if self.odds(self.failing):
            raise self.random.choice(
                (E1, E1, E2, ExceptionGroup("g", [E1(), E2()]), ExceptionGroup("h", [E1()]), ValueError)
            )

    def c(self) -> bool:
        self.maybe_raise()
        outcome = self.odds(0.5)
        self.tracer.decide(sys._getframe(1), outcome)
        return outcome

    def done(self) -> bool:
        self.budget -= 1
        return self.budget <= 0

    def f(self, *values: Any, **named: Any) -> Any:
        self.maybe_raise()
        return values[0] if values else None

    def g(self, *values: Any, **named: Any) -> Value:
        self.maybe_raise()
        return Value(self)

    def it(self, n: Any) -> Iterator[int]:
        for i in range(n if isinstance(n, int) else 2):
            self.maybe_raise()
            yield i

    async def ait(self, n: Any) -> AsyncIterator[int]:
        for i in range(n if isinstance(n, int) else 2):
            await Waiting(self, None)
            yield i

    def run(self, call: Callable[[], Any]) -> None:
        """Calls a function, and resumes what it returns until that ends, one way or another."""
        try:
            made = call()
            if isinstance(made, CoroutineType) and self.random.random() < 0.3:
                asyncio.run(made)
            elif isinstance(made, CoroutineType | GeneratorType):
                self.drive(made)
        except (Exception, Stop2, GeneratorExit):  # noqa: BLE001
            return

    def drive(self, made: Any) -> None:
        sent = None
        for _ in range(100):
            how = self.random.random()
            if how < 0.08:
                made.throw(self.random.choice((E1, E2, Stop2, GeneratorExit)))
            elif how < 0.12:
                made.close()
                return
            else:
                made.send(sent)
                sent = self.random.choice((None, 1)) if isinstance(made, GeneratorType) else None
        made.close()
