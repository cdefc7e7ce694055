"""The linker by itself: it gives the same whatever the order of work, ends, and says what it cannot tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelake.graph.link import solver
from codelake.graph.link.solver import MOST, MOST_FUNCTIONS
from tests.cases.truth import Case, read_cases
from tests.graph.linking import calls, edges, linked, rows_of, shuffled, unit, unit_of_case

CASES = read_cases(Path(__file__).parents[1] / "cases")
GROUPS = sorted({case.group for case in CASES})


# the same in every order -------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS)
def test_order_makes_no_difference(group: str) -> None:
    for case in CASES:
        if case.group == group:
            _same_in_every_order(case)


def _same_in_every_order(case: Case) -> None:
    table = unit_of_case(case)
    rows = rows_of(table)
    assert rows_of(table, backwards=True) == rows, case.title
    assert rows_of(shuffled(table)) == rows, case.title


def _names(draw: st.DrawFn, names: list[str]) -> str:
    return draw(st.sampled_from(names))


@st.composite
def programs(draw: st.DrawFn) -> dict[str, str]:
    """A few modules that import each other's names, and define, pass, store, return and call them."""
    modules = [f"m{number}" for number in range(draw(st.integers(2, 4)))]
    names = ["f", "g", "C", "D", "x", "y"]
    files = {}
    for module in modules:
        lines = []
        for _ in range(draw(st.integers(0, 3))):
            other = draw(st.sampled_from(modules))
            lines.append(
                draw(
                    st.sampled_from(
                        [
                            f"import {other}",
                            f"from {other} import *",
                            f"from {other} import {_names(draw, names)} as {_names(draw, names)}",
                        ]
                    )
                )
            )
        for _ in range(draw(st.integers(1, 6))):
            lines += draw(_statement(names, modules))
        files[f"{module}.py"] = "\n".join(lines) + "\n"
    return files


@st.composite
def _statement(draw: st.DrawFn, names: list[str], modules: list[str]) -> list[str]:
    a, b, c = (draw(st.sampled_from(names)) for _ in range(3))
    module = draw(st.sampled_from(modules))
    value = draw(
        st.sampled_from(
            [
                *(a, f"{module}.{a}", f"{a}()", f"{a}({b})", f"{a}.{b}", f"[{a}, {b}]", f"{{'k': {a}}}", f"{a}[0]"),
                *(f"{a}['k']", f"partial({a}, {b})", f"{a}(*{b})", f"{a} if {b} else {c}", f"lambda p: {a}(p)"),
                *(f"[v() for v in {a}]", f"super({a}, {b})", f"getattr({a}, '{b}')", f"sorted({a}, key={b})"),
            ]
        )
    )
    return draw(
        st.sampled_from(
            [
                [f"{c} = {value}"],
                [f"{c}.{b} = {value}"],
                ["from functools import partial"],
                [f"def {c}(p, q={a}, *r, **s):", f"    p(q, *r, **s)\n    return {value}"],
                [f"@{b}", f"def {c}(p):", f"    return p({a})"],
                [
                    f"class {c}({a}):",
                    f"    def {b}(self, p):\n        self.y = p\n        return self.x({value})",
                    f"    def __call__(self, p={a}):\n        return p(self)",
                    f"    @property\n    def x(self):\n        return {value}",
                ],
                [f"def {c}(p):", f"    yield {value}\n    yield from p"],
                [f"for {c} in {a}:", f"    {c}({b})"],
                [f"with {a} as {c}:", f"    {c}({b})"],
            ]
        )
    )


@settings(max_examples=100, deadline=None)
@given(programs(), st.sampled_from([2, 4, MOST]))
def test_order_makes_no_difference_to_any_program(files: dict[str, str], most: int) -> None:
    """With a small bound, slots are widened also in small programs."""
    table = unit(files)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(solver, "MOST", most)
        patched.setattr(solver, "MOST_FUNCTIONS", most)
        rows = rows_of(table)
        assert rows_of(table, backwards=True) == rows
        assert rows_of(shuffled(table)) == rows


