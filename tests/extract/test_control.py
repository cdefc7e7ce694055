"""Blocks, steps and flows, as a reader expects them. That none is missing is shown by `test_execution`."""

from __future__ import annotations

import ast
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from codelake.contracts.evidence import FIELDS
from codelake.extract.control.reaching import reaching
from codelake.extract.control.statements import control
from codelake.extract.names.scopes import names
from codelake.extract.text import decoded
from codelake.extract.tree import Tree, indexed, parse

from .graphs import Graphs
from .reading import Seen

SRC = Path(__file__).parents[2] / "src" / "codelake"
PROGRAMS = Path(__file__).parent / "programs"

NORMAL = {
    "straight": ("a; b = 1; pass", "<entry> -> a; b = 1; pass | a; b = 1; pass -> <exit>"),
    "if": (
        "if a: b\nelif c: d\nelse: e\nf",
        "<entry> -> a | a -true> b | a -false> c | c -true> d | c -false> e | b -> f | d -> f | e -> f | f -> <exit>",
    ),
    "if at the end": ("if a: b", "<entry> -> a | a -true> b | b -> <exit> | a -false> <exit>"),
    "constant test": ("if 0: a\nelse: b", "<entry> -> 0 | a -> <exit> | 0 -false> b | b -> <exit>"),
    "while": (
        "while a:\n  if b: break\n  if c: continue\n  d\nelse: e\nf",
        "<entry> -> a | a -true> b | b -true> break | b -false> c | c -true> continue | continue -> a | c -false> d |"
        "d -> a | a -false> e | e -> f | break -> f | f -> <exit>",
    ),
    "while true": ("while True: a\nb", "<entry> -> True | True -true> a | a -> True | b -> <exit>"),
    "for": (
        "for x in a: b\nelse: c\nd",
        "<entry> -> a | a -> for x in a | for x in a -true> x; b | x; b -> for x in a | for x in a -false> c; d |"
        "c; d -> <exit>",
    ),
    "and, or": (
        "x = a and b or c",
        "<entry> -> a | a -true> b | a -false> c | b -true> x = a and b or c | b -false> c | c -> x = a and b or c |"
        "x = a and b or c -> <exit>",
    ),
    "condition": (
        "if a and not (b or c): d",
        "<entry> -> a | a -true> b | b -false> c | c -false> d | d -> <exit> | a -false> <exit> | b -true> <exit> |"
        "c -true> <exit>",
    ),
    "conditional expression": (
        "f(a if b else c, d)",
        "<entry> -> f; b | f; b -true> a | f; b -false> c | a -> d; f(a if b else c, d); f(a if b else c, d) |"
        "c -> d; f(a if b else c, d); f(a if b else c, d) | d; f(a if b else c, d); f(a if b else c, d) -> <exit>",
    ),
    "comparisons": (
        "if a < b < c: d",
        "<entry> -> a; b | a; b -true> c | c -true> d | d -> <exit> | a; b -false> <exit> | c -false> <exit>",
    ),
    "assert": (
        "assert a, b\nc",
        "<entry> -> a | a -false> assert a, b | a -true> c | c -> <exit>",
    ),
    "try": (
        "try: a\nexcept E as e: b\nexcept F: c\nelse: d\nf",
        "<entry> -> a | a -> d | E -true> except E as e; b | E -false> F | F -true> c | d -> f |"
        "except E as e; b -> f | c -> f | f -> <exit>",
    ),
    "finally": (
        "def g():\n  while a:\n    try:\n      if b: break\n      if c: return d\n      e\n    finally: f\n    h",
        "<entry> -> a | a -true> b | b -true> break | break -> f | b -false> c | c -true> return d | return d -> f |"
        "c -false> e | e -> f | f -> <exit> | f -> h | h -> a | a -false> <exit>",
    ),
    "finally that branches": (
        "try: a\nfinally:\n  if b: c\nd",
        "<entry> -> a | a -> b | b -true> c | c -> <none> | b -false> <none> | <none> -> d | d -> <exit>",
    ),
    "finally that returns": (
        "def f():\n  try: return a\n  finally: return b",
        "<entry> -> return a | return a -> return b | return b -> <exit>",
    ),
    "except*": (
        "try: a\nexcept* E: b\nexcept* F as f: c\nd",
        "<entry> -> a | E -true> b | E -false> F | b -> F | F -true> except* F as f; c | F -false> <none> |"
        "except* F as f; c -> <none> | a -> d | <none> -> d | d -> <exit>",
    ),
    "with": (
        "with a as b, c: d\ne",
        "<entry> -> a | a -> b; c | b; c -> d | d -> c | c -> a as b; e | a as b; e -> <exit>",
    ),
    "with and return": (
        "def f():\n  with a:\n    if b: return c\n    if d: return e\n  g",
        "<entry> -> a | a -> b | b -true> return c | return c -> a | a -> <exit> | b -false> d | d -true> return e |"
        "return e -> a | d -false> a; g | a; g -> <exit>",
    ),
    "match": (
        "match a:\n  case [x, y] if b: c\n  case 1: d\n  case z: e\nf",
        "<entry> -> a; [x, y] | a; [x, y] -true> x; y; b | x; y; b -true> c | a; [x, y] -false> 1 | x; y; b -false> 1 |"
        "1 -true> d | 1 -false> z; e | c -> f | d -> f | z; e -> f | f -> <exit>",
    ),
    "match nothing": (
        "match a:\n  case 1: b\nc",
        "<entry> -> a; 1 | a; 1 -true> b | b -> c | a; 1 -false> c | c -> <exit>",
    ),
    "unreachable": (
        "def f():\n  return a\n  b",
        "<entry> -> return a | return a -> <exit> | b -> <exit>",
    ),
    "outside of a loop": ("break\na", "<entry> -> break; a | break; a -> <exit>"),
    "augmented": (
        "x += a or b",
        "<entry> -> x; a | x; a -false> b | x; a -true> x += a or b | b -> x += a or b | x += a or b -> <exit>",
    ),
    "comprehension": (
        "[x for x in a if b for y in c if d]",
        "<entry> -> x in a if b | x in a if b -true> x; b | x; b -false> x in a if b | x; b -true> c |"
        "c -> y in c if d | y in c if d -false> x in a if b | y in c if d -true> y; d | y; d -false> y in c if d |"
        "y; d -true> x | x -> y in c if d | x in a if b -false> <exit>",
    ),
    "lambda": ("lambda: a and b", "<entry> -> a | a -true> b | a -false> <exit> | b -> <exit>"),
}

