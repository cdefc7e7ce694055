"""What annotations say: instances of the classes that they name."""

from __future__ import annotations

from typing import Any

from codelake.graph.link.attributes import view
from codelake.graph.link.below import or_below
from codelake.graph.link.linking import ANY, Linking
from codelake.graph.link.modules import BUILTINS
from codelake.graph.link.names import named
from codelake.graph.link.parts import Annotation
from codelake.graph.link.values import Kind, Known

_UNIONS = ("Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable", "Coroutine")
_LISTS = {
    **dict.fromkeys(("list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection"), "list"),
    **dict.fromkeys(("Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Deque", "deque"), "list"),
    **dict.fromkeys(("set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"), "set"),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict"), "dict"),
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
}
_WRITTEN = {
    **{name: f"typing.{name}" for name in ("Sequence", "MutableSequence", "Iterable", "Iterator", "Collection")},
    **{name: f"typing.{name}" for name in ("Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator")},
    **{name: f"typing.{name}" for name in ("AbstractSet", "MutableSet", "Mapping", "MutableMapping")},
    **dict.fromkeys(("Deque", "deque"), "collections.deque"),
    **dict.fromkeys(("frozenset", "FrozenSet"), "builtins.frozenset"),
    "DefaultDict": "collections.defaultdict",
    "OrderedDict": "collections.OrderedDict",
}
"""What annotations name that is taken for a container of a builtin type."""
_NOTHING = ("Any", "object", "NoReturn", "Never", "Callable", "Literal", "LiteralString", "TypeVar", "None")


def add_annotations(link: Linking) -> None:
    for one in link.program.every_annotation():
        if not one.types:
            continue
        slot = _slot(link, one)
        if slot is None:
            continue
        if one.role == "parameter":
            slot = _kept_as(link, one, slot)
        _Type(link, one).fill(0, slot)


def written_names(link: Linking) -> dict[int, str]:
    """By slot of the place where an annotation names something that is taken for a container of a builtin type: what
    it names."""
    return {
        link.view_of_place(one.file, part["place"]): _WRITTEN[last]
        for one in link.program.annotations
        for part in one.types
        if part["kind"] == "generic" and (last := (part["name"] or "").rpartition(".")[2]) in _WRITTEN
    }


def _slot(link: Linking, one: Annotation) -> int | None:
    """What is annotated."""
    program = link.program
    if one.role == "return":
        number = program.of_slot.get(program.slot(one.file, one.owner))
        return None if number is None else link.returned(number)
    place = one.owner if one.role == "parameter" else one.owner + 1  # the target of an annotated assignment
    return int(program.same[program.slot(one.file, place)])


def _kept_as(link: Linking, one: Annotation, slot: int) -> int:
    """`*args: T` holds a tuple of T."""
    for kind, type_name in (("var_positional", "tuple"), ("var_keyword", "dict")):
        if slot in link.spread_parameters(kind):
            made = link.container(slot, type_name)
            link.solver.add(slot, made)
            return link.element(made, ANY)
    return slot


class _Type:
    """The type expressions of one annotation."""

    def __init__(self, link: Linking, one: Annotation) -> None:
        self.link, self.one = link, one
        self.children: dict[int, list[int]] = {}
        first = one.types[0]["place"]
        for number, part in enumerate(one.types):
            self.children.setdefault(part["parent"] - first if part["parent"] >= 0 else -1, []).append(number)

    def fill(self, number: int, slot: int) -> None:
        """Instances of a type go to a slot."""
        part = self.one.types[number]
        kind, name = part["kind"], part["name"] or ""
        below = self.children.get(number, [])
        last = name.rpartition(".")[2]
        if kind == "union" or (kind == "generic" and last in _UNIONS):
            for child in below:
                self.fill(child, slot)
        elif kind == "generic" and last in ("type", "Type"):
            for child in below:
                self.fill_class(child, slot)
        elif kind == "generic" and last in _LISTS and not self._is_of_unit(part):
            self.fill_container(_LISTS[last], below, slot, part)
        elif kind in ("name", "generic") and last == "Self":
            self.fill_self(slot)
        elif kind in ("name", "generic") and last not in _NOTHING:
            found = self.named(part)
            if found is not None:
                self.link.waits(found, _add_instance, slot)

    def fill_class(self, number: int, slot: int) -> None:
        found = self.named(self.one.types[number])
        if found is not None:
            self.link.waits(found, _add_class, slot)

    def fill_container(self, type_name: str, below: list[int], slot: int, part: dict[str, Any]) -> None:
        link = self.link
        place = link.view_of_place(self.one.file, part["place"])
        made = link.container(place, type_name)
        _say(link, slot, made)
        if type_name == "tuple" and not any(self.one.types[c]["kind"] == "ellipsis" for c in below):
            for number, child in enumerate(below):
                self.fill(child, link.element(made, str(number)))
        elif type_name == "dict" and len(below) > 1:
            self.fill(below[0], link.keys_of(made))
            self.fill(below[1], link.element(made, ANY))
        elif below:
            self.fill(below[0], link.element(made, ANY))

    def fill_self(self, slot: int) -> None:
        scope = self.one.scope
        while scope >= 0:
            around = self.link.program.around(scope)
            if around.kind == "class":
                owner = self.link.defined[self.link.program.of_slot[around.slot]]
                _say(self.link, slot, self.link.instance(owner, Known.SAID))
                return
            scope = around.scope

    def _is_of_unit(self, part: dict[str, Any]) -> bool:
        """Whether a name like that of a container is of the file's own."""
        if part["symbol"] is None:
            return False
        number = self.link.program.of_slot.get(self._symbol(part))
        return number is not None

    def _symbol(self, part: dict[str, Any]) -> int:
        return int(self.link.program.same[self.link.program.slot(self.one.file, -1 - part["symbol"])])

    def named(self, part: dict[str, Any]) -> int | None:
        """The slot of what a type's name means."""
        if not part["name"]:
            return None
        first, *rest = part["name"].split(".")
        if part["symbol"] is not None:
            slot: int | None = self._symbol(part)
        else:
            slot = named(self.link, self.one.file, first)
            if slot is None and first in BUILTINS:
                slot = self.link.holding(self.link.values.external(f"builtins.{first}"))
        if slot is None:
            return None
        for name in rest:
            further = self.link.solver.named("type", self.one.file, part["place"], name)
            self.link.waits(slot, _load, name, further)
            slot = further
        return slot


def _load(link: Linking, name: str, dst: int, value: int) -> None:
    link.solver.copy(view(link, value, name), dst)


def _add_instance(link: Linking, slot: int, value: int) -> None:
    kind, text, _ = link.values.keys[value]
    if kind == Kind.CLASS or (kind == Kind.EXTERNAL and str(text).rpartition(".")[2] not in _NOTHING):
        _say(link, slot, link.instance(value, Known.SAID))


def _add_class(link: Linking, slot: int, value: int) -> None:
    link.solver.add(slot, or_below(link, value))


def _say(link: Linking, slot: int, value: int) -> None:
    link.solver.mark("said", (slot, value))
    link.solver.add(slot, value)