# too many ----------------------------------------------------------------------------------------

MANY = "".join(f"def f{n}():\n    return f{n}\n" for n in range(MOST_FUNCTIONS + 5))
ALL = "".join(f"use(f{n})\n" for n in range(MOST_FUNCTIONS + 5))


def test_a_parameter_that_takes_too_many_functions_is_widened_in_every_order_and_its_callees_are_known() -> None:
    table = unit({"app.py": f"def use(p):\n    return p()\n{MANY}{ALL}"})
    rows = rows_of(table)
    assert rows_of(table, backwards=True) == rows
    called = {dst for src, dst in edges(rows, "CALLER_OF") if src == "r:app.py#use"}
    assert called == {f"r:app.py#f{n}" for n in range(MOST_FUNCTIONS + 5)}
    (call,) = (call for call in calls(rows) if call["caller"] == "r:app.py#use")
    assert (call["target"], call["n_targets"], call["reason"]) == (None, 0, "too many")


def test_functions_that_are_too_many_are_called_wherever_they_go_on_to() -> None:
    """A table that decorators fill, and what is called of it elsewhere: in a loop, from an attribute, by a partial."""
    text = (
        f"from functools import partial\nTABLE = []\ndef use(p):\n    TABLE.append(p)\n    return Kept(p)\n"
        "class Kept:\n    def __init__(self, held):\n        self.held = held\n"
        "    def run(self):\n        return self.held()\n"
        f"def every():\n    for one in TABLE:\n        one()\n{MANY}{ALL}"
        "def partly():\n    return partial(TABLE[0])()\n"
    )
    table = unit({"app.py": text})
    rows = rows_of(table)
    assert rows_of(table, backwards=True) == rows
    for caller in ("Kept.run", "every", "partly"):
        called = {dst for src, dst in edges(rows, "CALLER_OF") if src == f"r:app.py#{caller}"}
        assert called >= {f"r:app.py#f{n}" for n in range(MOST_FUNCTIONS + 5)}, caller


def test_functions_that_are_too_many_and_come_out_everywhere_are_hardly_called_there() -> None:
    """A decorator whose wrapper returns whatever any decorated function gave: who takes that takes everything."""
    users = "".join(f"def user{n}():\n    wrapped(f{n})()\n" for n in range(10))
    text = f"def use(p):\n    def wrapped():\n        return p(p)\n    return wrapped\n{MANY}{ALL}"
    text += f"kept = []\ndef wrapped(p):\n    kept.append(p)\n    return kept[0]\ndef run():\n    kept[0]()\n{users}"
    text += ALL.replace("use", "wrapped")
    few = linked({"app.py": text.replace("    wrapped(f", "    print(f")})
    many = linked({"app.py": text})
    assert ("r:app.py#run", "r:app.py#f9") in edges(few, "CALLER_OF")
    assert ("r:app.py#user1", "r:app.py#f9") not in edges(many, "CALLER_OF")
    assert ("r:app.py#user1", "r:app.py#f9") in edges(many, "CALLER_OF", at_least=0)


def test_what_is_derived_from_a_slot_that_is_widened_goes_with_it() -> None:
    """Also what was derived from the values that came first."""
    text = f"def use(p):\n    q = p or p\n    return q()\n{MANY}got = use(f0)\ngot()\n{ALL}"
    rows = linked({"app.py": text})
    assert [call["target"] for call in calls(rows) if call["call"] == 2] == [None]
    assert ("r:app.py#<module>", "r:app.py#f0") not in edges(rows, "CALLER_OF", at_least=0)


def test_what_a_call_gives_of_its_own_is_not_widened() -> None:
    rows = linked({"app.py": f"def use(p):\n    return p()\n{MANY}got = use(f0)\ngot()\n{ALL}"})
    assert [call["target"] for call in calls(rows) if call["call"] == 2] == ["r:app.py#f0"]


