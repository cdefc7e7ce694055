"""Column types, written as Spark and Delta write them: `array<struct<name:string,line:int>>`.

One text, parsed once; Spark, Arrow and Python types are all derived from the tree, so that no schema
is written twice. Nothing here imports an engine: contracts must load in a process without Spark.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import GenericAlias
from typing import Any

from codelake.errors import UsageError

SCALARS: dict[str, type] = {
    "string": str,
    "binary": bytes,
    "boolean": bool,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "float": float,
    "double": float,
    "date": datetime.date,
    "timestamp": datetime.datetime,
    "timestamp_ntz": datetime.datetime,
}

_TOKEN = re.compile(r"\s*(decimal\(\d+,\d+\)|[a-z_][a-z0-9_]*|[<>:,]|\S)", re.IGNORECASE)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


@dataclass(frozen=True)
class DataType:
    """`string`; or `array`, `map` and `struct` with the types they hold (a struct's are named)."""

    name: str
    items: tuple[DataType, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.name == "struct":
            inner = ",".join(f"{n}:{t}" for n, t in zip(self.names, self.items, strict=True))
            return f"struct<{inner}>"
        if self.items:
            return f"{self.name}<{','.join(map(str, self.items))}>"
        return self.name

    @property
    def python(self) -> Any:
        """The Python type of a value, for typed records."""
        if self.name == "array":
            return GenericAlias(list, (self.items[0].python,))
        if self.name == "map":
            return GenericAlias(dict, (self.items[0].python, self.items[1].python))
        if self.name == "struct":
            return dict[str, Any]
        return Decimal if self.decimal else SCALARS[self.name]

    @property
    def decimal(self) -> tuple[int, int] | None:
        """Precision and scale of `decimal(p,s)`, which is one scalar with a name of its own."""
        found = _DECIMAL.fullmatch(self.name)
        return (int(found[1]), int(found[2])) if found else None


@cache
def parse_type(text: str) -> DataType:
    tokens = _TOKEN.findall(text)
    parsed, rest = _parse(tokens, text)
    if rest:
        raise _bad(text, f"nothing after {parsed}, found {rest[0]!r}")
    return parsed


def _parse(tokens: list[str], text: str) -> tuple[DataType, list[str]]:
    if not tokens:
        raise _bad(text, "a type name, found the end")
    name, rest = tokens[0].lower(), tokens[1:]
    if name in SCALARS or _DECIMAL.fullmatch(name):
        return DataType(name), rest
    if name not in ("array", "map", "struct"):
        raise _bad(text, f"one of {', '.join([*SCALARS, 'array<>', 'map<>', 'struct<>'])}, found {name!r}")
    rest = _expect("<", rest, text)
    items: list[DataType] = []
    names: list[str] = []
    while True:
        if name == "struct":
            if not rest:
                raise _bad(text, "a field name, found the end")
            names.append(rest[0])
            rest = _expect(":", rest[1:], text)
        item, rest = _parse(rest, text)
        items.append(item)
        if rest and rest[0] == ",":
            rest = rest[1:]
            continue
        rest = _expect(">", rest, text)
        break
    wanted = {"array": 1, "map": 2}.get(name, len(items))
    if len(items) != wanted:
        raise _bad(text, f"{wanted} type(s) in {name}<>, found {len(items)}")
    return DataType(name, tuple(items), tuple(names)), rest


def _expect(token: str, tokens: list[str], text: str) -> list[str]:
    if not tokens or tokens[0] != token:
        raise _bad(text, f"{token!r}, found {tokens[0]!r}" if tokens else f"{token!r}, found the end")
    return tokens[1:]


def _bad(text: str, expected: str) -> UsageError:
    return UsageError(f"column type {text!r}", expected=expected, do="Write types as Spark does.")
