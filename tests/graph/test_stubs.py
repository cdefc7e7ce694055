"""What the linker makes of stubs: texts that are read, names that are found, calls that go on; without Spark."""

from __future__ import annotations

import pickle
import sys

import pytest

from codelake.extract.stubs.typeshed import stubs
from codelake.graph.link.signatures import parse_signatures, parse_type
from codelake.graph.link.stubs import Stubs
from tests.graph.linking import calls, edges, linked, rows_of, unit

KNOWN = Stubs(stubs())


def targets(text: str) -> list[str | None]:
    """Of the calls of a file, in order."""
    found = sorted(calls(linked({"app.py": text})), key=lambda call: call["call"])
    return [call["target"] and call["target"].removeprefix("::") for call in found]


def test_every_text_can_be_read() -> None:
    for row in stubs().to_pylist():
        for one in row["names"]:
            if one["kind"] in ("function", "method", "classmethod", "staticmethod"):
                assert parse_signatures(one["type"])
            elif one["kind"] in ("variable", "property", "type"):
                parse_type(one["type"])
            elif one["kind"] == "class":
                for base in filter(None, one["type"].partition(":")[2].split(";")):
                    assert parse_type(base)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("os.path.join", "posixpath.join"),
        ("collections.abc.Mapping", "collections.abc.Mapping"),
        ("random.choice", "random.Random.choice"),
        ("unittest.case.TestCase", "unittest.TestCase"),
        ("os.environ", "os.environ"),
        ("os", "os"),
        ("os.nothing", None),
        ("requests.get", None),
        ("re.Pattern.nothing", None),
    ],
)
def test_names_are_found(name: str, means: str | None) -> None:
    found = KNOWN.find(name)
    assert (found and found.name) == means


@pytest.mark.parametrize(
    "name", ["pathlib.Path", "io.TextIOWrapper", "enum.IntFlag", "collections.Counter", "ssl.SSLError"]
)
def test_orders_are_those_of_python(name: str) -> None:
    """As far as both have a class."""
    module, _, last = name.rpartition(".")
    __import__(module)
    real = [one.__name__ for one in getattr(sys.modules[module], last).__mro__]
    stub = KNOWN.class_named(name)
    assert stub is not None
    found = [full.rpartition(".")[2] for full, _ in KNOWN.order(stub)]
    assert [one for one in found if one in real] == [one for one in real if one in found]


def test_only_what_is_asked_for_is_read() -> None:
    fresh = Stubs(stubs())
    fresh.find("re.compile")
    assert set(fresh._modules) == {"re"}


def test_workers_get_the_same() -> None:
    again = pickle.loads(pickle.dumps(KNOWN))
    assert again.find("re.Pattern.match") == KNOWN.find("re.Pattern.match")


def test_overloads_are_chosen_by_what_is_passed() -> None:
    text = """
def files(p, mode):
    open(p, mode="wb").write(b"")
    open(p, mode).write("")
"""
    assert targets(text) == ["io.BufferedWriter.write", "builtins.open", "io.TextIOWrapper.write", "builtins.open"]


def test_an_attribute_that_a_class_lacks_has_no_target() -> None:
    text = """
import re
import argparse
re.compile("a").nothing()
argparse.ArgumentParser().parse_args().verbose()
"""
    found = targets(text)
    assert found[0] is None
    assert found[2] == "argparse.Namespace.verbose"


def test_arguments_are_called_with_what_is_known() -> None:
    text = """
import threading
from concurrent.futures import ThreadPoolExecutor
class Job:
    def go(self): ...
def tick(): ...
def done(future): future.result()
def work(job): job.go()
def run():
    threading.Timer(3, tick)
    with ThreadPoolExecutor() as pool:
        pool.submit(work, Job()).add_done_callback(done)
"""
    rows = linked({"app.py": text})
    called = edges(rows, "CALLER_OF")
    assert {("r:app.py#run", "r:app.py#tick"), ("r:app.py#run", "r:app.py#work")} <= called
    assert {("r:app.py#work", "r:app.py#Job.go"), ("r:app.py#run", "r:app.py#done")} <= called
    assert ("r:app.py#done", "::concurrent.futures.Future.result") in called


def test_generics_in_a_circle_end() -> None:
    text = """
import itertools, weakref, re, functools
def grow(x):
    for _ in range(3):
        x = itertools.chain([x], x)
        x = weakref.ref(x)
        x = enumerate(x)
        x = itertools.groupby(x)
        x = dict(a=x).items()
        x = next(iter(x))
    return x
grow(re.compile("a").finditer("b"))
"""
    table = unit({"app.py": text})
    assert rows_of(table) == rows_of(table, backwards=True)
