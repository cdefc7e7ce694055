"""Runs Python under a profiler, and writes which functions of a package called which.

    python benchmarks/traced.py OUT FOLDER MODULE [ARGUMENT...]

MODULE is run as `python -m` would run it. OUT gets one JSON document a line, for each pair of functions below FOLDER
and place in the caller: [path, line, name, place] of the caller, [path, line, name] of the callee, and whether Python
called it there as it is written: not some builtin on the way, nor, at the place of a decorator that is a call, what
that call gave. A place is [line, column, line, column]. Resuming a generator is no call; module and class bodies and
comprehensions are code of who is around them.
"""

from __future__ import annotations

import inspect
import json
import os
import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_COROUTINE = inspect.CO_COROUTINE
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class Trace:
    def __init__(self, folder: str) -> None:
        self.folder = folder + os.sep
        self.seen: set[tuple[CodeType, int, CodeType, bool]] = set()
        self._own: dict[CodeType, bool] = {}
        self._within: dict[FrameType, int] = {}
        """Frames that a builtin was called from and has not come back to."""

    def is_own(self, code: CodeType) -> bool:
        found = self._own.get(code)
        if found is None:
            found = self._own[code] = os.path.realpath(code.co_filename).startswith(self.folder)
        return found

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            if self.is_own(frame.f_code):
                self._within[frame] = self._within.get(frame, 0) + 1
        elif event == "call":
            caller = frame.f_back
            code = frame.f_code
            if caller is None or not self.is_own(code) or not self.is_own(caller.f_code) or not _is_called(frame, code):
                return
            self.seen.add((caller.f_code, caller.f_lasti, code, caller not in self._within))
        elif event != "return":
            left = self._within.get(frame, 0) - 1
            if left > 0:
                self._within[frame] = left
            else:
                self._within.pop(frame, None)

    def write(self, out: Path) -> None:
        with out.open("w") as file:
            for caller, at, callee, is_direct in self.seen:
                place = _place(caller, at)
                if place is not None:
                    line = [[*_where(caller), place], _where(callee), is_direct and not _is_again(caller, at)]
                    file.write(json.dumps(line) + "\n")


def _is_called(frame: FrameType, code: CodeType) -> bool:
    if code.co_flags & _GENERATORS or code.co_name in _COMPREHENSIONS:
        return False
    if not code.co_flags & inspect.CO_NEWLOCALS:
        return False  # the body of a module or a class
    return not code.co_flags & _COROUTINE or frame.f_lasti <= _started(code)


def _started(code: CodeType) -> int:
    """Where a coroutine is when it runs for the first time: at its first RESUME."""
    return 2 * next((n for n, one in enumerate(code.co_code[::2]) if one == _RESUME), 0)


def _where(code: CodeType) -> list[Any]:
    return [os.path.realpath(code.co_filename), code.co_firstlineno, code.co_qualname]


def _place(code: CodeType, at: int) -> list[int] | None:
    for number, place in enumerate(code.co_positions()):
        if number * 2 == at:
            line, end_line, column, end_column = place
            if None in place:
                return None
            return [line, column, end_line, end_column]  # type: ignore[list-item]
    return None


def _is_again(code: CodeType, at: int) -> bool:
    """Whether the same place calls before: `@f(x)` calls f, and later, from the same place, what f gave. A frame that
    calls Python is at the end of its call, behind the caches of that."""
    while code.co_code[at] == _CACHE and at:
        at -= 2
    places = [place for place, one in zip(code.co_positions(), code.co_code[::2], strict=False) if one == _CALL]
    here = sum(one == _CALL for one in code.co_code[: at + 1 : 2]) - 1
    return here >= 0 and code.co_code[at] == _CALL and places[here] in places[:here]


def main() -> None:
    out, folder, module = sys.argv[1:4]
    trace = Trace(os.path.realpath(folder))
    sys.argv = [module, *sys.argv[4:]]
    sys.path[0] = ""
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        trace.write(Path(out))


import dis  # noqa: E402

_RESUME, _CALL, _CACHE = dis.opmap["RESUME"], dis.opmap["CALL"], dis.opmap["CACHE"]

if __name__ == "__main__":
    main()