def test_receivers_that_are_too_many_are_instances_of_the_class_that_has_the_method() -> None:
    lines = ["class Base:", "    def run(self):", "        return self.step()", "    def step(self):", "        pass"]
    for number in range(MOST + 1):
        lines += [f"class C{number}(Base):", "    def step(self):", "        pass", f"C{number}().run()"]
    table = unit({"app.py": "\n".join(lines) + "\n"})
    rows = rows_of(table)
    assert rows_of(table, backwards=True) == rows
    found = {dst for src, dst in edges(rows, "CALLER_OF", at_least=0) if src == "r:app.py#Base.run"}
    assert found == {f"r:app.py#{name}.step" for name in ("Base", *(f"C{number}" for number in range(MOST + 1)))}


# it ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "def f(*a):\n    f(1, *a)\nf()\n",
        "def f(**k):\n    f(x=1, **k)\nf()\n",
        "def f(*a, **k):\n    return f(*a, *a, **k)\nf(f, f=f)\n",
        "from functools import partial\ndef f(*a):\n    return partial(f, *a)\n"
        "p = partial(partial(partial(f, 1), 2), 3)\np()()()\n",
        "from functools import partial\np = f = print\nfor _ in range(3):\n    p = partial(p, p)\np(p)\n",
        "a = []\na.append(a)\na[0][0][0]()\nb = {'k': a}\na.append(b)\nfor x in a:\n    x()\n",
        "class C:\n    def __call__(self):\n        return self\n"
        "    def __getattr__(self, n):\n        return self\nC()()()().x.y()\n",
        "def f(g):\n    return lambda x: f(f)(g)(x)\nf(f)(f)(f)\n",
        "def f(x):\n    return (x, f(x))\na = f(f)\nb = a + a\nb = b * 2\nb[0][0]()\n",
        "import re\nx = re.compile('')\nfor _ in x:\n    x = x.match(x).group(x)\nx()\n",
        "def d(f):\n    @d\n    def g():\n        return f(g)\n    return d(g)\n@d\n@d\ndef h():\n    return h\nh()\n",
        "x = x.y.z\ny = y()\nz = z[0]\nx(y(z))\n",
    ],
)
def test_recursion_ends_the_same_in_every_order(text: str) -> None:
    table = unit({"app.py": text})
    rows = rows_of(table)
    assert rows_of(table, backwards=True) == rows
    assert len(calls(rows)) > 0 and all((c["target"] is None) == (c["reason"] is not None) for c in calls(rows))


def test_a_partial_of_a_partial_calls_the_function() -> None:
    text = "from functools import partial\ndef f(a, b, c):\n    pass\np = partial(partial(f, 1), 2)\np(3)\n"
    rows = linked({"app.py": text})
    assert ("r:app.py#<module>", "r:app.py#f") in edges(rows, "CALLER_OF")
    assert calls(rows)[-1]["target"] == "r:app.py#f"


def test_a_partial_is_not_called_by_the_name_of_its_function() -> None:
    rows = linked({"app.py": "from functools import partial\ndef f(a): pass\nmade = partial(f, 1)\nmade()\n"})
    found = [e for row in rows for e in row["edges"] if e["kind"] == "CALLER_OF" and e["dst"].endswith("#f")]
    assert [(e["method"], round(e["confidence"], 2)) for e in found] == [("flow", 0.9)]


def test_of_several_partials_that_one_call_may_make_none_is_lost() -> None:
    text = (
        "from functools import partial\ndef f(a, b): pass\ndef g(a, b): pass\ndef h(): pass\n"
        "def pick(c):\n    if c:\n        return partial(partial, f)\n    return partial(partial, g)\n"
        "made = pick(1)(h)\nmade(1)\n"
    )
    called = {dst for src, dst in edges(linked({"app.py": text}), "CALLER_OF") if src == "r:app.py#<module>"}
    assert {"r:app.py#f", "r:app.py#g"} <= called


def test_an_edge_comes_once() -> None:
    text = "class A:\n    def __init__(self, x): pass\nfor h in (A, A(1).__init__):\n    h(2)\n"
    (row,) = linked({"app.py": text})
    keys = [(edge["kind"], edge["node"], edge["src"], edge["dst"]) for edge in row["edges"]]
    assert sorted(map(str, keys)) == sorted(map(str, set(keys)))


