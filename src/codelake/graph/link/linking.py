"""One unit while it is linked: its constraints, and the slots that come up on the way.

Whatever is made during solving is named by what it is for (a class and an attribute, a container and a key, a
function's results) and made once, so that neither order nor repetition matters.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Collection
from functools import cached_property

from codelake.graph.link.call import Call
from codelake.graph.link.delegating import delegates, getters
from codelake.graph.link.expressions import made_of_parameters
from codelake.graph.link.hierarchy import Hierarchy
from codelake.graph.link.modules import Modules
from codelake.graph.link.parts import Definition
from codelake.graph.link.program import Program
from codelake.graph.link.signatures import Type
from codelake.graph.link.solver import Solver
from codelake.graph.link.stubs import Stubs
from codelake.graph.link.values import Kind, Known, Values

ANY = "*"
_ALL = "all"
KEY = "key"
_MOST_MADE = 8


class Linking:
    def __init__(self, program: Program, modules: Modules, values: Values, stubs: Stubs, *, backwards: bool) -> None:
        self.program, self.modules, self.values, self.stubs = program, modules, values, stubs
        self.plain: dict[Type, tuple[int, ...] | None] = {}
        """By type of a stub: its values, if they are the same wherever it stands."""
        self.hierarchy = Hierarchy({})
        self.bind: Callable[[Linking, Call, int], None] | None = None
        """What a call does with a value that it calls; without it, nothing is called."""
        self.solver = Solver(program.n_slots, values.is_function, self.widened, backwards=backwards)
        self.defined: list[int] = []
        """By definition: its value."""
        self.many: set[int] = set()
        """Values that stand for functions that are too many (`too_many`)."""
        self.metaclasses: dict[int, int] = {}
        """By value of class, where it is one of the unit."""
        self.read()
        self.restart()

    def read(self) -> None:
        """What the program says, by slot and by class."""
        program, values = self.program, self.values
        self.defined += (_value_of(values, number, one) for number, one in program.definitions_from(len(self.defined)))
        self.members: dict[int, dict[str, int]] = {}
        """By value of class: its attributes, from name to slot."""
        self.locals: dict[int, dict[str, int]] = {}
        """By slot of function: its variables, from name to slot."""
        self.defaults = {fact.dst: fact.src for fact in program.every("default")}
        self.texts = {fact.dst: fact.key for fact in program.every("text")}
        self.forms: dict[int, list[str]] = {}
        for fact in program.every("like"):
            self.forms.setdefault(fact.dst, []).append(fact.key)
        self.respelled = {fact.dst: fact.src for fact in program.every("respelled")}
        self.keys = {fact.dst: fact.key for fact in program.every("constant")}
        """By slot: the constant that a name of a module or class stands for."""
        self.indices = {fact.dst: fact.src for fact in program.every("index")}
        """By slot of an item: the slot of the name that it is loaded by."""
        self.lookups, self.ending = ({fact.dst for fact in program.every(kind)} for kind in ("lookup", "ends"))
        """Slots of parameters by which items are looked up; of functions whose end may be reached."""
        self.made = made_of_parameters(program)  # by slot of what functions return, and of what that is made of
        self.receivers = {d.parameters[0].slot: d.owner for d in program.definitions if d.owner >= 0 and d.parameters}
        """By slot of the first parameter of a method: its class."""
        self.stored: dict[int, set[str]] = {}
        """By class: names that its own methods store on their first parameter."""
        self.imports = {one.slot: one for one in program.imports if one.name != "*"}
        self._spread: dict[str, frozenset[int]] = {}
        self._index_members()

    def restart(self) -> None:
        """Forget what was solved. Names of slots stay."""
        self.solver.restart()
        self.begin()

    def begin(self) -> None:
        self.nowhere = self.solver.named("nowhere")
        self.solver.close(self.nowhere)
        """For results that nobody takes."""
        self.constant: set[int] = set()
        """Containers that nothing is put into."""
        self.handed: dict[int, list[tuple[int, str]]] = {}
        """By function: slots of what it returns that hangs on the call, with what must be given
        (`extract/flow/given.py`). Parameters that it returns as they are stand for what is passed."""
        self.written: list[Call] = []
        """Those that stand in the code."""
        self.decorated: list[tuple[Call, int]] = []
        """Those of decorators, with the slot of what comes out."""
        self.bare: dict[int, int] = {}
        """By slot of a decorated definition: the slot of what goes into its decorators."""
        self.partials: dict[int, Call] = {}
        """By value: the call that made a partial."""

    def _index_members(self) -> None:
        program = self.program
        for fact in program.every("bind"):
            number = program.of_slot.get(fact.src)
            if number is None:
                continue
            if program.definitions[number].kind == "class":
                self.members.setdefault(self.defined[number], {})[fact.key] = fact.dst
            elif program.definitions[number].kind != "module":
                self.locals.setdefault(fact.src, {})[fact.key] = fact.dst
        for fact in program.every("store_attribute"):
            owner = self.receivers.get(fact.dst)
            if owner is not None:
                self.stored.setdefault(self.defined[owner], set()).add(fact.key)

    @cached_property
    def specials(self) -> set[str]:
        """The special methods that any class has."""
        return {name for members in self.members.values() for name in members if name[:2] == "__"}

    @cached_property
    def stores(self) -> dict[int, list[int]]:
        """By slot that others are copied to: from where. For what is found when all is solved."""
        found: dict[int, list[int]] = {}
        for fact in self.program.every("copy"):
            found.setdefault(fact.dst, []).append(fact.src)
        return found

    @cached_property
    def outer(self) -> dict[int, tuple[int, str]]:
        """By decorated definition of a module or a class: where it is, and its name."""
        program = self.program
        numbers = {program.of_slot[fact.dst] for fact in program.every("decorate")}
        found = ((number, program.definitions[number]) for number in numbers)
        return {n: (one.scope, one.name) for n, one in found if program.scope_kinds[one.scope] in ("module", "class")}

    @cached_property
    def made_by(self) -> dict[int, list[int]]:
        """By metaclass: the classes that it makes; of many those that are above the others."""
        found: dict[int, list[int]] = {}
        for value, metaclass in self.metaclasses.items():
            found.setdefault(metaclass, []).append(value)
        for metaclass, every in found.items():
            if len(every) > _MOST_MADE:
                made = set(every)
                found[metaclass] = [one for one in every if made.isdisjoint(self.hierarchy.order(one)[1:])]
        return found

    # slots with a name -----------------------------------------------------------------------------

    def field_of(self, value: int, name: str) -> int:
        """What was stored on a value under a name."""
        return self.solver.named("field", self.kept(value), name)

    def element(self, container: int, key: str) -> int:
        slot = self.solver.named("element", container, key)
        if key not in (_ALL, KEY):
            self.solver.once(slot, self._add_key, container, key, slot)
        return slot

    def _add_key(self, container: int, key: str, slot: int) -> None:
        self.solver.copy(slot, self.element(container, _ALL))
        self.solver.add_key(container, key)
        if key != ANY and self.values.keys[container][2] == "dict":
            self.solver.add(self.keys_of(container), self.values.of_key(key))

    def each_key(self, container: int, waiting: Callable[[str], None]) -> None:
        """Call `waiting` with each key of a container, those that are there and those that come."""
        self.solver.wait_for_keys(container, waiting)

    def all_elements(self, container: int) -> int:
        return self.element(container, _ALL)

    def keys_of(self, container: int) -> int:
        return self.element(container, KEY)

    def item(self, container: int, key: str, dst: int) -> None:
        """An item of a container goes to a slot."""
        if key == ANY or key.startswith("-") or key.endswith(":"):
            self.solver.copy(self.all_elements(container), dst)
        else:
            self.solver.copy(self.element(container, key), dst)
            self.solver.copy(self.element(container, ANY), dst)

    def key(self, slot: int) -> str | None:
        """The constant that a name stands for, also where it was imported."""
        one = self.imports.get(slot)
        if one is not None and one.name is not None:
            file = self.modules.found(self.modules.target(one) or "", one.file)
            found = None if file is None else self.modules.names[file].get(one.name)
            slot = slot if found is None else found
        return self.keys.get(slot)

    def text(self, slot: int) -> str | None:
        """The constant text that a slot holds."""
        key = self.key(slot) or ""
        return self.texts.get(slot, literal_eval(key) if key[:1] in ("'", '"') else None)

    def returned(self, function: int) -> int:
        return self.solver.named("return", function)

    def yielded(self, function: int) -> int:
        return self.solver.named("yield", function)

    def setter_slot(self, of: int, role: str) -> int:
        """The functions that set or delete a property."""
        return self.solver.named(role, of)

    def make_call(self, call: Call) -> None:
        if self.bind is not None:
            self.solver.mark("call", call)
            self.waits(call.callee, self.bind, call)

    def decorates(self, slot: int) -> bool:
        """Whether a member of a class is a definition with decorators, as properties are."""
        return slot in self.bare

    def imply(self, scope: int, value: int, name: str) -> None:
        """Code of a scope makes Python call a special method of a value."""
        if scope >= 0:
            self.solver.mark("implied", (scope, value, name))

    def imply_function(self, scope: int, function: int) -> None:
        """The same, of a function that is known."""
        if scope >= 0:
            self.solver.mark("implied function", (scope, self.values.keys[function][1]))

    def container(self, slot: int, type_name: str) -> int:
        return self.values.make(Kind.CONTAINER, slot, type_name)

    def constants(self, type_name: str, elements: tuple[tuple[str, int], ...]) -> int:
        """A container that was written with constants alone, and containers of such. Those with the same types of
        constants are one value, and nothing else is put into them: there are many, and little hangs on them."""
        value = self.values.make(Kind.CONTAINER, self.solver.named("constants", type_name, elements), type_name)
        self.constant.add(value)
        self.solver.once(("constants", value), self._add_constants, value, elements)
        return value

    def _add_constants(self, container: int, elements: tuple[tuple[str, int], ...]) -> None:
        for key, one in elements:
            self.solver.add(self.element(container, key), one)

    def instance(self, of: int, known: Known = Known.MADE) -> int:
        is_external = self.values.keys[of][0] == Kind.EXTERNAL
        return self.values.make(Kind.INSTANCE, of, Known.MADE if is_external else known)

    def known(self, value: int) -> Known:
        """How the class of a value is known."""
        kind, _, known = self.values.keys[value]
        return known if kind == Kind.INSTANCE else Known.MADE  # type: ignore[return-value]

    def kept(self, value: int) -> int:
        """A value as what is stored on it goes by: instances by their class, however that is known."""
        kind, a, known = self.values.keys[value]
        return self.instance(a) if kind == Kind.INSTANCE and known else value

    def received(self, value: int) -> int:
        """A value as a method receives it: however it came to be called, then it is of its class."""
        kind, a, known = self.values.keys[value]
        is_guess = kind == Kind.INSTANCE and known in (Known.SHAPE, Known.NAME)
        return self.instance(a, Known.SAID) if is_guess else value

    def builtin(self, name: str) -> int:
        """An instance of a builtin type."""
        return self.instance(self.values.external(f"builtins.{name}"))

    def holding(self, value: int) -> int:
        """A slot that holds just this value."""
        slot = self.solver.named("just", value)
        self.solver.once(slot, self.solver.add, slot, value)
        return slot

    def view_of_place(self, file: int, place: int) -> int:
        """A slot for a type expression of a file."""
        return self.solver.named("type", file, place)

    def spread_parameters(self, kind: str) -> frozenset[int]:
        """The slots of parameters that hold the rest of what is passed."""
        found = self._spread.get(kind)
        if found is None:
            every = (p for one in self.program.definitions for p in one.parameters)
            found = self._spread[kind] = frozenset(p.slot for p in every if p.kind == kind)
        return found

    @cached_property
    def getting(self) -> dict[int, int]:
        """By class of descriptors whose `__get__` calls what they hold: which of its parameters that is given,
        the instance (1) or the class (2)."""
        return {self.defined[of]: place for of, place in getters(self.program, self.written).items()}

    @cached_property
    def delegates(self) -> dict[int, list[int]]:
        """By `__getattr__`: slots of what it asks for the attribute of that name, in the place of its own receiver."""
        return delegates(self.program)

    def gets(self, of: int) -> int:
        """Whether instances of a class are descriptors that call a function that they were made with."""
        order = self.hierarchy.order(of) if self.getting else ()
        return next((self.getting[one] for one in order if one in self.getting), 0)

    def widened(self, slot: int, held: Collection[int]) -> int | None:
        """Receivers of a method that are too many are instances of the class that has it; other instances, or classes,
        of one above them all. Functions go on as one value, which says where they are kept. `held` are those that
        came, up to the round in which they were too many."""
        owner = self.receivers.get(slot)
        if owner is not None:
            is_of_class = all(self.values.keys[value][0] == Kind.CLASS for value in held)
            return self.defined[owner] if is_of_class else self.instance(self.defined[owner], Known.SAID)
        if any(map(self.values.is_function, held)):
            value = self.values.make(Kind.MANY, slot)
            self.many.add(value)
            return value
        keys = self.values.keys
        made = {keys[value][1] for value in held if keys[value][0] == Kind.INSTANCE}
        made = {of for of in made if keys[of][0] == Kind.CLASS}
        classes = made or {value for value in held if keys[value][0] == Kind.CLASS}
        above = self.hierarchy.above(sorted(classes, key=lambda value: self.definition(value).id))
        if above is None:
            return None
        return self.instance(above, Known.SAID) if made else self.values.make(Kind.BELOW, above)

    def holds(self, slot: int) -> bool:
        """Whether anything is known of a slot."""
        keys = self.values.keys
        for value in self.solver.of(slot):  # noqa: SIM110 - asked of every slot: a generator would take twice as long
            if keys[value][0] != Kind.MANY:
                return True
        return False

    def class_of(self, value: int) -> int:
        kind, a, _ = self.values.keys[value]
        return a if kind == Kind.INSTANCE else value

    def definition(self, value: int) -> Definition:
        return self.program.definitions[self.values.keys[value][1]]

    def waits(self, slot: int, does: Callable[..., None], *rest: object) -> None:
        """Call `does(self, *rest, value)` with each value of a slot."""
        self.solver.wait(slot, (does, self, *rest))


def _value_of(values: Values, number: int, one: Definition) -> int:
    if one.kind == "module":
        return values.make(Kind.MODULE, one.file, "")
    return values.make(Kind.CLASS if one.kind == "class" else Kind.FUNCTION, number)
