"""What really happens when cases run: who calls whom, and what classes are made of.

    python -m tests.cases.running CASES FOLDER

writes each case to a folder of its own, imports its modules, and leaves what was seen in FOLDER/seen.json.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.machinery
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .truth import Case, Edge, read_cases

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_FUNCTION = 0x1  # neither module nor class body
_SUSPENDED = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


def names_of(code: types.CodeType, name: str) -> Iterator[tuple[types.CodeType, str]]:
    """A code object and all within it, with their qualified names; comprehensions are part of what is around them."""
    yield code, name
    counts: dict[str, int] = {}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            n = counts[inner.co_name] = counts.get(inner.co_name, 0) + 1
            if inner.co_name in _COMPREHENSIONS:
                yield from names_of(inner, name)
            elif inner.co_name == "<lambda>":
                yield from names_of(inner, f"{name}.<lambda{n}>")
            else:
                yield from names_of(inner, f"{name}.{inner.co_name}" + (f"~{n - 1}" if n > 1 else ""))


def _found(made: type, name: str) -> Any:
    """An attribute of a class as it is kept there, not as it is got."""
    return next((vars(base)[name] for base in made.__mro__ if name in vars(base)), None)


class _Marked(ast.NodeTransformer):
    """Every call `f(x)` as `__saw__(f, "f(x)", line)(x)`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def visit_Call(self, node: ast.Call) -> ast.Call:
        site = [ast.Constant(ast.get_source_segment(self.text, node)), ast.Constant(node.lineno)]
        self.generic_visit(node)
        node.func = ast.Call(ast.Name("__saw__", ast.Load()), [node.func, *site], [])
        return node


class Watch:
    """What happens while the modules of one case are imported."""

    def __init__(self, root: Path, modules: dict[str, str]) -> None:
        self.modules = {str(root / path): name for name, path in modules.items()}
        self.codes: dict[int, tuple[types.CodeType, str]] = {}
        self.classes: dict[int, tuple[type, str]] = {}
        self.seen: set[Edge] = set()

    def compile(self, data: Any, path: str, otherwise: Callable[..., types.CodeType]) -> types.CodeType:
        if path not in self.modules:
            return otherwise(data, path)
        tree = ast.fix_missing_locations(_Marked(data.decode()).visit(ast.parse(data)))
        code: types.CodeType = compile(tree, path, "exec", dont_inherit=True)
        self.codes |= {id(inner): (inner, name) for inner, name in names_of(code, self.modules[path])}
        return code

    def profile(self, frame: types.FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        # What can be suspended gives no event when it is called, only when it is resumed: `saw` knows better.
        is_call = code.co_flags & _SUSPENDED == 0 or code.co_name.startswith("__")
        if event == "call" and code.co_flags & _FUNCTION and is_call and code.co_name not in _COMPREHENSIONS:
            self.called(frame.f_back, self.codes.get(id(code), (code, ""))[1])

    def called(self, frame: types.FrameType | None, callee: str) -> None:
        """Code of others, such as a wrapper's, is left out between caller and callee; an import is no call."""
        while frame and id(frame.f_code) not in self.codes and "importlib" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame and id(frame.f_code) in self.codes:
            self.seen.add(Edge(self.codes[id(frame.f_code)][1], "CALLER_OF", callee))

    def saw(self, value: Any, text: str, line: int) -> Any:
        target: Any = functools.partial(value).func  # of a partial, what it calls
        if not isinstance(target, type | types.FunctionType | types.MethodType) and not hasattr(target, "__wrapped__"):
            target = _found(type(target), "__call__")
        name = self.name(target)
        for site in (f"`{text}`", f"`{text}`@{line}") if name else ():
            self.seen.add(Edge(site, "CALLS", name))
        function = getattr(target, "__wrapped__", target)
        is_suspended = getattr(getattr(function, "__code__", None), "co_flags", 0) & _SUSPENDED
        if name and (is_suspended or (isinstance(target, type) and not self.name(_found(target, "__init__")))):
            self.called(sys._getframe(1), name)
        return value

    def name(self, value: Any) -> str:
        """The qualified name of a function or class of the case; empty for all else."""
        while (found := getattr(value, "__func__", getattr(value, "fget", None))) is not None:
            value = found
        if isinstance(value, type):
            return self.classes.get(id(value), (value, ""))[1]
        if id(getattr(value, "__code__", None)) in self.codes:
            return self.codes[id(value.__code__)][1]
        return self.name(value.__wrapped__) if hasattr(value, "__wrapped__") else ""

    def build_class(self, original: Callable[..., Any], body: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(body, *args, **kwargs)
        if isinstance(made, type) and id(body.__code__) in self.codes:
            self.classes[id(made)] = made, self.codes[id(body.__code__)][1]
        return made

    def see_classes(self) -> None:
        for made, name in self.classes.values():
            self.seen |= {Edge(name, "INHERITS", self.name(base)) for base in made.__bases__}
            for key, value in vars(made).items():
                self.seen.add(Edge(name, "HAS_METHOD", self.name(value)))
                above = [vars(base)[key] for base in made.__mro__[1:] if key in vars(base)]
                self.seen |= {Edge(self.name(value), "OVERRIDES", self.name(other)) for other in above[:1]}


def watch(case: Case, root: Path) -> set[Edge]:
    """Writes a case to a folder and imports its modules, here in this process."""
    for path, text in case.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    modules = {name: path for name, path in case.modules().items() if path.endswith(".py")}
    seeing = Watch(root, modules)
    loader: Any = importlib.machinery.SourceFileLoader
    own = {name.partition(".")[0] for name in modules}
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in own}
    before = sys.path, loader.source_to_code, builtins.__build_class__
    sys.path = [*(str(root / folder) for folder in case.roots()), *sys.path]
    loader.source_to_code = lambda self, data, path: seeing.compile(data, str(path), before[1].__get__(self))
    builtins.__build_class__ = functools.partial(seeing.build_class, before[2])
    vars(builtins)["__saw__"] = seeing.saw
    try:
        sys.setprofile(seeing.profile)
        for name in modules:
            importlib.import_module(name)
    finally:
        sys.setprofile(None)
        sys.path, loader.source_to_code, builtins.__build_class__ = before
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
        sys.modules |= hidden
    seeing.see_classes()
    return {edge for edge in seeing.seen if edge.src and edge.dst}


def main(cases: str, folder: str) -> None:
    sys.dont_write_bytecode = True
    del sys.path[0]
    seen: dict[str, list[str] | str] = {}
    for number, case in enumerate(case for case in read_cases(Path(cases)) if not case.is_static):
        try:
            seen[case.title] = sorted(map(str, watch(case, Path(folder) / str(number))))
        except Exception as error:  # noqa: BLE001
            seen[case.title] = f"{type(error).__name__}: {error}"
    (Path(folder) / "seen.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
