"""By which name the documentation calls what a private module, or one below, defines: `_io.TextIOWrapper` is
`io.TextIOWrapper`, and `unittest.case.TestCase` is `unittest.TestCase`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codelake.extract.stubs.names import Name
from codelake.extract.stubs.scope import Scope

Modules = dict[str, dict[str, Name]]
"""By module: its names."""
_MOST_STEPS = 8
_DEFINING = {"typing": "collections.abc"}
"""Stubs define in the one what Python defines in the other."""
_DOTTED = re.compile(r"[A-Za-z_][\w.]*\w")


def under_public_names(modules: Modules, scopes: Mapping[str, Scope]) -> Modules:
    """The same, each definition in the module by whose name it goes; where it was, an alias."""
    moved = _moved(modules, scopes)
    made: Modules = {module: {} for module in modules}
    for module, names in modules.items():
        for one in names.values():
            first, dot, rest = one.name.partition(".")
            public = moved.get(f"{module}.{first}")
            shown = one._replace(type=_renamed(one.type, moved, modules))
            if public is None:
                made[module].setdefault(one.name, shown)
                continue
            home, _, name = public.rpartition(".")
            made[home][f"{name}{dot}{rest}"] = shown._replace(name=f"{name}{dot}{rest}")
            made[module][first] = Name(first, "alias", public)
    return made


def _moved(modules: Modules, scopes: Mapping[str, Scope]) -> dict[str, str]:
    """By full name of a definition: the public one."""
    candidates: dict[str, list[str]] = {}
    for module in modules:
        if _is_private(module):
            continue
        for name, means in _offers(module, modules, scopes):
            home, _, last = _defined(means, modules, scopes).rpartition(".")
            is_own = home not in modules or home == module or last not in modules[home]
            is_below = _is_private(home) or home.startswith(f"{module}.") or _DEFINING.get(home) == module
            if is_below and not is_own:
                candidates.setdefault(f"{home}.{last}", []).append(f"{module}.{name}")
    return {full: min(found, key=lambda one: (one.count("."), one)) for full, found in candidates.items()}


def _offers(module: str, modules: Modules, scopes: Mapping[str, Scope]) -> Iterator[tuple[str, str]]:
    """Names that a module takes from others, and what they mean."""
    scope = scopes[module]
    for name in scope.imported.keys() & scope.offered:
        yield name, scope.imported[name]
    for source in scope.stars:
        for name in _all_of(source, modules, scopes, _MOST_STEPS):
            yield name, f"{source}.{name}"


def _all_of(module: str, modules: Modules, scopes: Mapping[str, Scope], steps: int) -> Iterator[str]:
    if module in modules and steps:
        yield from (name for name in modules[module] if "." not in name and not name.startswith("_"))
        for source in scopes[module].stars:
            yield from _all_of(source, modules, scopes, steps - 1)


def _defined(full: str, modules: Modules, scopes: Mapping[str, Scope]) -> str:
    """Where a name is defined, through what modules take from each other."""
    for _ in range(_MOST_STEPS):
        module, _, name = full.rpartition(".")
        if module not in modules:
            return full
        found = modules[module].get(name)
        if found is not None and found.name not in scopes[module].imported:
            return full
        if found is not None:
            full = scopes[module].imported[name]
            continue
        sources = [one for one in scopes[module].stars if name in _all_of(one, modules, scopes, _MOST_STEPS)]
        if not sources:
            return full
        full = f"{sources[0]}.{name}"
    return full


def _is_private(module: str) -> bool:
    return any(part.startswith("_") for part in module.split("."))


def _renamed(text: str, moved: Mapping[str, str], modules: Modules) -> str:
    def rename(found: re.Match[str]) -> str:
        full = found[0]
        if full in moved:
            return moved[full]
        owner, dot, last = full.rpartition(".")
        return f"{moved[owner]}.{last}" if dot and owner in moved and owner not in modules else full

    return _DOTTED.sub(rename, text)
