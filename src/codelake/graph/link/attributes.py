"""What an attribute of a value is: found once for each value and name, and kept as a slot."""

from __future__ import annotations

import builtins
from collections.abc import Callable

from codelake.graph.link.below import class_of_instance
from codelake.graph.link.call import Call
from codelake.graph.link.enums import add_of_member, is_member
from codelake.graph.link.linking import Linking
from codelake.graph.link.outside import add_member, of_external
from codelake.graph.link.values import Kind, Known

_OBJECT = frozenset(dir(object))
_FEW_BELOW = 8
_OF_CLASS = 2


def load(link: Linking, name: str, dst: int, value: int) -> None:
    link.solver.copy(view(link, value, name), dst)


def view(link: Linking, value: int, name: str) -> int:
    """The slot of an attribute of a value, as reading it gives it: methods bound, properties got."""
    slot = link.solver.named("view", value, name)
    found = _VIEWS.get(link.values.keys[value][0])
    if found is not None:
        link.solver.once(slot, found, link, value, name, slot)
    return slot


# modules -----------------------------------------------------------------------------------------


def _of_module(link: Linking, value: int, name: str, slot: int) -> None:
    _, file, package = link.values.keys[value]
    link.solver.copy(link.field_of(value, name), slot)
    full = package if file < 0 else link.program.files[file].module
    if file >= 0:
        own = link.modules.names[file].get(name)
        if own is not None:
            link.solver.copy(own, slot)
            return
        for source in link.modules.bringing(file, name):
            found = link.modules.found(source, file)
            if found is not None:
                link.solver.copy(view(link, link.values.make(Kind.MODULE, found, ""), name), slot)
            elif not link.modules.is_package(source):
                link.solver.add(slot, link.values.external(f"{source}.{name}"))
            return
    if full:
        below = link.modules.found(f"{full}.{name}", max(file, 0))
        if below is not None:
            link.solver.add(slot, link.values.make(Kind.MODULE, below, ""))
        elif link.modules.is_package(f"{full}.{name}"):
            link.solver.add(slot, link.values.make(Kind.MODULE, -1, f"{full}.{name}"))
        elif file >= 0 and "__getattr__" in link.modules.names[file]:
            call = Call(-1, link.modules.names[file]["__getattr__"], slot)
            link.make_call(call)


# classes and instances ---------------------------------------------------------------------------


def provider(link: Linking, order: list[int], name: str) -> int | None:
    """The slot of the first class in an order that has an attribute."""
    for one in order:
        members = link.members.get(one)
        if members is not None and name in members:
            return members[name]
    return None


def add_outside(link: Linking, order: list[int], receiver: int, name: str, slot: int) -> bool:
    """What the first external class in an order has that has it; False where none does."""
    for one in order:
        kind, text, _ = link.values.keys[one]
        if kind == Kind.EXTERNAL and str(text) != "builtins.object" and add_member(link, receiver, one, name, slot):
            return True
    return False


def _of_class(link: Linking, value: int, name: str, slot: int) -> None:
    order = link.hierarchy.order(value)
    _add_fields(link, order, name, slot, value, _got_from_class)
    found = provider(link, order, name)
    if found is not None:
        _take_from_class(link, value, name, found, slot)
        return
    metaclass = link.metaclasses.get(value)
    if metaclass is not None:
        of_meta = provider(link, link.hierarchy.order(metaclass), name)
        if of_meta is not None:
            link.waits(of_meta, _got_from_instance, value, slot)
            return
    add_outside(link, order, value, name, slot)


def _take_from_class(link: Linking, of: int, name: str, member: int, slot: int) -> None:
    if is_member(link, of, name, member):
        link.solver.add(slot, link.instance(of))
    else:
        link.waits(member, _got_from_class, of, slot)


def _of_instance(link: Linking, value: int, name: str, slot: int) -> None:
    of = link.class_of(value)
    if link.values.keys[of][0] == Kind.EXTERNAL:
        add_member(link, value, of, name, slot)
        return
    _of_order(link, link.hierarchy.order(of), value, name, slot)
    if name == "__class__":
        link.solver.add(slot, class_of_instance(link, value))


def _of_below(link: Linking, value: int, name: str, slot: int) -> None:
    link.solver.copy(view(link, link.values.keys[value][1], name), slot)


def _of_order(link: Linking, order: list[int], receiver: int, name: str, slot: int) -> None:
    _add_fields(link, order, name, slot, receiver, _got_from_instance)
    for one in order:
        if link.values.keys[one][0] == Kind.CLASS:
            link.solver.copy(link.field_of(link.instance(one), name), slot)
    found = provider(link, order, name)
    _add_below(link, receiver, name, slot, is_there=found is not None)
    if found is not None:
        link.waits(found, _got_from_instance, receiver, slot)
        return
    if any(name in link.stored.get(one, ()) for one in order) or add_of_member(link, order[0], name, slot):
        return
    dynamic = provider(link, order, "__getattr__")
    if dynamic is not None and name not in _OBJECT:
        link.waits(dynamic, _got_dynamically, receiver, name, slot)
        return
    add_outside(link, order, receiver, name, slot)


