"""Typeshed, read: every text can be read back, and says what the stubs say."""

from __future__ import annotations

import ast

import pytest

from codelake.extract.stubs.names import names_of
from codelake.extract.stubs.scope import Scope
from codelake.extract.stubs.typeshed import stubs, stubs_version

NAMES = {
    row["module"]: {one["name"]: (one["kind"], one["type"]) for one in row["names"]} for row in stubs().to_pylist()
}


def read(text: str) -> dict[str, tuple[str, str]]:
    body = ast.parse(text).body
    found = names_of(Scope("m", body, is_package=False), body)
    return {one.name: (one.kind, one.type) for one in found.values()}


@pytest.mark.parametrize(
    ("module", "name", "kind", "text"),
    [
        ("re", "Pattern", "class", "~AnyStr:"),
        ("re", "Match.string", "property", "~AnyStr"),
        ("os", "environ", "variable", "os._Environ[builtins.str]"),
        ("os", "getcwd", "function", "()->builtins.str"),
        ("io", "TextIOWrapper.readline", "method", "(size=,/)->builtins.str"),
        ("_io", "TextIOWrapper", "alias", "io.TextIOWrapper"),
        ("typing", "Mapping", "alias", "collections.abc.Mapping"),
        ("unittest", "TestCase.addCleanup", "method", "(function:Callable[_,*],/,*args,**kwargs)->_|None"),
        ("random", "choice", "alias", "random._inst.choice"),
        ("asyncio", "sleep", "function", None),
        ("datetime", "datetime.now", "classmethod", "(tz=)->Self"),
        ("string", "ascii_letters", "variable", "builtins.str"),
        ("_typeshed", "OpenTextModeReading", "type", None),
    ],
)
def test_names(module: str, name: str, kind: str, text: str | None) -> None:
    found = NAMES[module][name]
    assert found[0] == kind
    assert text is None or found[1] == text


def test_names_of_every_version_and_platform_are_there() -> None:
    assert "imp" in NAMES and "distutils.core" in NAMES and "compression.zstd" in NAMES
    assert "windll" in NAMES["ctypes"] and "fork" in NAMES["os"] and "startfile" in NAMES["os"]


def test_the_newest_version_counts() -> None:
    text = """
import sys
if sys.version_info >= (3, 12):
    def f() -> int: ...
else:
    def f() -> str: ...
    def old() -> str: ...
if sys.platform == "win32":
    x: str
else:
    x: int
"""
    assert read(text) == {
        "f": ("function", "()->builtins.int"),
        "old": ("function", "()->builtins.str"),
        "x": ("variable", "builtins.int"),
    }


def test_signatures() -> None:
    text = """
from typing import Any, Callable, Generic, Literal, Optional, overload
T = TypeVar("T")
P = ParamSpec("P")
class C(Generic[T]):
    def own(self) -> T: ...
    def same(self: T) -> T: ...
    @staticmethod
    def free(x: Literal["a", "b"], *, y: int = ...) -> Optional[list[T]]: ...
    @overload
    def two(self, x: int) -> int: ...
    @overload
    def two(self, x: str) -> "C[str]": ...
    @property
    def p(self) -> Any: ...
async def later(f: Callable[P, T], *args: P.args) -> tuple[T, ...]: ...
"""
    assert read(text) == {
        "C": ("class", "~T:"),
        "C.own": ("method", "()->~T"),
        "C.same": ("method", "()->Self"),
        "C.free": ("staticmethod", "(x:'a'|'b',*,y=)->builtins.list[~T]"),
        "C.two": ("method", "(x)->builtins.int;(x)->m.C[builtins.str]"),
        "C.p": ("property", "_"),
        "later": ("function", "(f:Callable[~T,*],*args)->types.CoroutineType[_,_,builtins.tuple[~T,...]]"),
    }


def test_the_version_names_the_package() -> None:
    assert stubs_version().startswith("typeshed-client 2.")
    assert set(stubs().column("version").to_pylist()) == {stubs_version()}
