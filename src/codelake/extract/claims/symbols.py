"""SCIP's symbols: names that are the same in every index.

    scip-python python shop 1.0 `shop.cart`/Cart#add().

is package `python shop 1.0`, and a descriptor for each name from the module down: the suffix tells what it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_NAME = r"(?:`(?:[^`]|``)*`|[\w+\-$]+)"
_DESCRIPTOR = re.compile(rf"\((?P<parameter>{_NAME})\)|\[{_NAME}\]|(?P<name>{_NAME})(?P<suffix>[/#.:!]|\([^)]*\)\.)")
_SPACE = re.compile(r"(?<! ) (?! )")
"""Spaces within a part are doubled."""
_N_PARTS = 5
_LOCAL = "local "


class Symbol(NamedTuple):
    package: str
    """Manager, name and version."""
    module: str
    names: tuple[str, ...]
    """Of classes and functions, from the module down."""
    variable: str | None
    """A name that is stored in the last of them, or in the module."""

    @property
    def label(self) -> str:
        """As codelake's ids have it."""
        around = ".".join(self.names)
        if self.variable is not None:
            is_private = self.names and self.variable.startswith("__") and not self.variable.endswith("__")
            owner = f"_{self.names[-1].lstrip('_')}" if is_private else ""
            return f"#{around}:{owner}{self.variable}"
        return f"#{around or '<module>'}"

    @property
    def dotted(self) -> str:
        return ".".join((self.module, *self.names, *((self.variable,) if self.variable is not None else ())))

    @property
    def last(self) -> str | None:
        """The name itself; None of a module."""
        return self.variable if self.variable is not None else self.names[-1] if self.names else None


@lru_cache(maxsize=100_000)
def parsed(text: str) -> Symbol | None:
    """None for what codelake knows by itself, or has no id for: locals, parameters, macros."""
    if text.startswith(_LOCAL):
        return None
    parts = _SPACE.split(text, maxsplit=_N_PARTS - 1)
    if len(parts) != _N_PARTS:
        return None
    modules: list[str] = []
    names: list[str] = []
    variable: str | None = None
    at = 0
    while at < len(parts[-1]):
        found = _DESCRIPTOR.match(parts[-1], at)
        if found is None or found["name"] is None or variable is not None:
            return None
        at, name, suffix = found.end(), _plain(found["name"]), found["suffix"]
        if suffix == "/" and not names:
            modules.append(name)
        elif suffix == "#" or suffix.startswith("("):
            names.append(name)
        elif suffix == ".":
            variable = name
        elif suffix != ":" or name != "__init__" or at < len(parts[-1]):  # scip-python's word for a module
            return None
    if not modules:
        return None
    return Symbol(" ".join(parts[1:-1]), ".".join(modules), tuple(names), variable)


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
