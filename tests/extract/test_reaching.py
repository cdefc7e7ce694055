"""Which definition reaches which use, as a reader expects it. That none is missing is shown by `test_execution`."""

from __future__ import annotations

import pytest

from codelake.extract.control import reaching

from .graphs import Graphs

# Names, with the line of a definition and that of a use; a function is in line 1.
CASES: dict[str, tuple[str, str]] = {
    "parameters": ("def f(a, /, b, *c, d, **e):\n  a, b, c, d, e\n  b = 1\n  b", "a12 b12 c12 d12 e12 b34"),
    "stores kill": ("x = 1\nx = 2\nx", "x23"),
    "branches join": ("def f(a):\n  if a:\n    x = 1\n  else:\n    x = 2\n  x", "a12 x36 x56"),
    "loops come back": ("def f():\n  x = 1\n  while x:\n    x = x + 1\n  x", "x23 x24 x43 x44 x25 x45"),
    "an item may be missing": ("def f(a):\n  x = 1\n  for x in a:\n    x\n  x", "a13 x34 x25 x35"),
    "what is iterated is loaded first": ("def f(x):\n  for x in x:\n    pass\n  x", "x12 x14 x24"),
    "value before target": ("def f(x):\n  x = x\n  x = y = x\n  x, y", "x12 x23 x34 y34"),
    "target loads what was stored": ("def f(i, a):\n  i, a[i] = 1, i", "i12 i22 a12"),
    "augmented": ("def f(x):\n  x += x\n  x", "x12 x23"),
    "augmented, with a branch": ("def f(x):\n  x += x or 1\n  x", "x12 x23"),
    "annotated": ("def f(x):\n  x: int = x\n  y: x\n  x", "x12 x23 x24"),
    "deleted": ("def f(x, a):\n  if a:\n    del x\n  x", "a12 x13 x14"),
    "walrus": ("def f(x):\n  g(x, (x := x), x)\n  x", "x12 x22 x23"),
    "walrus in a branch": ("def f(x, a):\n  a and (x := 1)\n  x", "a12 x13 x23"),
    "walrus of a dictionary": ("def f(x):\n  {(x := 1): x}", "x22"),
    "walrus in a comprehension": ("def f(y):\n  [y := x for x in z]\n  y", "x22 y13 y23"),
    "walrus in a comprehension of a module": ("[y := x for x in z]\ny", "x11 y12"),
    "comprehension": ("def f(x):\n  [x for x in x if x]\n  x", "x12 x22 x13"),
    "free names are not joined here": ("def f(x):\n  def g():\n    return x\n  return x", "x14"),
    "names in cells are": ("def f(x):\n  x = 1\n  def g():\n    return x\n  return x, g", "x25 g35"),
    "globals are not": ("x = 1\ndef f():\n  global x\n  x = 2\n  x\nx", "x16"),
    "defaults are evaluated outside": ("def f(x):\n  def g(x=x): x\n  x", "x12 x22 x13"),
    "decorators come before the name": ("f = 1\n@f\ndef f(): pass\nf", "f12 f34"),
    "class": ("x = 1\nclass A:\n  y = x\n  x = y\n  x\nA", "y34 x45 A26"),
    "imports": ("import a.b, a.c as c\nfrom d import e as a\na, c", "a23 c13"),
    "with": ("with a as x:\n  x = f(x)\nx", "x12 x13 x23"),
    "handler": (
        "def f():\n  x = 1\n  try:\n    x = g(x)\n    x = h(x)\n  except E:\n    x\n  x",
        "x24 x45 x27 x47 x57 x28 x48 x58",
    ),
    "a handler's name ends with it": (
        "def f():\n  e = 1\n  try: g()\n  except E as e:\n    e\n    e = 2\n    e\n  e",
        "e45 e67 e28",
    ),
    "however it is left": ("def f():\n  for i in a:\n    try: g()\n    except E as e:\n      break\n  e", ""),
    # `finally` has one copy: what came in by an exception or a return may seem to go on.
    "finally": ("def f():\n  x = 1\n  try:\n    x = g()\n  finally:\n    x\n  x", "x26 x46 x27 x47"),
    "return through a finally": (
        "def f(a):\n  x = 1\n  try:\n    if a: return\n    x = 2\n  finally: pass\n  x",
        "a14 x27 x57",
    ),
    "return through a with": ("def f(a):\n  x = 1\n  with b:\n    if a:\n      x = 2\n      return\n  x", "a14 x27"),
    "captures": (
        "def f(a, x):\n  match a:\n    case [x, 1]: x\n    case {'k': y, **z} if x: y, z\n  x",
        "a12 x33 x14 y44 z44 x15 x35",
    ),
    "alternatives capture": ("def f(a):\n  match a:\n    case [x, 1] | [\n        1, x]:\n      x", "a12 x35 x45"),
    "patterns load": ("def f(a, A):\n  match a:\n    case [A.b as A]: A\n  A", "a12 A13 A33 A14 A34"),
    "unreachable": ("def f(x):\n  return x\n  x = 1\n  x", "x12"),
    "never true": ("x = 1\nif 0:\n  x = 2\nx", "x14"),
    "private": ("class A:\n  __x = 1\n  __x", "_A__x23"),
    "generator": ("def f():\n  x = yield\n  try:\n    x = yield x\n  finally:\n    x", "x24 x26 x46"),
    "conditional expression": ("def f(a):\n  x = 1 if a else a\n  (x := a) if x else x\n  x", "a12 x23 a13 x24 x34"),
}  # fmt: skip


def read(pairs: str) -> set[tuple[str, int, int]]:
    return {(pair[:-2], int(pair[-2]), int(pair[-1])) for pair in pairs.split()}


@pytest.mark.parametrize("name", CASES)
def test_definitions_reach_uses(name: str) -> None:
    source, pairs = CASES[name]
    assert Graphs(source).reaches() == read(pairs)


def test_a_pair_is_of_references() -> None:
    graphs = Graphs("x = 1\nx += x")
    contexts = graphs.names.reference_contexts
    assert [(contexts[d], contexts[u]) for d, u in zip(graphs.definitions, graphs.uses, strict=True)] == [
        ("store", "load"),
        ("store", "load"),
    ]


def test_more_pairs_than_fit_are_left_out_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "MAX_PAIRS", 20)
    few = Graphs("def f(a):\n  x = 1\n" + "  if a: x = x + 1\n" * 4)
    many = Graphs("def g(): y = 1; y\ndef f(a):\n  x = 1\n" + "  if a: x = x + 1\n" * 20)
    assert not few.tree.problems
    assert [(p.kind, p.start_byte) for p in many.tree.problems] == [("too large", 18)]
    assert ("y", 1, 1) in many.reaches() and not any(name == "x" for name, _, _ in many.reaches())


def test_pairs_are_counted_over_all_scopes_of_a_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "MAX_PAIRS", 19)
    one = "def f(a):\n  x = 1\n" + "  if a: x = x + 1\n" * 4
    both = Graphs(one + one.replace("x", "y"))
    assert [p.kind for p in both.tree.problems] == ["too large"]
    assert ", with 10 before, are more than 19" in both.tree.problems[0].message
    assert {name for name, _, _ in both.reaches()} >= {"x"} and not any(name == "y" for name, _, _ in both.reaches())


def test_without_pairs_every_definition_is_seen_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "x = 1\n" + "if a: x = x + 1\n" * 3 + "x = 2\n"
    assert Graphs(source).leaving() == {5}
    monkeypatch.setattr(reaching, "MAX_PAIRS", 3)
    assert Graphs(source).leaving() == {1, 2, 3, 4, 5}
