"""Programs that run: what they do is a path in our graphs, and what they load is what our definitions say.

Missing flows and pairs show here; those that are too many do not, see `test_control` and `test_reaching`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

from .oracles import traced
from .oracles.generated import Generated
from .oracles.instructions import Program
from .oracles.tracer import Tracer
from .oracles.worlds import World
from .packages import fetched

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the oracle reads the bytecode of Python 3.11")

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
FAILING = (0.005, 0.05, 0.12, 0.3)
"""How often functions raise, in turn."""


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tracer]:
    # Generators that do not let themselves be closed are a part of it.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    made = Tracer()
    before = sys.gettrace()
    yield made
    sys.settrace(before)


def run(tracer: Tracer, program: Program, seeds: range) -> None:
    for seed in seeds:
        world = World(tracer, seed, failing=FAILING[seed % len(FAILING)])
        tracer.start()
        try:
            world.run(lambda world=world: exec(program.code, world.globals))
            for value in list(world.globals.values()):
                if isinstance(value, FunctionType) and value.__code__.co_filename == program.code.co_filename:
                    world.budget = 100
                    world.run(value)
        finally:
            tracer.stop()


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_programs_take_the_paths_of_their_graphs(file: Path, tracer: Tracer) -> None:
    run(tracer, tracer.program(file.read_text(), str(file)), range(40))
    assert tracer.failures == []
    assert tracer.n_steps > 4000 and tracer.n_definitions > 400 and tracer.n_exceptions > 60


def run_generated(tracer: Tracer, seeds: range) -> None:
    for seed in seeds:
        name = f"generated {seed}"
        run(tracer, tracer.program(Generated(seed).source, name), range(seed, seed + 6))
        assert tracer.failures == [], name
        tracer.forget(name)


@pytest.mark.filterwarnings("ignore")
def test_generated_programs_take_the_paths_of_their_graphs(tracer: Tracer) -> None:
    run_generated(tracer, range(40))
    assert tracer.n_steps > 10_000 and tracer.n_definitions > 500
    assert tracer.n_exceptions > 200 and tracer.n_decisions > 50


def test_the_oracle_sees_what_is_missing(tracer: Tracer) -> None:
    """Takes away, one after the other, flows and pairs that a run needs."""
    source = (
        "def f():\n  x = 0\n  while c():\n    try:\n      x = g(x)\n    except E1:\n      if c(): break\n  return x\n"
    )
    flows = Program(source, "whole").flows
    missing = [(src, flow) for src, of in flows.items() for flow in of]
    n_seen = 0
    for number, (src, flow) in enumerate(missing):
        program = tracer.program(source, f"without flow {number}")
        program.flows[src].remove(flow)
        run(tracer, program, range(80))
        n_seen += bool(tracer.failures)
        tracer.failures.clear()
    # But for an exception in `return x` and in looking up E1, all happen; the module's own does not.
    assert n_seen >= len(missing) - 4
    pairs = Program(source, "whole").reaches
    for pair in pairs:
        program = tracer.program(source, f"without pair {pair}")
        program.reaches.remove(pair)
        run(tracer, program, range(80))
        assert tracer.failures and all("does not reach" in failure for failure in tracer.failures)
        tracer.failures.clear()


def test_the_oracle_sees_true_taken_for_false(tracer: Tracer) -> None:
    program = tracer.program("def f():\n  if c():\n    g(1)\n  else:\n    g(2)\n", "swapped")
    for flows in program.flows.values():
        flows[:] = [(dst, {"true": "false", "false": "true"}.get(kind, kind)) for dst, kind in flows]
    run(tracer, program, range(4))
    assert tracer.failures


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_many_generated_programs(tracer: Tracer) -> None:
    run_generated(tracer, range(1000, 3000))
    print(f"{tracer.n_steps:,} steps, {tracer.n_exceptions:,} exceptions, {tracer.n_definitions:,} definitions")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("package", "path", "tests"),
    [
        ("more-itertools==10.8.0", ".", "tests/test_more.py"),
        ("toolz==1.1.0", ".", "toolz/tests"),
        ("packaging==25.0", "src", "tests/test_markers.py"),
        ("click==8.3.1", "src", "tests"),
    ],
)
def test_packages_take_the_paths_of_their_graphs(package: str, path: str, tests: str, tmp_path: Path) -> None:
    folder = next(each for each in fetched(package, tmp_path, sdist=True).iterdir() if each.is_dir())
    command = [sys.executable, "-P", str(Path(traced.__file__)), str(folder), "60", str(folder / tests)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(folder / path)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    print(package, found)
    assert found["failures"] == []
    assert found["tests"] > 50 and found["steps"] > 100_000 and found["definitions"] > 20_000
