"""SCIP indexes (https://github.com/sourcegraph/scip), as scip-python and others write them.

What a symbol means is looked up in the index itself: the document that has its definition is the file, and the names
in the symbol are the label. Names of modules are not compared, for indexers call `src/shop/cart.py` either `shop.cart`
or `src.shop.cart`. A symbol of another package is an external one, by its dotted name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path

from codelake.errors import UsageError
from codelake.extract.claims.report import Document, Occurrence, Unit
from codelake.extract.claims.symbols import Symbol, parsed
from codelake.extract.claims.wire import Malformed, fields, message, numbers, text
from codelake.ids import external_id, file_id

_METADATA, _DOCUMENT = 1, 2
_TOOL, _TOOL_NAME, _TOOL_VERSION = 2, 1, 2
_PATH, _OCCURRENCE, _TEXT, _ENCODING = 1, 2, 5, 6
_RANGE, _SYMBOL, _ROLES = 1, 2, 3
_DEFINITION = 1
_UNITS: dict[int, Unit] = {0: "utf-16", 1: "utf-8", 2: "utf-16", 3: "utf-32"}
"""By a document's position encoding. scip-python names none (0), and counts as pyright does."""


class ScipIndex:
    origin = "scip"

    def __init__(self, location: str, data: bytes) -> None:
        self.location = location
        self.digest = sha256(data).hexdigest()
        self.tool = "unknown"
        self._documents: dict[str, memoryview] = {}
        self._defined: dict[str, str] = {}
        """By symbol: the path of the document that defines it."""
        for number, value in fields(memoryview(data)):
            if number == _METADATA:
                self.tool = _tool(message(value)) or self.tool
            elif number == _DOCUMENT:
                self._add(message(value))
        self._packages = {found.package for one in self._defined if (found := parsed(one)) is not None}

    def _add(self, document: memoryview) -> None:
        path, defined = "", []
        for number, value in fields(document):
            if number == _PATH:
                path = text(value)
            elif number == _TEXT:
                text(value)  # what is no text is found here, before anything is built
            elif number == _OCCURRENCE:
                _, symbol, roles = _occurrence(message(value))
                if roles & _DEFINITION:
                    defined.append(symbol)
        self._documents[path] = document
        for symbol in defined:
            self._defined.setdefault(symbol, path)

    @property
    def paths(self) -> Collection[str]:
        return self._documents

    def document(self, repo: str, path: str) -> Document:
        content, unit = None, 0
        for number, value in fields(self._documents[path]):
            if number == _TEXT:
                content = text(value)
            elif number == _ENCODING and isinstance(value, int):
                unit = value
        return Document(_UNITS.get(unit, "utf-16"), self._occurrences(repo, path), content)

    def _occurrences(self, repo: str, path: str) -> Iterator[Occurrence]:
        for number, value in fields(self._documents[path]):
            if number != _OCCURRENCE:
                continue
            places, name, roles = _occurrence(message(value))
            symbol = parsed(name)
            if symbol is None or len(places) not in (3, 4):
                continue
            start, end = (places[0], places[1]), (places[-2] if len(places) == 4 else places[0], places[-1])
            if roles & _DEFINITION:
                if symbol.last is not None and start != end:
                    yield Occurrence(start, end, "name", None, symbol.last)
                continue
            target = self._target(repo, name, symbol)
            if target is not None and symbol.last is not None:
                # What is called otherwise here is an alias, which codelake follows by itself, or an error: scip-python
                # 0.6.6 has `os.path.dirname` for posixpath.join, and an attribute of a slot for its class.
                yield Occurrence(start, end, "name", target, named=symbol.last)

    def _target(self, repo: str, name: str, symbol: Symbol) -> str | None:
        path = self._defined.get(name)
        if path is not None:
            return file_id(repo, path) + symbol.label
        return None if symbol.package in self._packages else external_id(symbol.dotted)


def open_scip(location: str) -> ScipIndex:
    expected = "a SCIP index, such as scip-python writes"
    try:
        data = Path(location).read_bytes()
    except OSError as error:
        raise UsageError(f"--scip {location}", expected=expected, found=error.strerror or str(error)) from error
    try:
        found = ScipIndex(location, data)
    except (Malformed, UnicodeDecodeError) as error:
        raise UsageError(f"--scip {location}", expected=expected, found=str(error)) from error
    if not found.paths:
        raise UsageError(f"--scip {location}", expected=expected, found="no document in it")
    return found


def _tool(metadata: memoryview) -> str | None:
    for number, value in fields(metadata):
        if number == _TOOL:
            parts = {n: text(v) for n, v in fields(message(value)) if n in (_TOOL_NAME, _TOOL_VERSION)}
            return " ".join(parts[n] for n in sorted(parts)) or None
    return None


def _occurrence(data: memoryview) -> tuple[list[int], str, int]:
    """Its range, symbol and roles."""
    places: list[int] = []
    symbol, roles = "", 0
    for number, value in fields(data):
        if number == _RANGE:
            places += numbers(value)
        elif number == _SYMBOL:
            symbol = text(value)
        elif number == _ROLES and isinstance(value, int):
            roles = value
    return places, symbol, roles
