"""Attributes that are stored and loaded in the dict of an object: `o.__dict__['name']`."""

from __future__ import annotations

from ast import literal_eval

from codelake.graph.link.attributes import load
from codelake.graph.link.linking import Linking
from codelake.graph.link.stores import keep


def _dicts(link: Linking) -> dict[int, int]:
    """By slot of the dict of an object: the slot of the object."""
    return {fact.dst: fact.src for fact in link.program.every("load_attribute") if fact.key == "__dict__"}


def _name(key: str) -> str:
    """The name that a constant key is."""
    return str(literal_eval(key)) if key[:1] in ("'", '"') else ""


def add_dicts(link: Linking) -> None:
    dicts = _dicts(link)
    for fact in link.program.every("load_item") if dicts else ():
        if fact.src in dicts and (name := _name(fact.key)):
            link.waits(dicts[fact.src], load, name, fact.dst)
    for fact in link.program.every("store_item") if dicts else ():
        if fact.dst in dicts and (name := _name(fact.key)):
            link.waits(dicts[fact.dst], keep, name, fact.src)