def test_results_that_nobody_takes_go_nowhere() -> None:
    text = (
        "def f(): pass\nclass B:\n    def __bool__(self): return f\nif B(): pass\n"
        "class A:\n    def __setitem__(self, key, value): key()\nA()[0] = 1\n"
    )
    assert ("r:app.py#A.__setitem__", "r:app.py#f") not in edges(linked({"app.py": text}), "CALLER_OF", at_least=0)


# classes -----------------------------------------------------------------------------------------


def classes(files: dict[str, str]) -> dict[str, tuple[list[str], str | None]]:
    """By name: method resolution order and problem."""
    (row,) = linked(files)
    names = [line.split()[1].partition("(")[0].rstrip(":") for line in files["app.py"].splitlines() if "class " in line]
    shown = {name: (row["classes"][n]["mro"], row["classes"][n]["problem"]) for n, name in enumerate(names)}
    return {name: ([one.rpartition("#")[2] for one in mro], problem) for name, (mro, problem) in shown.items()}


def test_an_order_that_python_refuses_is_a_problem() -> None:
    found = classes({"app.py": "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nclass D(C): pass\n"})
    assert found["B"] == (["B", "A"], None)
    assert found["C"] == (["C", "A", "B"], "no consistent order of its bases")
    assert found["D"] == (["D", "C", "A", "B"], None)


def test_a_diamond_has_the_order_that_python_gives() -> None:
    text = "class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\n"
    assert classes({"app.py": text})["D"] == (["D", "B", "C", "A"], None)


def test_a_class_that_is_its_own_base_is_a_problem() -> None:
    files = {"a.py": "import b\nclass A(b.B): pass\n", "b.py": "import a\nclass B(a.A): pass\n"}
    found = {row["path"]: row["classes"][0] for row in linked(files)}
    assert found["a.py"]["mro"][0] == "r:a.py#A" and found["b.py"]["mro"][0] == "r:b.py#B"
    assert "it is a base of itself" in {one["problem"] for one in found.values()}


# modules -----------------------------------------------------------------------------------------

LIB = "def before():\n    pass\n\n\ndef made():\n    pass\n\n\nclass C:\n    def m(self):\n        made()\n"
APP = "import lib\nfrom lib import C\n\n\ndef main():\n    lib.made()\n    C().m()\n"


def test_an_edit_above_changes_neither_ids_nor_edges() -> None:
    before = {row["path"]: row for row in linked({"app.py": APP, "lib.py": LIB})}
    edited = LIB.replace(
        "def before():\n    pass", '"""Text."""\n\nY = 1\n\n\ndef before(x=(1, 2)):\n    return [x, Y]'
    )
    after = {row["path"]: row for row in linked({"app.py": APP, "lib.py": edited})}
    assert after["app.py"] == before["app.py"]
    assert edges([after["lib.py"]], "CALLER_OF") == edges([before["lib.py"]], "CALLER_OF")


def test_a_module_with_another_name_is_another_module() -> None:
    before = linked({"app.py": APP, "lib.py": LIB})
    after = linked({"app.py": APP, "lab.py": LIB})
    assert ("r:app.py#main", "r:lib.py#made") in edges(before, "CALLER_OF")
    assert edges(after[:1], "CALLER_OF") == {("r:app.py#main", "::lib.made"), ("r:app.py#main", "::lib.C")} | {
        edge for edge in edges(after[:1], "CALLER_OF") if edge[1] == "::lib.C.m"
    }
    of_lib = {
        (src.replace("lib.py", "lab.py"), dst.replace("lib.py", "lab.py"))
        for src, dst in edges(before[1:], "CALLER_OF")
    }
    assert edges(after[1:], "CALLER_OF") == of_lib
    renamed = linked({"app.py": APP.replace("lib", "lab"), "lab.py": LIB})
    of_app = {(src, dst.replace("lib.py", "lab.py")) for src, dst in edges(before[:1], "CALLER_OF")}
    assert edges(renamed[:1], "CALLER_OF") == of_app


