"""What rules look up by slot or by name, and do not wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codelake.graph.link.enums import is_enum
from codelake.graph.link.evaluated import locals_around
from codelake.graph.link.kept.patching import Kept
from codelake.graph.link.kept.program import GONE
from codelake.graph.link.linking import Linking
from codelake.graph.link.records import fields_of


class LookedUp:
    def __init__(self, link: Linking) -> None:
        program, modules = link.program, link.modules
        imports = {slot: (one.level, one.module, one.name, one.as_name) for slot, one in link.imports.items()}
        code = (fact for fact in program.every("text") if not fact.key.isidentifier())
        around = {fact.dst: list(locals_around(link, fact.scope)) for fact in code}
        self.by_slot: Sequence[Mapping[int, object]] = (
            *(link.defaults, link.texts, link.keys, link.indices, link.receivers, imports, link.bare, link.forms),
            *(link.respelled, around, link.made, dict.fromkeys(link.lookups), dict.fromkeys(link.ending)),
        )
        self.handed, self.delegates, self.outer, self.getting = link.handed, link.delegates, link.outer, link.getting
        self.places = {
            of: [(name, slot in program.of_slot) for name, slot in members.items()]
            for of, members in link.members.items()
            if is_enum(link, of) or fields_of(link, of)
        }
        """Members that are found by their place, or all together."""
        self.modules = (
            [[(one.level, one.module) for one in stars] for stars in modules.stars],
            modules.listed,
            modules.listed_of,
        )
        definitions = [(number, one) for number, one in enumerate(program.definitions) if one.kind != GONE]
        self.classes = {number: one.id for number, one in definitions if one.kind == "class"}
        self.functions = {number for number, one in definitions if one.kind != "class"}
        self.by_name: dict[tuple[str, int], Mapping[str, object]] = {
            **{("member", value): found for value, found in link.members.items()},
            **{("stored", value): dict.fromkeys(found) for value, found in link.stored.items()},
            **{("module", file): found for file, found in enumerate(modules.names)},
        }

    def finds_the_same(self, other: LookedUp, kept: Iterable[Kept]) -> bool:
        """Whether whoever looked something up by slot finds the same there."""
        fresh = {slot for one in kept for slot in one.fresh}
        gone = {slot for one in kept for slot in one.gone}
        for old, new in zip(self.by_slot, other.by_slot, strict=True):
            if old.keys() - new.keys() - gone or new.keys() - old.keys() - fresh:
                return False
            if any(old[slot] != new[slot] for slot in old.keys() & new.keys()):
                return False
        if (self.modules, self.classes, self.getting) != (other.modules, other.classes, other.getting):
            return False
        if self.places != other.places:
            return False
        if any(
            self.outer.get(one) != other.outer.get(one)
            for one in (self.functions & other.functions) | set(self.classes)
        ):
            return False
        of_functions = (self.handed, other.handed), (self.delegates, other.delegates)
        return all(
            mine.get(one) == its.get(one) for mine, its in of_functions for one in self.functions & other.functions
        )

    def other_names(self, other: LookedUp) -> set[str] | None:
        """Names under which something else is found there. None where another class has such a name: one may stand in
        the place of the other."""
        found: dict[str, int] = {}
        for where in self.by_name.keys() | other.by_name.keys():
            old, new = self.by_name.get(where, {}), other.by_name.get(where, {})
            if old != new:
                names = {name for name in old.keys() | new.keys() if old.get(name, -1) != new.get(name, -1)}
                found |= dict.fromkeys(names, where[1])
        for where, names_there in other.by_name.items():
            if where[0] != "module" and any(found[name] != where[1] for name in found.keys() & names_there.keys()):
                return None
        return set(found)