RAISED = {
    "nothing": ("pass; 1; x = 2; global x", ""),
    "once a block": ("a; b; c", "a; b; c -> <raise>"),
    "name of a class": ("class A: x = 1", "x = 1 -> <raise>"),
    "return": ("def f():\n  if a: return 1\n  return b", "a -> <raise> | return b -> <raise>"),
    "handlers": (
        "try: a\nexcept E: b\nexcept F: c\nelse: d",
        "a -> E | E -> <raise> | b -> <raise> | F -> <raise> | c -> <raise> | d -> <raise>",
    ),
    "bare handler": ("try: a\nexcept: b", "a -> b | b -> <raise>"),
    "finally": (
        "try: a\nexcept E: b\nelse: c\nfinally: d\ne",
        "a -> E | E -> d | b -> d | c -> d | d -> <raise> | e -> <raise>",
    ),
    "finally that never sees one": ("try: pass\nfinally: pass", ""),
    "finally in finally": (
        "try:\n  try: a\n  finally: b\nfinally: c",
        "a -> b | b -> c | c -> <raise>",
    ),
    "with": ("with a as b: c", "a -> <raise> | b; c -> a as b | a as b -> <raise>"),
    "with in try": (
        "try:\n  with a: b\nexcept E: c",
        "a -> E | b -> a | a -> E | E -> <raise> | c -> <raise>",
    ),
    "raise": ("try: raise A\nexcept E: raise", "raise A -> E | E -> <raise> | raise -> <raise>"),
    "except*": (
        "try: a\nexcept* E: b\nexcept* F: c",
        "a -> E | E -> <raise> | b -> F | F -> <raise> | c -> <none> | <none> -> <raise>",
    ),
    "generator": ("def f(): yield", "<entry> -> <raise> | yield -> <raise>"),
    "coroutine": ("async def f(): await a", "<entry> -> <raise> | await a -> <raise>"),
    "definition": ("def g():\n  def f(a, *b): pass\n  x = 1", ""),
}


def expected(flows: str) -> Counter[str]:
    return Counter(flow.strip() for flow in flows.split("|") if flow.strip())


@pytest.mark.parametrize("name", NORMAL)
def test_control_flows(name: str) -> None:
    source, flows = NORMAL[name]
    assert Counter(Graphs(source).flows()) == expected(flows)


@pytest.mark.parametrize("name", RAISED)
def test_exceptions_flow(name: str) -> None:
    source, flows = RAISED[name]
    graphs = Graphs(source)
    scope = 1 if name == "definition" else None
    assert Counter(graphs.flows(scope, exceptions=True)) == expected(flows)


def test_a_definition_is_a_step_of_the_scope_around() -> None:
    graphs = Graphs("@a\ndef f(x=b and c, *, y: d = 1) -> e: g")
    head = "d; e; def f(x=b and c, *, y"
    flows = f"<entry> -> a; b | a; b -true> c | a; b -false> {head} | c -> {head} | {head} -> <exit>"
    assert Counter(graphs.flows(0)) == expected(flows)


def test_blocks_have_spans() -> None:
    graphs = Graphs("def f():\n  for x in a:\n    b = 1\n    c\n  try: d\n  except E as e: g\n  finally:\n    if h: i")
    starts, ends = graphs.blocks[2:]
    found = [graphs.text(s, e) for s, e, scope in zip(starts, ends, graphs.blocks[0], strict=True) if scope]
    assert sorted(found) == sorted(
        ["", "", "", "a", "for x in a", "x in a: b = 1 c", "d", "E", "except E as e: g", "h", "i", ""]
    )
    assert (starts[:3].tolist(), ends[:3].tolist()) == (
        [0, len(graphs.tree.text.utf8), starts[2]],
        [0, ends[1], ends[2]],
    )


