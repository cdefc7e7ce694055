"""What a slot can hold. A value is a number; what it is can be looked up here, and is made once."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import IntEnum


class Kind(IntEnum):
    FUNCTION = 0
    """A function or lambda: its definition."""
    CLASS = 1
    """A class: its definition."""
    MODULE = 2
    """A module: its file."""
    EXTERNAL = 3
    """What no repository of the lake defines: its dotted name, and of a generic class what its variables stand for."""
    INSTANCE = 4
    """An instance of a class: the value of the class, and how that is known (Known)."""
    BOUND = 5
    """A method with what it is bound to: function and receiver, both values."""
    CONTAINER = 6
    """A container made at a slot, of a builtin type."""
    GENERATOR = 7
    """What calling a generator function gives: its definition."""
    COROUTINE = 8
    """What calling an async function gives: its definition."""
    SUPER = 9
    """`super()`: the class that it is written in, and the receiver."""
    PARTIAL = 10
    """A `functools.partial`: the call that made it."""
    PROPERTY = 11
    """A property: the value that gets it, and the class of the descriptor if that is of the unit."""
    CLASSMETHOD = 12
    STATICMETHOD = 13
    METHOD = 14
    """A method of a container or of an instance of a builtin type: the receiver and the name."""
    MANAGER = 15
    """A function under `contextlib.contextmanager`: the value of the function."""
    ENTERED = 16
    """What calling such a function gives."""
    SETTER = 17
    """`x.setter` of a property."""
    MANY = 18
    """In the place of too many functions to follow: the slot that they were for."""
    BELOW = 19
    """A class that code says, or one below it: the value of that class."""


class Known(IntEnum):
    """How the class of an instance is known."""

    MADE = 0
    """A call makes it: it is of this class."""
    SAID = 1
    """Code says so: it may also be of a class below."""
    SHAPE = 2
    """Only this class has the attributes that are asked for; or it is of one below."""
    NAME = 3
    """The same, of a single attribute: a guess."""


Key = tuple[Kind, int, int | str]

MAX_PARTS = 6
"""How many parts an external name may have; attributes of attributes are not followed further."""

_KEYS = {"'": "str", '"': "str", "b": "bytes", "T": "bool", "F": "bool"}
"""By how a constant key begins: its type, if that is not int."""


class Values:
    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.numbers: dict[Key, int] = {}

    def make(self, kind: Kind, a: int | str, b: int | str = 0) -> int:
        key: Key = (kind, a, b)  # type: ignore[assignment]
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return number

    def is_function(self, value: int) -> bool:
        return self.keys[value][0] in (Kind.FUNCTION, Kind.BOUND)

    def external(self, name: str) -> int:
        return self.make(Kind.EXTERNAL, name)

    def of_key(self, key: str) -> int:
        """An instance of the type of a constant key."""
        return self.make(Kind.INSTANCE, self.external(f"builtins.{_KEYS.get(key[0], 'int')}"))

    def generic(self, name: str, codes: Sequence[int | None]) -> int:
        """An external class with what its type variables stand for; see `filling`."""
        if all(code is None for code in codes):
            return self.external(name)
        return self.make(Kind.EXTERNAL, name, ",".join("" if code is None else str(code) for code in codes))

    def codes(self, value: int) -> list[int | None]:
        text = self.keys[value][2]
        return [int(one) if one else None for one in text.split(",")] if isinstance(text, str) and text else []

    def attribute(self, name: str, attribute: str) -> int | None:
        """An attribute of something external. None where that leads too far, or a builtin has no such attribute."""
        if name.startswith("builtins."):
            owner = getattr(builtins, name.removeprefix("builtins."), None)
            if owner is None or not hasattr(owner, attribute):
                return None
        return self.external(f"{name}.{attribute}") if name.count(".") + 1 < MAX_PARTS else None


def is_derived(name: str) -> bool:
    """Whether an external name is merely a name on an unknown result, such as `re.compile().match`."""
    return "(" in name or "[" in name
