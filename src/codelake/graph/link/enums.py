"""Members of enumerations: what a class that is one stores under a name is an instance of it."""

from __future__ import annotations

from collections.abc import Iterator

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind

_ENUM, _AUTO = "enum.Enum", "enum.auto"
_NAMES = ("name", "_name_")
_VALUES = ("value", "_value_")


def is_enum(link: Linking, of: int) -> bool:
    """Whether a class of the unit is an enumeration."""
    outside = (link.values.keys[one] for one in link.hierarchy.order(of))
    return any(kind == Kind.EXTERNAL and link.stubs.is_below(str(name), _ENUM) for kind, name, _ in outside)


def is_member(link: Linking, of: int, name: str, member: int) -> bool:
    """Whether what a class has under a name, in this slot, is a member: no definition, and nothing of the machinery."""
    return not name.startswith("_") and member not in link.program.of_slot and is_enum(link, of)


def add_of_member(link: Linking, of: int, name: str, slot: int) -> bool:
    """What every member has of its own goes to a slot: its name, its value. False where it is neither."""
    if name not in (*_NAMES, *_VALUES) or not is_enum(link, of):
        return False
    if name in _NAMES:
        link.solver.add(slot, link.builtin("str"))
    for member in _members(link, of) if name in _VALUES else ():
        link.waits(member, _add_value, slot)
    return True


def _members(link: Linking, of: int) -> Iterator[int]:
    for one in link.hierarchy.order(of):
        for name, slot in link.members.get(one, {}).items():
            if is_member(link, of, name, slot):
                yield slot


def _add_value(link: Linking, slot: int, value: int) -> None:
    is_auto = str(link.values.keys[link.class_of(value)][1]) == _AUTO
    link.solver.add(slot, link.builtin("int") if is_auto else value)