def test_of_several_files_with_one_name_the_nearest_is_taken() -> None:
    def named(name: str) -> str:
        return f"import util\nutil.{name}()\n"

    both = "def one():\n    pass\n\n\ndef two():\n    pass\n"
    files = {"a/util.py": both, "b/util.py": both, "a/app.py": named("one"), "b/app.py": named("two")}
    modules = {"a/util.py": "util", "b/util.py": "util", "a/app.py": "a.app", "b/app.py": "b.app"}
    rows = rows_of(unit(files, modules=modules))
    assert rows_of(shuffled(unit(files, modules=modules))) == rows
    assert edges(rows, "CALLER_OF") == {
        ("r:a/app.py#<module>", "r:a/util.py#one"),
        ("r:b/app.py#<module>", "r:b/util.py#two"),
    }


def test_a_stub_says_what_the_function_beside_it_returns() -> None:
    rows = linked(
        {
            "lib.py": "class Box:\n    def shut(self):\n        pass\ndef load(name):\n    return globals()[name]\n",
            "lib.pyi": "class Box:\n    def shut(self) -> None: ...\ndef load(name: str) -> Box: ...\n",
            "app.py": "from lib import load\nload('x').shut()\n",
        }
    )
    called = {dst for src, dst in edges(rows, "CALLER_OF", at_least=0) if src == "r:app.py#<module>"}
    assert "r:lib.py#load" in called and {"r:lib.py#Box.shut", "r:lib.pyi#Box.shut"} & called


def test_modules_that_take_everything_from_each_other() -> None:
    files = {
        "a.py": "from b import *\ndef f():\n    return g()\n",
        "b.py": "from c import *\nfrom a import *\ndef g():\n    return h()\n",
        "c.py": "from a import *\nfrom b import *\ndef h():\n    return f()\n",
    }
    rows = linked(files)
    assert edges(rows, "CALLER_OF") == {
        ("r:a.py#f", "r:b.py#g"),
        ("r:b.py#g", "r:c.py#h"),
        ("r:c.py#h", "r:a.py#f"),
    }
    unknown = linked({**files, "d.py": "from a import *\nnothing()\n"})
    assert calls(unknown)[-1]["reason"] == "unreachable"


def test_many_modules_that_take_everything_from_each_other_end() -> None:
    stars = "".join(f"from m{number} import *\n" for number in range(12))
    files = {f"m{number}.py": f"{stars}def f{number}():\n    missing()\n" for number in range(12)}
    assert {call["reason"] for call in calls(linked(files))} == {"unreachable"}


# types -------------------------------------------------------------------------------------------


def test_types_say_how_they_are_known() -> None:
    text = """
import os
class Box:
    def latch(self): ...
    def lid(self): ...
    def only(self): ...
def said(x: int) -> str: return os.getcwd()
def shaped(x): x.latch(), x.lid()
def guessed(x): x.only()
action = said
kind = Box
def gen(): yield 1
made = gen()
"""
    [row] = linked({"app.py": text})
    every = [edge for edge in row["edges"] if edge["kind"] in ("HAS_TYPE", "RETURNS_TYPE")]
    found = {
        (e["src"].partition("#")[2], e["dst"].removeprefix("::").removesuffix("@type")): (
            e["origin"],
            e["method"],
            round(e["confidence"], 2),
        )
        for e in every
    }
    assert found["said(x)", "builtins.int"] == ("annotation", "annotation", 0.95)
    assert found["said", "builtins.str"] == ("annotation", "annotation", 0.95)
    assert found["shaped(x)", "r:app.py#Box"] == ("flow", "shape", 0.6)
    assert found["guessed(x)", "r:app.py#Box"] == ("flow", "guess", 0.4)
    assert found[":action", "types.FunctionType"] == ("flow", "flow", 0.9)
    assert found[":kind", "builtins.type"] == ("flow", "flow", 0.9)
    assert found[":made", "types.GeneratorType"] == ("flow", "flow", 0.9)
