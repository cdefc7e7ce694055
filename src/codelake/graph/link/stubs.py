"""What the table `stubs` says of names of the outside. Modules are read when a name of theirs is asked for."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pyarrow as pa

from codelake.graph.link.hierarchy import merged
from codelake.graph.link.signatures import Alternative, Type, parse_type

COLUMNS = ("module", "stars", "names")
"""What is read of the table."""
_VARIABLE = re.compile(r"~\w+")
_CALLED = ("function", "method", "classmethod", "staticmethod")
Bound = dict[str, Type]
"""By type variable of a class: what it stands for, in the variables of another."""


class Stub(NamedTuple):
    name: str
    """Full name, as its definition has it."""
    kind: str
    """As in the table, or module."""
    text: str

    @property
    def is_called(self) -> bool:
        return self.kind in _CALLED


class Member(NamedTuple):
    """An attribute of a class."""

    stub: Stub
    shown: str
    """Its name by the class that defines it; where that is private, by the class that was asked."""
    bound: Bound
    """What the variables of that class stand for, in those of the class that was asked."""


class Stubs:
    def __init__(self, table: pa.Table) -> None:
        self._table = table.select(COLUMNS).sort_by("module").combine_chunks()
        self._rows = {module: row for row, module in enumerate(self._table.column("module").to_pylist())}
        self._modules: dict[str, dict[str, tuple[str, str]]] = {}
        self._stars: dict[str, list[str]] = {}
        self._found: dict[str, Stub | None] = {}
        self._orders: dict[str, list[tuple[str, Bound]]] = {}
        self._members: dict[tuple[str, str], Member | None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Stubs, (self._table,)

    # names -------------------------------------------------------------------------------------------

    def find(self, name: str) -> Stub | None:
        """What a full name means, through aliases."""
        try:
            return self._found[name]
        except KeyError:
            self._found[name] = None  # aliases in a circle mean nothing
            found = self._found[name] = self._find(name)
            return found

    def _find(self, name: str) -> Stub | None:
        if name in self._rows:
            return Stub(name, "module", "")
        owner, _, last = name.rpartition(".")
        if not owner or "(" in name or "[" in name:
            return None
        if owner in self._rows:
            return self._of_module(owner, last)
        found = self.find(owner)
        if found is None:
            return None
        if found.kind == "variable":
            found = self._class_of(found)
        elif found.kind == "module":
            return self.find(f"{found.name}.{last}")
        member = None if found is None or found.kind != "class" else self.member(found.name, last)
        return None if member is None else member.stub

    def _of_module(self, module: str, name: str) -> Stub | None:
        own = self._names(module).get(name)
        if own is not None:
            return self._meant(f"{module}.{name}", *own)
        for source in self._stars[module]:
            found = self.find(f"{source}.{name}")
            if found is not None:
                return found
        return None

    def _meant(self, full: str, kind: str, text: str) -> Stub | None:
        if kind == "alias":
            return self.find(text)
        return Stub(full, kind, text)

    def _class_of(self, variable: Stub) -> Stub | None:
        for one in parse_type(variable.text):
            found = self.find(one.head)
            if found is not None and found.kind == "class":
                return found
        return None

    def _names(self, module: str) -> dict[str, tuple[str, str]]:
        names = self._modules.get(module)
        if names is None:
            row = self._rows[module]
            nested = self._table.column("names").chunk(0)
            start, end = nested.offsets[row].as_py(), nested.offsets[row + 1].as_py()
            fields = (
                nested.values.field(one).slice(start, end - start).to_pylist() for one in ("name", "kind", "type")
            )
            names = self._modules[module] = {name: (kind, text) for name, kind, text in zip(*fields, strict=True)}
            self._stars[module] = self._table.column("stars")[row].as_py()
        return names

    def expanded(self, one: Alternative, of: Stub) -> Type:
        """What another name for a type stands for, with what it is of."""
        names = list(dict.fromkeys(_VARIABLE.findall(of.text)))
        return _put(parse_type(of.text), dict(zip(names, one.inner, strict=False)))

    # classes -----------------------------------------------------------------------------------------

    def class_named(self, name: str) -> Stub | None:
        found = self.find(name)
        return found if found is not None and found.kind == "class" else None

    def variables(self, of: Stub) -> list[str]:
        """The type variables of a class."""
        names = of.text.partition(":")[0]
        return names.split(",") if names else []

    def order(self, of: Stub) -> list[tuple[str, Bound]]:
        """The method resolution order of a class: names, and what their variables stand for."""
        known = self._orders.get(of.name)
        if known is not None:
            return known
        own: Bound = {one: (Alternative(one),) for one in self.variables(of)}
        found = self._orders[of.name] = [(of.name, own)]  # a class below itself has nothing above it
        texts = of.text.partition(":")[2]
        bounds: dict[str, Bound] = {}
        orders = []
        for text in texts.split(";") if texts else ():
            base = parse_type(text)[0]
            above = self.class_named(base.head)
            if above is None:
                continue
            given = dict(zip(self.variables(above), base.inner, strict=False))
            orders.append([name for name, _ in self.order(above)])
            for name, bound in self.order(above):
                bounds.setdefault(name, {one: _put(type_, given) for one, type_ in bound.items()})
        names = merged([*orders, [order[0] for order in orders]])
        if names is None:
            names = list(dict.fromkeys(name for order in orders for name in order))
        found += [(name, bounds[name]) for name in names]
        return found

    def member(self, of: str, name: str) -> Member | None:
        """An attribute of a class, by the class's full name."""
        key = of, name
        if key not in self._members:
            self._members[key] = self._member(of, name)
        return self._members[key]

    def _member(self, of: str, name: str) -> Member | None:
        asked = self.class_named(of)
        every = [*self.order(asked), ("builtins.object", {})] if asked is not None else []
        for full, bound in every:
            module, _, owner = self._split(full)
            found = self._names(module).get(f"{owner}.{name}") if module else None
            stub = None if found is None else self._meant(f"{full}.{name}", *found)
            if stub is not None:
                is_private = any(part.startswith("_") for part in full.split("."))
                return Member(stub, f"{of if is_private else full}.{name}", bound)
        return None

    def _split(self, full: str) -> tuple[str, str, str]:
        """The module of a class, and the class within."""
        parts = full.split(".")
        for n in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:n])
            if module in self._rows:
                return module, ".", ".".join(parts[n:])
        return "", "", full

    def is_below(self, name: str, above: str) -> bool:
        """Whether a class is another, or below it."""
        if name == above:
            return True
        one, other = self.class_named(name), self.class_named(above)
        if one is None or other is None:
            return False
        return other.name == "builtins.object" or any(full == other.name for full, _ in self.order(one))


def _put(type_: Type, given: Bound) -> Type:
    """A type with its variables replaced."""
    made: list[Alternative] = []
    for one in type_:
        if one.head in given:
            made += given[one.head]
        else:
            made.append(Alternative(one.head, tuple(_put(inner, given) for inner in one.inner)))
    return tuple(made)
