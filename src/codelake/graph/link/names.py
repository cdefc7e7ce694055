"""What imports bring, and what names mean that their file does not bind."""

from __future__ import annotations

from codelake.graph.link.attributes import view
from codelake.graph.link.linking import Linking
from codelake.graph.link.modules import BUILTINS
from codelake.graph.link.outside import add_name
from codelake.graph.link.parts import Fact, Import
from codelake.graph.link.values import Kind

_TEXTS = ("__name__", "__doc__", "__file__", "__package__")
"""What every module has of its own, builtins too."""


def module(link: Linking, name: str, asking: int) -> int | None:
    """The value of a module of the unit."""
    file = link.modules.found(name, asking)
    if file is not None:
        return link.values.make(Kind.MODULE, file, "")
    return link.values.make(Kind.MODULE, -1, name) if link.modules.is_package(name) else None


def add_import(link: Linking, one: Import) -> None:
    target = link.modules.target(one)
    if one.name == "*" or target is None:
        return
    if one.name is None:
        name = target if one.as_name else target.partition(".")[0]
        value = module(link, name, one.file)
        link.solver.add(one.slot, link.values.external(name) if value is None else value)
        return
    value = module(link, target, one.file)
    below = module(link, f"{target}.{one.name}", one.file)
    if below is not None and link.modules.found(target, one.file) == one.file:
        link.solver.add(one.slot, below)  # a package that takes a module of its own
    elif value is None:
        if below is None:
            add_name(link, f"{target}.{one.name}", one.slot)
        else:
            link.solver.add(one.slot, below)
    else:
        link.solver.copy(view(link, value, one.name), one.slot)


def add_global(link: Linking, fact: Fact) -> None:
    slot = named(link, fact.file, fact.key)
    if slot is not None:
        link.solver.copy(slot, fact.dst)
    elif fact.key in BUILTINS and fact.key not in _TEXTS:
        link.solver.add(fact.dst, link.values.external(f"builtins.{fact.key}"))
    elif fact.key == "__class__":
        add_class_around(link, fact)
    elif fact.key.startswith("__"):
        link.solver.add(fact.dst, link.builtin("str"))


def named(link: Linking, file: int, name: str) -> int | None:
    """What a name means at the top of a module: of its own, or by a star."""
    own = link.modules.names[file].get(name)
    if own is not None:
        return own
    for source in link.modules.bringing(file, name):
        value = module(link, source, file)
        if value is not None:
            return view(link, value, name)
        if name not in BUILTINS:
            return link.holding(link.values.external(f"{source}.{name}"))
    return None


def add_class_around(link: Linking, fact: Fact) -> None:
    program = link.program
    scope = fact.scope
    while scope >= 0:
        around = program.around(scope)
        if around.kind == "class":
            link.solver.add(fact.dst, link.defined[program.of_slot[around.slot]])
            return
        scope = around.scope
