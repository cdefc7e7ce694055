"""The class of an instance, where it may be one below what code says."""

from __future__ import annotations

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind, Known


def class_of_instance(link: Linking, value: int) -> int:
    """The class of an instance of the unit; where it may be of one below, that is said."""
    of = link.class_of(value)
    return of if link.known(value) == Known.MADE else or_below(link, of)


def or_below(link: Linking, of: int) -> int:
    """A class or one below it, if there are such."""
    return link.values.make(Kind.BELOW, of) if link.hierarchy.subclasses.get(of) else of
