"""External symbols: what each repository uses of the outside."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from codelake.ids import OUTSIDE, TYPE


class Declared(NamedTuple):
    """What a distribution of a repository may be imported as."""

    repo: str
    offered: str
    name: str
    version: str | None


def external_symbols(used: Iterable[tuple[str, str]], declared: Iterable[Declared]) -> Iterator[Mapping[str, Any]]:
    """Rows of `external_symbols` from repositories and the ids that they use. Which distribution brings a name is told
    by the longest of the names that a declared distribution may be imported by."""
    offers = {(one.repo, one.offered): one for one in sorted(declared, key=lambda one: one.name, reverse=True)}
    typed: dict[tuple[str, str], bool] = {}
    for repo, identity in used:
        symbol = identity.removesuffix(TYPE)
        typed[repo, symbol] = typed.get((repo, symbol), False) or symbol != identity
    for (repo, symbol), has_type in sorted(typed.items()):
        name = symbol.removeprefix(OUTSIDE)
        top = re.split(r"[.(]", name, maxsplit=1)[0]
        found = _offering(offers, repo, name)
        yield {
            "symbol_id": symbol,
            "repo": repo,
            "name": name,
            "kind": _kind(top, found),
            "distribution": found.name if found else None,
            "version": found.version if found else None,
            "is_derived": "(" in name or "[" in name,
            "has_type": has_type,
        }


def _kind(top: str, found: Declared | None) -> str:
    if top == "builtins":
        return "builtin"
    if top in sys.stdlib_module_names:
        return "standard_library"
    return "distribution" if found else "unknown"


def _offering(offers: Mapping[tuple[str, str], Declared], repo: str, name: str) -> Declared | None:
    """By the longest beginning of the name."""
    while name:
        if found := offers.get((repo, name)):
            return found
        name = name.rpartition(".")[0]
    return None
