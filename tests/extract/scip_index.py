"""SCIP indexes as an indexer writes them, for sources that a test has at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFINITION, READ = 1, 8
UTF_8, UTF_16, UTF_32 = 1, 2, 3
_WIDTH = {UTF_8: ("utf-8", 1), UTF_16: ("utf-16-le", 2), UTF_32: ("utf-32-le", 4)}


@dataclass
class Index:
    """`files` are the texts that it is about, by path."""

    files: Mapping[str, str]
    encoding: int = 0
    """Of positions; 0 names none, and means UTF-16."""
    has_texts: bool = False
    _occurrences: dict[str, list[bytes]] = field(default_factory=dict)

    def define(self, path: str, text: str, descriptors: str, nth: int = 0) -> Index:
        return self._add(path, text, symbol(descriptors), DEFINITION, nth)

    def refer(self, path: str, text: str, descriptors: str, nth: int = 0, *, package: str = "shop 1") -> Index:
        """To the nth (from 0) place where the text stands."""
        return self._add(path, text, symbol(descriptors, package), READ, nth)

    def _add(self, path: str, text: str, name: str, roles: int, nth: int) -> Index:
        at = -1
        for _ in range(nth + 1):
            at = self.files[path].index(text, at + 1)
        line = self.files[path].count("\n", 0, at)
        before = self.files[path][self.files[path].rfind("\n", 0, at) + 1 : at]
        codec, width = _WIDTH[self.encoding or UTF_16]
        start, n = (len(part.encode(codec)) // width for part in (before, text))
        place = b"".join(map(_varint, (line, start, start + n)))
        occurrence = _bytes(1, place) + _bytes(2, name.encode()) + _number(3, roles)
        self._occurrences.setdefault(path, []).append(occurrence)
        return self

    def data(self) -> bytes:
        tool = _bytes(1, b"scip-python") + _bytes(2, b"0.6.6")
        found = _bytes(1, _bytes(2, tool) + _bytes(3, b"file:///anywhere") + _number(4, 1))
        for path, occurrences in self._occurrences.items():
            document = _bytes(4, b"python") + _bytes(1, path.encode())
            document += b"".join(_bytes(2, one) for one in occurrences)
            document += _number(6, self.encoding) if self.encoding else b""
            document += _bytes(5, self.files[path].encode()) if self.has_texts else b""
            found += _bytes(2, document)
        return found + _bytes(3, _bytes(1, b"local 7"))

    def write(self, path: Path) -> str:
        path.write_bytes(self.data())
        return str(path)


def symbol(descriptors: str, package: str = "shop 1") -> str:
    return f"scip-python python {package} {descriptors}"


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
