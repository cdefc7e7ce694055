"""Named tuples that a class statement makes: their fields by name and by place."""

from __future__ import annotations

from itertools import pairwise

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind

_BASE = "typing.NamedTuple"


def fields_of(link: Linking, of: int) -> list[str]:
    """The names of the fields of a class of the unit, in their order; none, if it is no named tuple."""
    order = link.hierarchy.order(of)
    for one, above in pairwise(order):
        kind, of_base, _ = link.values.keys[above]
        if kind == Kind.EXTERNAL and str(of_base) == _BASE:
            members = link.members.get(one, {}).items()
            return [name for name, slot in members if slot not in link.program.of_slot and not name.startswith("_")]
    return []


def field_at(link: Linking, value: int, key: str) -> str | None:
    """The field of an instance that a constant index means."""
    kind, of, _ = link.values.keys[value]
    if kind != Kind.INSTANCE or not key.lstrip("-").isdigit():
        return None
    fields = fields_of(link, of)
    place = int(key)
    return fields[place] if -len(fields) <= place < len(fields) else None