def _add_below(link: Linking, receiver: int, name: str, slot: int, *, is_there: bool) -> None:
    """Where the receiver may be of a class below: what few classes there have in place of an attribute. Functions that
    override others are found when all is solved."""
    if link.known(receiver) == Known.MADE:
        return
    below = link.hierarchy.below(link.class_of(receiver))
    storing = [one for one in below if name in link.stored.get(one, ())]
    for one in storing if len(storing) <= _FEW_BELOW and link.known(receiver) == Known.SAID else ():
        link.solver.copy(link.field_of(link.instance(one), name), slot)
    having = [one for one in below if name in link.members.get(one, ())]
    if len(having) > _FEW_BELOW:
        return
    for one in having:
        member = link.members[one][name]
        number = link.program.of_slot.get(member)
        if not is_there or number is None or link.program.definitions[number].kind == "class":
            link.waits(member, _got_from_instance, link.instance(one, Known.SAID), slot)
        elif link.decorates(member):
            link.waits(member, _got_if_property, link.instance(one, Known.SAID), slot)


def _got_if_property(link: Linking, receiver: int, slot: int, member: int) -> None:
    if link.values.keys[member][0] == Kind.PROPERTY:
        _get_property(link, member, receiver, slot)


def _add_fields(
    link: Linking, order: list[int], name: str, slot: int, receiver: int, got: Callable[[Linking, int, int, int], None]
) -> None:
    """What was stored on classes from outside is got as what stands in them is."""
    for one in order:
        if link.values.keys[one][0] == Kind.CLASS:
            link.waits(link.field_of(one, name), got, receiver, slot)


def _got_from_instance(link: Linking, receiver: int, slot: int, member: int) -> None:
    kind, a, _ = link.values.keys[member]
    if kind == Kind.FUNCTION:
        link.solver.add(slot, link.values.make(Kind.BOUND, member, receiver))
    elif kind == Kind.CLASSMETHOD:
        link.solver.add(slot, link.values.make(Kind.BOUND, a, link.class_of(receiver)))
    elif kind == Kind.STATICMETHOD:
        link.solver.add(slot, int(a))
    elif kind == Kind.PROPERTY:
        _get_property(link, member, receiver, slot)
    elif kind == Kind.INSTANCE and (getter := getters(link, member)) is not None:
        link.waits(getter, _got_by_descriptor, member, receiver, slot)
    else:
        link.solver.add(slot, member)


def _got_from_class(link: Linking, of: int, slot: int, member: int) -> None:
    kind, a, _ = link.values.keys[member]
    if kind == Kind.CLASSMETHOD:
        link.solver.add(slot, link.values.make(Kind.BOUND, a, of))
    elif kind == Kind.STATICMETHOD:
        link.solver.add(slot, int(a))
    elif kind == Kind.INSTANCE and (getter := getters(link, member)) is not None:
        link.waits(getter, _got_by_descriptor, member, link.instance(of), slot)
    elif (
        kind == Kind.PROPERTY
        and link.values.keys[member][2]
        and link.gets(int(link.values.keys[member][2])) == _OF_CLASS
    ):
        _get_property(link, member, of, slot)
    else:
        link.solver.add(slot, member)


def _get_property(link: Linking, member: int, receiver: int, slot: int) -> None:
    """Of one's own kind of property, `__get__` is called, and calls the getter."""
    _, getter, of = link.values.keys[member]
    if of:
        given = link.class_of(receiver) if link.gets(int(of)) == _OF_CLASS else receiver
        link.solver.copy(invoke(link, int(getter), given), slot)
        own = getters(link, link.instance(int(of)))
        if own is not None:
            link.waits(own, _got_by_descriptor, link.instance(int(of)), receiver, link.nowhere)
    else:
        link.solver.copy(invoke(link, int(getter), receiver), slot)


def as_descriptor(link: Linking, member: int) -> int:
    """One's own kind of property as the instance that it is."""
    kind, _, of = link.values.keys[member]
    return link.instance(int(of)) if kind == Kind.PROPERTY and of else member


def getters(link: Linking, member: int) -> int | None:
    """The slot of `__get__`, if a value is a descriptor."""
    of = link.class_of(member)
    return provider(link, link.hierarchy.order(of), "__get__") if link.values.keys[of][0] == Kind.CLASS else None


def _got_by_descriptor(link: Linking, descriptor: int, receiver: int, slot: int, getter: int) -> None:
    if link.values.keys[getter][0] == Kind.FUNCTION:
        bound = link.values.make(Kind.BOUND, getter, descriptor)
        arguments = [link.holding(receiver), link.holding(link.class_of(receiver))]
        link.make_call(Call(-1, link.holding(bound), slot, positional=arguments))


