"""Why a call has no target: one reason each, from what its callee is made of."""

from __future__ import annotations

from codelake.graph.link.call import Call
from codelake.graph.link.found import Found
from codelake.graph.link.parts import Fact
from codelake.graph.link.too_many import many_in
from codelake.graph.link.values import Kind

_FOLLOWED = ("load_attribute", "load_item", "call", "iterate", "unpack", "global", "await", "enter", "copy")
_DEPTH = 6


class Reasons:
    def __init__(self, links: Found) -> None:
        """Of calls in the files of which links are asked for."""
        self.link = link = links.link
        self.parameters = {p.slot for one in link.program.definitions for p in one.parameters}
        self.made: dict[int, tuple[str, Fact]] = {}
        """By slot that holds nothing: a fact that would fill it, with its kind."""
        for kind in _FOLLOWED:
            for fact in links.facts(kind):
                if not link.solver.of(fact.dst):
                    self.made.setdefault(fact.dst, (kind, fact))

    def of(self, call: Call) -> str:
        if self.derived(call.callee) is not None or self._holds_external(call.callee):
            return "result of external code"
        if self.is_too_large(call.callee):
            return "too many"
        if self.link.solver.of(call.callee):
            return "unknown receiver"
        if call.callee in self.parameters:
            return "unknown parameter"
        kind, fact = self.made.get(call.callee, ("", None))
        if fact is None or kind == "global":
            return "unreachable"
        if kind == "load_item":
            return "dynamic"
        if kind == "copy" and fact.src in self.parameters:
            return "unknown parameter"
        return "unknown receiver"

    def is_too_large(self, slot: int) -> bool:
        """Whether something was too large: the callee, what it is an attribute of, or what was stored under that
        attribute."""
        if many_in(self.link, slot):
            return True
        kind, fact = self.made.get(slot, ("", None))
        slots = [slot]
        if kind == "load_attribute" and fact is not None:
            classes = {one for value in self.link.solver.of(fact.src) for one in self._order(value)}
            slots += [fact.src, *(self.link.field_of(self.link.instance(one), fact.key) for one in sorted(classes))]
        return any(map(self.link.solver.is_closed, slots))

    def _order(self, value: int) -> list[int]:
        kind, of, _ = self.link.values.keys[value]
        return self.link.hierarchy.order(of) if kind == Kind.INSTANCE else []

    def derived(self, slot: int, depth: int = _DEPTH) -> str | None:
        """A name for what comes from the result of external code: `re.compile().match`."""
        external = self._external(slot)
        if external is not None:
            return external
        kind, fact = self.made.get(slot, ("", None))
        if fact is None or not depth or self.link.solver.of(slot):
            return None
        before = self.derived(fact.src, depth - 1)
        if before is None:
            return None
        if kind == "load_attribute":
            return f"{before}.{fact.key}"
        if kind == "call":
            return f"{before}()"
        return f"{before}[]" if kind in ("load_item", "iterate", "unpack") else before

    def _external(self, slot: int) -> str | None:
        """The one external thing that a slot holds, or an instance of one."""
        found = set()
        for value in self.link.solver.of(slot):
            kind, a, _ = self.link.values.keys[value]
            if kind == Kind.INSTANCE:
                kind, a, _ = self.link.values.keys[a]
            if kind == Kind.EXTERNAL:
                found.add(str(a))
        return min(found) if found else None

    def _holds_external(self, slot: int) -> bool:
        return self._external(slot) is not None
