"""What a test lets pass: of the values that a name may hold, those that are of a class."""

from __future__ import annotations

from collections.abc import Callable

from codelake.graph.link.linking import Linking
from codelake.graph.link.values import Kind

_OF_CONTAINERS = {
    *("Iterable", "Iterator", "Collection", "Container", "Sized", "Sequence", "MutableSequence", "Mapping"),
    *("MutableMapping", "Set", "MutableSet", "Hashable", "Generator"),
}
"""Abstract classes of the standard library that containers may be of."""
_CALLED = (Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.METHOD)


def among(link: Linking, passes: Callable[..., None], classes: int, dst: int, value: int) -> None:
    """A value comes to a test: it goes on for each class of the test that it is of."""
    link.waits(classes, passes, value, dst)


def if_instance(link: Linking, value: int, dst: int, of: int) -> None:
    if _is_instance(link, value, of):
        link.solver.add(dst, value)


def if_subclass(link: Linking, value: int, dst: int, of: int) -> None:
    kind, a, _ = link.values.keys[value]
    if kind in (Kind.CLASS, Kind.BELOW):
        one = value if kind == Kind.CLASS else int(a)
        if of in link.hierarchy.order(one):
            link.solver.add(dst, value)


def _is_instance(link: Linking, value: int, of: int) -> bool:
    kind, a, b = link.values.keys[value]
    of_kind, name, _ = link.values.keys[of]
    if of_kind == Kind.CLASS:
        return kind == Kind.INSTANCE and of in link.hierarchy.order(a)
    if of_kind != Kind.EXTERNAL:
        return False
    last = str(name).rpartition(".")[2]
    if kind == Kind.INSTANCE:
        # A class of the unit may be below one that is not, by bases that are not known.
        order = link.hierarchy.order(a)
        names = [str(link.values.keys[one][1]) for one in order if link.values.keys[one][0] == Kind.EXTERNAL]
        is_below = any(link.stubs.is_below(one, str(name)) for one in names)
        return is_below or (link.values.keys[a][0] == Kind.CLASS and bool(names))
    if kind in (Kind.CONTAINER, Kind.GENERATOR):
        return last in (b, *_OF_CONTAINERS) or (kind == Kind.GENERATOR and last == "GeneratorType")
    if kind in (Kind.CLASS, Kind.BELOW):
        return last == "type"
    if kind in _CALLED:
        return last in ("Callable", "FunctionType", "MethodType", "partial")
    return kind == Kind.EXTERNAL
