"""What something of the outside has and gives, as far as stubs know it; what they do not know keeps its name."""

from __future__ import annotations

from codelake.graph.link.filling import Filling, codes_of
from codelake.graph.link.linking import Linking
from codelake.graph.link.signatures import parse_signatures, parse_type, variables
from codelake.graph.link.stubs import Member
from codelake.graph.link.values import Kind


def class_name(link: Linking, of: int) -> str:
    return str(link.values.keys[of][1])


def member_of(link: Linking, of: int, name: str) -> Member | None:
    """An attribute of an external class that stubs know."""
    stub = link.stubs.class_named(class_name(link, of))
    return None if stub is None else link.stubs.member(stub.name, name)


def is_known(link: Linking, of: int) -> bool:
    """Whether stubs know all that a class has."""
    return link.stubs.class_named(class_name(link, of)) is not None


def shown(link: Linking, of: str, name: str) -> str | None:
    """The full name of an attribute of an external class; None where the class has no such."""
    stub = link.stubs.class_named(of)
    if stub is None:
        return f"{of}.{name}"
    member = link.stubs.member(stub.name, name) or link.stubs.member(stub.name, "__getattr__")
    if member is None:
        return None
    return member.shown if member.shown.endswith(f".{name}") else f"{of}.{name}"


def add_name(link: Linking, name: str, slot: int) -> None:
    """What a full name means goes to a slot: a variable's type, or the name itself."""
    stub = link.stubs.find(name)
    if stub is not None and stub.kind == "variable" and _is_telling(link, stub.text):
        Filling(link, ("name", stub.name), {}, -1).fill(parse_type(stub.text), slot)
    else:
        link.solver.add(slot, link.values.external(name))


def add_member(link: Linking, receiver: int, of: int, name: str, slot: int) -> bool:
    """What an instance, or a class, has by an external class goes to a slot. False where that has no such attribute."""
    member = member_of(link, of, name)
    if member is None:
        if not is_known(link, of):
            longer = link.values.attribute(class_name(link, of), name)
            if longer is not None:
                link.solver.add(slot, longer)
            return longer is not None
        if link.stubs.member(class_name(link, of), "__getattr__") is None:
            return False
        link.solver.add(slot, link.values.external(f"{class_name(link, of)}.{name}"))
        return True
    stub = member.stub
    value = link.values.external(member.shown)
    is_of_class = link.values.keys[receiver][0] in (Kind.CLASS, Kind.EXTERNAL)
    if stub.is_called:
        asks = any(one.variables for one in parse_signatures(stub.text))
        if asks and (not is_of_class or stub.kind == "classmethod"):
            value = link.values.make(Kind.BOUND, value, receiver)
        link.solver.add(slot, value)
    elif stub.kind in ("property", "variable") and _is_telling(link, stub.text):
        if stub.kind == "variable" or not is_of_class:
            type_ = parse_type(stub.text)
            needs_site = bool(variables(type_)) or any(one.inner for one in type_)
            site = ("member", receiver if needs_site else of, name)
            codes = codes_of(link, member, of) if needs_site else {}
            Filling(link, site, codes, receiver, is_implied=True).fill(type_, slot)
    else:
        link.solver.add(slot, value)
    return True


def of_external(link: Linking, value: int, name: str, slot: int) -> None:
    """An attribute of a module, class or function of the outside goes to a slot."""
    text = str(link.values.keys[value][1])
    found = link.stubs.find(text)
    if found is not None and found.kind == "class":
        add_member(link, value, value, name, slot)
    elif found is not None and found.kind == "module":
        add_name(link, f"{text}.{name}", slot)
    elif found is not None and name == "__get__":
        link.solver.add(slot, link.values.make(Kind.METHOD, value, name))
    elif (longer := link.values.attribute(text, name)) is not None:
        link.solver.add(slot, longer)


def _is_telling(link: Linking, text: str) -> bool:
    """Whether something of a type can be said to be of a class."""
    if text.startswith(("~", "Self")):
        return True
    for one in parse_type(text):
        found = link.stubs.find(one.head)
        if one.head.startswith(("~", "'", "Self")) or (found is not None and found.kind in ("class", "type")):
            return True
    return False