def _got_dynamically(link: Linking, receiver: int, name: str, slot: int, getter: int) -> None:
    if link.values.keys[getter][0] == Kind.FUNCTION:
        link.solver.copy(invoke(link, getter, receiver), slot)
        for of in link.delegates.get(link.values.keys[getter][1], ()):
            link.waits(of, load, name, slot)


def invoke(link: Linking, function: int, receiver: int) -> int:
    """The slot of what a method gives that nobody calls in writing, such as the getter of a property."""
    slot = link.solver.named("invoked", function, receiver)
    link.solver.once(slot, _invoke, link, function, receiver, slot)
    return slot


def _invoke(link: Linking, function: int, receiver: int, slot: int) -> None:
    link.make_call(Call(-1, link.holding(link.values.make(Kind.BOUND, function, receiver)), slot))


def special(link: Linking, value: int, name: str) -> int | None:
    """The slot of a special method of an instance of the unit: Python looks it up on the class, and binds it."""
    of = link.class_of(value)
    if link.values.keys[value][0] != Kind.INSTANCE or link.values.keys[of][0] != Kind.CLASS:
        return None
    found = provider(link, link.hierarchy.order(of), name)
    if found is None:
        return None
    slot = link.solver.named("special", value, name)
    link.solver.once(slot, link.waits, found, _got_from_instance, value, slot)
    return slot


def _of_super(link: Linking, value: int, name: str, slot: int) -> None:
    _, written_in, receiver = link.values.keys[value]
    of = link.class_of(int(receiver))
    order = link.hierarchy.order(of)
    order = order[order.index(written_in) + 1 :] if written_in in order else link.hierarchy.order(written_in)[1:]
    found = provider(link, order, name)
    _add_beside(link, written_in, int(receiver), name, found, slot)
    if found is not None:
        is_class = link.values.keys[int(receiver)][0] == Kind.CLASS
        link.waits(found, _got_from_class if is_class else _got_from_instance, receiver, slot)
        return
    if name == "__call__" and link.values.keys[int(receiver)][0] == Kind.CLASS:
        caller = link.values.external("builtins.type.__call__")
        link.solver.add(slot, link.values.make(Kind.BOUND, caller, int(receiver)))
    elif add_outside(link, order, int(receiver), name, slot):
        return
    elif name in _OBJECT and link.hierarchy.partly.isdisjoint((written_in, *order)):
        link.solver.add(slot, link.values.external(f"builtins.object.{name}"))


def _add_beside(link: Linking, written_in: int, receiver: int, name: str, found: int | None, slot: int) -> None:
    """Where the receiver may be of a class below: what comes behind the class there, such as behind a mixin."""
    if link.known(receiver) == Known.MADE:
        return
    seen = {found}
    for one in sorted(link.hierarchy.subclasses.get(written_in, ())):
        order = link.hierarchy.order(one)
        beside = provider(link, order[order.index(written_in) + 1 :], name)
        if beside is not None and beside not in seen:
            seen.add(beside)
            link.waits(beside, _got_from_instance, link.instance(one, Known.SAID), slot)


# others ------------------------------------------------------------------------------------------


def _of_container(link: Linking, value: int, name: str, slot: int) -> None:
    kind, _, type_name = link.values.keys[value]
    of = getattr(builtins, str(type_name), None) if kind == Kind.CONTAINER else None
    if of is None or hasattr(of, name):
        link.solver.add(slot, link.values.make(Kind.METHOD, value, name))


def _of_function(link: Linking, value: int, name: str, slot: int) -> None:
    link.solver.copy(link.field_of(value, name), slot)
    if name == "__get__":
        link.solver.add(slot, link.values.make(Kind.METHOD, value, name))


def _of_bound(link: Linking, value: int, name: str, slot: int) -> None:
    _, function, receiver = link.values.keys[value]
    if name == "__self__":
        link.solver.add(slot, int(receiver))
    elif name == "__func__":
        link.solver.add(slot, function)


def _of_property(link: Linking, value: int, name: str, slot: int) -> None:
    of = link.values.keys[value][2]
    if of:
        link.solver.copy(view(link, link.instance(int(of)), name), slot)
    elif name in ("setter", "getter", "deleter"):
        link.solver.add(slot, link.values.make(Kind.SETTER, value, name))


_VIEWS = {
    Kind.MODULE: _of_module,
    Kind.CLASS: _of_class,
    Kind.INSTANCE: _of_instance,
    Kind.BELOW: _of_below,
    Kind.SUPER: _of_super,
    Kind.EXTERNAL: of_external,
    Kind.CONTAINER: _of_container,
    Kind.GENERATOR: _of_container,
    Kind.FUNCTION: _of_function,
    Kind.BOUND: _of_bound,
    Kind.PROPERTY: _of_property,
}
