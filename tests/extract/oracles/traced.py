"""Runs the tests of a package under the tracer: `python traced.py FOLDER SECONDS TESTS...`.

A script, and `oracles` a package of its own, as the package under test may have a `tests`.

Prints what was checked, as JSON. The package's own tests may fail, as its code has nodes for lines; that does not
matter here.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))
from oracles.tracer import Tracer


class Limit:
    """A plugin that ends the session when the time is over, and traces on if a test made an end to it."""

    def __init__(self, tracer: Tracer, seconds: float) -> None:
        self.tracer = tracer
        self.end = time.process_time() + seconds
        self.n_tests = 0

    def pytest_runtest_logfinish(self) -> None:
        self.n_tests += 1

    def pytest_runtest_setup(self, item: Any) -> None:
        if time.process_time() > self.end:
            item.session.shouldstop = "the time is over"
            pytest.skip("the time is over")
        self.tracer.start()


def main(folder: str, seconds: str, *tests: str) -> None:
    tracer = Tracer()
    compiled = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if not path.startswith(folder):
            return compiled(self, fullname)
        before = sys.gettrace()
        sys.settrace(None)
        try:
            return tracer.program(Path(path).read_text(), path).code
        finally:
            sys.settrace(before)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    limit = Limit(tracer, float(seconds))
    # One test may take minutes when it is traced: it goes on without.
    signal.signal(signal.SIGPROF, lambda *_: tracer.stop())
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    threading.settrace(tracer._call)
    tracer.start()
    options = [
        "-qq",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "--assert=plain",
        "--tb=short" if "-v" in tests else "--tb=no",
        "-W",
        "ignore",
    ]
    try:
        pytest.main([*options, "-c", "/dev/null", "--rootdir", folder, *tests], plugins=[limit])
    finally:
        tracer.stop()
    found = {
        "tests": limit.n_tests,
        "files": len(tracer.programs),
        "steps": tracer.n_steps,
        "exceptions": tracer.n_exceptions,
        "definitions": tracer.n_definitions,
        "failures": Counter(tracer.failures).most_common(20),
    }
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
