"""The stubs that the package `typeshed-client` carries, all of them read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import pyarrow as pa

from codelake.contracts.arrow import arrow_table
from codelake.contracts.stubs import STUBS
from codelake.extract.stubs.names import names_of
from codelake.extract.stubs.public import under_public_names
from codelake.extract.stubs.scope import Scope
from codelake.lean import lean

_PACKAGE = "typeshed-client"


@cache
def stubs_version() -> str:
    """Of the stubs, and of how they are read."""
    code = "".join(files("codelake.extract.stubs").joinpath(f"{one}.py").read_text() for one in _CODE)
    return f"{_PACKAGE} {version(_PACKAGE)}, read by {sha256(code.encode()).hexdigest()[:12]}"


_CODE = ("names", "public", "scope", "texts", "typeshed")


@cache
def stubs() -> pa.Table:
    """A row of `stubs` for each module of typeshed."""
    with lean():
        return arrow_table(STUBS, list(_rows()))


def _rows() -> Iterator[dict[str, Any]]:
    scopes, found = {}, {}
    for module, is_package, text in _sources():
        body = ast.parse(text).body
        scopes[module] = Scope(module, body, is_package=is_package)
        found[module] = names_of(scopes[module], body)
    every = under_public_names(found, scopes)
    for module in sorted(every):
        yield {
            "module": module,
            "stars": scopes[module].stars,
            "names": [one._asdict() for _, one in sorted(every[module].items())],
            "version": stubs_version(),
        }


def _sources() -> Iterator[tuple[str, bool, str]]:
    """Module, whether it is a package, and text."""
    yield from _below(files("typeshed_client").joinpath("typeshed"), "")


def _below(folder: Traversable, package: str) -> Iterator[tuple[str, bool, str]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        name, _, ending = one.name.rpartition(".")
        if one.is_dir():
            yield from _below(one, f"{package}.{one.name}" if package else one.name)
        elif ending == "pyi":
            is_package = name == "__init__"
            module = package if is_package else f"{package}.{name}" if package else name
            yield module, is_package, one.read_text(encoding="utf-8")