def test_a_block_without_steps_is_where_the_next_one_begins() -> None:
    source = "x\ndef f():\n try:\n  a\n finally:\n  try:\n   b\n  except E:\n   c\n"
    blocks = Seen(source).rows("blocks")
    places = [(row["start_byte"], row["end_byte"]) for row in blocks if row["kind"] == "code" and row["scope"] == 1]
    assert (source.index("b"), source.index("b")) in places
    assert all(source.index("def") <= start <= end <= len(source) for start, end in places)


def test_an_error_is_a_step_and_what_could_be_read_follows() -> None:
    graphs = Graphs("a = 1\nb c $\nif d: e\n", is_broken=True)
    nodes = [graphs.tree.nodes[at].__class__.__name__ for at in graphs.steps[1]]
    assert nodes[:2] == ["Assign", "Error"]
    assert {"d -true> e", "d -false> <exit>"} <= {flow.rpartition("; ")[2] for flow in graphs.flows(0)}


SIMPLE = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Pass),
    *(ast.Break, ast.Continue, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Global),
)


def all_sources() -> list[Path]:
    return [*SRC.rglob("*.py"), *PROGRAMS.glob("*.py")]


def extracted(source: bytes) -> Tree:
    text = decoded(source)
    assert text is not None
    tree = indexed(parse(text), text)
    names(tree)
    control(tree)
    reaching(tree)
    return tree


def test_graphs_are_whole() -> None:
    """Every simple statement is a step, once; blocks, steps and flows keep within their scopes."""
    for file in all_sources():
        tree = extracted(file.read_bytes())
        found, known = tree.control, tree.names
        assert found is not None and known is not None
        scopes = found.block_scopes
        steps = Counter(found.step_nodes)
        assert {n.at for n in tree.every(*SIMPLE)} == {at for at in steps if isinstance(tree.nodes[at], SIMPLE)}
        assert {at for at, n in steps.items() if n > 1} <= {n.at for n in tree.every(ast.withitem, ast.MatchMapping)}
        assert all(scopes[s] == scopes[d] for s, d in zip(found.flow_sources, found.flow_targets, strict=True))
        for block, at in zip(found.step_blocks, found.step_nodes, strict=True):
            opens = tree.nodes[at].__class__ is ast.withitem or tree.nodes[at].__class__ is ast.comprehension
            assert opens or known.scope_of[at] == scopes[block]
        runs = [block for block, _ in groupby(found.step_blocks)]
        assert len(runs) == len(set(runs)), "the steps of a block follow each other"
        assert sorted(found.written) == [b for b, kind in enumerate(found.block_kinds) if kind == "code"]


def test_rows_have_the_fields_of_the_contract() -> None:
    graphs = Graphs("x = 1\nif x: y")
    for column, rows in (("blocks", graphs.blocks), ("steps", graphs.steps), ("flows", graphs.rows)):
        assert len(rows) == len(FIELDS[column])
        assert len({len(values) for values in rows}) == 1


N = 5000
LARGE = {
    "statements": "".join(f"x{i % 500} = f(x{i * 7 % 500})\n" for i in range(20_000)),
    "ifs": "def f(a):\n" + "".join(f" if a > {i}:\n  y{i % 50} = y\n" for i in range(N)),
    "ifs of one name": "def f(a):\n" + "".join(f" if a > {i}:\n  x = {i}\n" for i in range(N)) + " return x\n",
    "elifs": "def f(a):\n if a:\n  x = 1\n" + "".join(f" elif a > {i} and b:\n  x = {i}\n" for i in range(N)) + " x",
    "operands": "x = " + " or ".join(f"a{i}" for i in range(N)),
    "cases": "match a:\n" + "".join(f" case [{i}, y]:\n  x = y\n" for i in range(N // 2)),
    "handlers": "".join("try:\n x = a\nexcept E as e:\n y = e\n" for _ in range(N)),
    "finallys": "def f():\n" + "".join(f" try:\n  if a: return x\n  x{i} = 1\n finally:\n  b\n" for i in range(N // 5)),
    "returns": "def f():\n with a:\n" + "".join(f"  if b:\n   return x\n  x = {i}\n" for i in range(N // 2)),
    "breaks": "".join("for i in a:\n with b:\n  if c: break\n  x = i\n  if d: break\n" for _ in range(N // 5)),
}


@pytest.fixture
def deep() -> Iterator[None]:
    """As extractors are run. The parser, too, needs more than the default for thousands of `elif`."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize("name", LARGE)
def test_time_grows_with_the_size(name: str) -> None:
    """What is quadratic here takes far longer than this."""
    text = decoded(LARGE[name].encode())
    assert text is not None
    tree = indexed(parse(text), text)
    names(tree)
    start = time.process_time()
    control(tree)
    reaching(tree)
    assert time.process_time() - start < 3
    assert not tree.problems
