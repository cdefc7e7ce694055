"""What names mean. The oracles are CPython's own: `symtable`, and the code that it compiles."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codelake.extract.text import decoded
from codelake.extract.tree import indexed
from tests.extract.oracles import bytecode, programs, symtables
from tests.extract.oracles.symtables import Difference, Named
from tests.extract.packages import sources_of

ORACLES_FIT = sys.version_info < (3, 12)
"""From 3.12 on, comprehensions are compiled into what they are in, and symtable shows them so."""
STDLIB = Path(sysconfig.get_paths()["stdlib"])
SAMPLE = (
    *("argparse", "ast", "codecs", "dataclasses", "enum", "functools", "inspect", "poplib", "typing", "asyncio/tasks"),
    *(
        "test/test_scope",
        "test/test_symtable",
        "test/test_named_expressions",
        "test/test_grammar",
        "test/test_coroutines",
    ),
    *("test/test_patma", "test/test_super", "test/test_fstring", "test/test_peepholer", "test/test_compile"),
    *(
        "test/test_exceptions",
        "test/test_with",
        "test/test_generators",
        "test/test_listcomps",
        "test/test_asyncgen",
    ),
)


def seen(source: str) -> Named:
    found = Named(source.encode())
    if ORACLES_FIT:
        _agree(found)
    return found


def _agree(found: Named) -> None:
    for oracle in (symtables, bytecode):
        assert [d for d in oracle.differences(found) if d[0] not in oracle.KNOWN] == []


def scope_name(found: Named, scope: int) -> str:
    return found.scopes["qualified_name"][scope] or "module"


def references(found: Named, *, of: str = "") -> list[str]:
    """`context name in scope: binding [scope of the target]` of each reference (of the names in `of`), in preorder."""
    made = []
    for at, symbol, context in zip(*found.references.values(), strict=True):
        node, scope = found.tree.nodes[at], scope_name(found, found.names.scope_of[at])
        if isinstance(node, ast.Attribute | ast.Subscript):
            assert symbol is None
            text = f"{context} {'.' + node.attr if isinstance(node, ast.Attribute) else '[]'} in {scope}"
            name = getattr(node, "attr", "[]")
        elif symbol is None:
            name = node.id
            text = f"{context} {name} in {scope}: unknown"
        else:
            name = found.symbols["name"][symbol]
            target = found.symbols["target"][symbol]
            where = (
                ""
                if target == symbol
                else " -"
                if target is None
                else f" {scope_name(found, found.symbols['scope'][target])}"
            )
            text = f"{context} {name} in {scope}: {found.symbols['binding'][symbol]}{where}"
        if not of or name in of.split():
            made.append(text)
    return made


def symbol(found: Named, scope: str, name: str) -> dict[str, Any]:
    place = found.scopes["qualified_name"].index(scope)
    return {field: values[found.of_scope[place][name]] for field, values in found.symbols.items()}


def flags(found: Named, scope: str, name: str) -> set[str]:
    return {
        field.removeprefix("is_") for field, value in symbol(found, scope, name).items() if field[:3] == "is_" and value
    }


def scopes(found: Named) -> list[str]:
    return [f"{kind} {name}" for kind, name in zip(found.scopes["kind"], found.scopes["qualified_name"], strict=True)]


def test_scopes_are_named_from_the_module_down() -> None:
    found = seen(
        "class A:\n"
        "    def m(self):\n"
        "        def inner(): return lambda: 0\n"
        "        f = lambda: (lambda: 1)\n"
        "        return [x for x in y], {x for x in y}, {x: x for x in y}, [x for x in y], (x for x in y)\n"
        "    def m(self): pass\n"
        "async def f(): pass\n"
    )
    assert scopes(found) == [
        "module ",
        "class A",
        "function A.m",
        "function A.m.inner",
        "lambda A.m.inner.<lambda1>",
        "lambda A.m.<lambda1>",
        "lambda A.m.<lambda1>.<lambda1>",
        "comprehension A.m.<listcomp1>",
        "comprehension A.m.<setcomp1>",
        "comprehension A.m.<dictcomp1>",
        "comprehension A.m.<listcomp2>",
        "comprehension A.m.<genexpr1>",
        "function A.m",
        "function f",
    ]
    assert found.scopes["name"][:5] == ["", "A", "m", "inner", "<lambda1>"]
    assert found.scopes["parent"] == [-1, 0, 1, 2, 3, 2, 5, 2, 2, 2, 2, 2, 1, 0]
    assert [scope_name(found, s) for s in found.names.body_scope.values()] == [
        q or "module" for q in found.scopes["qualified_name"]
    ]
    assert [found.tree.nodes[at].__class__.__name__ for at in found.scopes["node"]][:3] == [
        "Module",
        "ClassDef",
        "FunctionDef",
    ]


def test_what_a_definition_evaluates_outside_of_itself() -> None:
    found = seen("@deco(lambda: d)\ndef f(p: ann = default, *a: va, k: kann = kd, **kw: kwa) -> ret: body\n")
    outside = {"deco", "ann", "default", "va", "kann", "kd", "kwa", "ret"}
    assert {t.split()[1] for t in references(found) if "in module" in t} == {*outside, "f"}
    assert references(found, of="p a k kw body d") == [
        "load d in <lambda1>: global_implicit -",
        "store p in f: local",
        "store a in f: local",
        "store k in f: local",
        "store kw in f: local",
        "load body in f: global_implicit -",
    ]
    assert flags(found, "f", "p") == {"parameter"}
    found = seen("@deco\nclass C(base, metaclass=meta): body\n")
    assert references(found) == [
        "store C in module: local",
        "load deco in module: global_implicit -",
        "load base in module: global_implicit -",
        "load meta in module: global_implicit -",
        "load body in C: global_implicit -",
    ]
    found = seen("f = lambda x, *y, z=z, **w: (x, y, z, w)\n")
    assert references(found, of="z") == [
        "store z in <lambda1>: local",
        "load z in module: global_implicit -",
        "load z in <lambda1>: local",
    ]


def test_which_scope_evaluates_a_node() -> None:
    found = seen("def f(x: int = 1): return [y for y in x]\n")
    assert {
        node.__class__.__name__: scope_name(found, found.names.scope_of[node.at]) for node in reversed(found.tree.nodes)
    } == {
        "Module": "module",
        "FunctionDef": "module",
        "arguments": "module",
        "arg": "f",
        "Constant": "module",
        "Return": "f",
        "ListComp": "f",
        "comprehension": "f.<listcomp1>",
        "Name": "module",  # the first one: the annotation
    }


def test_the_first_iterable_of_a_comprehension_is_evaluated_outside() -> None:
    found = seen("def f(x):\n    return [x for x in x for y in x if y]\n")
    assert references(found) == [
        "store f in module: local",
        "store x in f: local",
        "load x in f.<listcomp1>: local",
        "store x in f.<listcomp1>: local",
        "load x in f: local",
        "store y in f.<listcomp1>: local",
        "load x in f.<listcomp1>: local",
        "load y in f.<listcomp1>: local",
    ]
    # In a class, the first iterable sees its names and the rest does not.
    found = seen("class C:\n    a = b = 1\n    z = [b for i in a]\n")
    assert references(found, of="a b")[2:] == ["load b in C.<listcomp1>: global_implicit -", "load a in C: local"]
    found = seen("x = [(lambda: i) for i in (j for j in k)]\n")
    assert references(found, of="i j k") == [
        "load i in <listcomp1>.<lambda1>: free <listcomp1>",
        "store i in <listcomp1>: cell",
        "load j in <genexpr1>: local",
        "store j in <genexpr1>: local",
        "load k in module: global_implicit -",
    ]


def test_closures_go_through_functions_and_around_classes() -> None:
    found = seen(
        "x = 0\n"
        "def f():\n"
        "    x = 1\n"
        "    class C:\n"
        "        x = 2\n"
        "        def m(self):\n"
        "            def n(): return x\n"
        "        y = x\n"
    )
    assert references(found, of="x") == [
        "store x in module: local",
        "store x in f: cell",
        "store x in f.C: local",
        "load x in f.C.m.n: free f",
        "load x in f.C: local",
    ]
    assert symbol(found, "f.C.m", "x")["binding"] == "free"  # hands it on
    assert flags(found, "f.C.m", "x") == set()
    found = seen("def f():\n    x = 1\n    class C:\n        y = x\n        def m(self): return y\n")
    assert references(found, of="x y") == [
        "store x in f: cell",
        "store y in f.C: local",
        "load x in f.C: free f",
        "load y in f.C.m: global_implicit -",
    ]


def test_globals_and_builtins() -> None:
    found = seen("x = 1\ndef f():\n    global y\n    y = x\n    print(z)\ndef g(): return y\n")
    assert references(found, of="x y z print") == [
        "store x in module: local",
        "store y in f: global_explicit module",
        "load x in f: global_implicit module",
        "load print in f: global_implicit -",
        "load z in f: global_implicit -",
        "load y in g: global_implicit module",
    ]
    assert flags(found, "f", "y") == {"assigned", "declared"}
    assert symbol(found, "", "y")["binding"] == "global_explicit"
    assert symbol(found, "", "y")["target"] == found.of_scope[0]["y"]
    assert flags(found, "", "y") == {"declared"}
    # A global declaration hides what an enclosing function has, from what is in it too.
    found = seen("def f():\n    x = 1\n    def g():\n        global x\n        def h(): return x\n    return x\n")
    assert references(found, of="x") == [
        "store x in f: local",
        "load x in f.g.h: global_implicit module",
        "load x in f: local",
    ]
    # But not from what is in a class that declares it.
    found = seen("def f():\n    x = 1\n    class C:\n        global x\n        x = 2\n        def h(self): return x\n")
    assert references(found, of="x") == [
        "store x in f: cell",
        "store x in f.C: global_explicit module",
        "load x in f.C.h: free f",
    ]


def test_nonlocals() -> None:
    found = seen("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n        del x\n")
    assert references(found, of="x") == [
        "store x in f: cell",
        "load x in f.g: free f",
        "store x in f.g: free f",
        "delete x in f.g: free f",
    ]
    assert flags(found, "f.g", "x") == {"assigned", "declared"}


def test_a_walrus_in_a_comprehension_binds_outside() -> None:
    found = seen("def f(a):\n    [[y := x for x in z] for z in a]\n    return y\n")
    assert references(found, of="y") == [
        "store y in f.<listcomp1>.<listcomp1>: free f",
        "load y in f: cell",
    ]
    assert flags(found, "f.<listcomp1>.<listcomp1>", "y") == {"assigned", "declared"}
    assert flags(found, "f", "y") == {"assigned", "referenced"}
    assert flags(found, "f.<listcomp1>", "y") == set()
    found = seen("any((y := x) for x in a)\nprint(y)\n")
    assert references(found, of="y") == [
        "store y in <genexpr1>: global_explicit module",
        "load y in module: global_explicit",
    ]
    found = seen("def f():\n    global y\n    [y := 1 for x in a]\n")
    assert references(found, of="y") == ["store y in f.<listcomp1>: global_explicit module"]
    found = seen("f = lambda: [y := 1 for x in a]\n")
    assert references(found, of="y") == ["store y in <lambda1>.<listcomp1>: free <lambda1>"]
    # One in the handler of a `try`, and the declaration in its `else`: symtable reads that first.
    seen("def f():\n    try: pass\n    except E: [y := 1 for x in a]\n    else:\n        global y\n")


def test_private_names() -> None:
    found = seen(
        "__x = 0\n"
        "class _C:\n"
        "    __x = 1\n"
        "    __y__ = 2\n"
        "    import __m, __n.o\n"
        "    def f(self, __p):\n"
        "        global __g\n"
        "        self.__x = __x, __p, __y__\n"
        "        class _: __q = __x\n"
        "    def __h(): pass\n"
        "    @__x\n"
        "    class D(__x): __x = __x\n"
    )
    assert references(found)[1:] == [
        "store _C in module: local",
        "store _C__x in _C: local",
        "store __y__ in _C: local",
        "store _C__m in _C: local",
        "store _C__n in _C: local",
        "store f in _C: local",
        "store self in _C.f: local",
        "store _C__p in _C.f: local",
        "store .__x in _C.f",
        "load self in _C.f: local",
        "load _C__x in _C.f: global_implicit -",
        "load _C__p in _C.f: local",
        "load __y__ in _C.f: global_implicit -",
        "store _ in _C.f: local",
        "store __q in _C.f._: local",  # a class of underscores has no private names
        "load __x in _C.f._: global_implicit module",
        "store _C__h in _C: local",
        "store D in _C: local",
        "load _C__x in _C: local",
        "load _C__x in _C: local",
        "store _D__x in _C.D: local",
        "load _D__x in _C.D: local",
    ]
    assert symbol(found, "_C.f", "_C__g")["binding"] == "global_explicit"
    assert "_C__g" in found.of_scope[0]
    assert flags(found, "_C", "_C__h") == {"assigned", "namespace"}


def test_super_uses_the_class() -> None:
    found = seen(
        "class C:\n    def f(self): super().f()\n    def g(self): return lambda: __class__\n    super\ndef h(): super\n"
    )
    assert symbol(found, "C.f", "__class__")["binding"] == "free"
    assert symbol(found, "C.f", "__class__")["target"] is None
    assert flags(found, "C.f", "__class__") == {"referenced"}
    assert symbol(found, "C.g", "__class__")["binding"] == "free"
    assert symbol(found, "C.g.<lambda1>", "__class__")["binding"] == "free"
    assert "__class__" not in found.of_scope[1]
    assert symbol(found, "h", "__class__")["binding"] == "global_implicit"


def test_imports() -> None:
    found = seen("import a.b.c, d as e, f.g as h\nfrom i import j, k as m\nfrom n import *\n")
    assert [t.split()[1] for t in references(found)] == ["a", "e", "h", "j", "m"]
    assert {t.split()[0] for t in references(found)} == {"store"}
    assert flags(found, "", "a") == {"imported"}
    assert [found.tree.nodes[at].__class__.__name__ for at in found.references["node"]] == ["alias"] * 5


def test_handlers_loops_and_contexts() -> None:
    found = seen(
        "try: pass\n"
        "except E as e: e\n"
        "except (A, B): pass\n"
        "for i, (j, *k) in x: pass\n"
        "with a as b, c as (d, f[0], g.h): pass\n"
    )
    assert references(found) == [
        "store e in module: local",
        "load E in module: global_implicit -",
        "load e in module: local",
        "load A in module: global_implicit -",
        "load B in module: global_implicit -",
        "store i in module: local",
        "store j in module: local",
        "store k in module: local",
        "load x in module: global_implicit -",
        "load a in module: global_implicit -",
        "store b in module: local",
        "load c in module: global_implicit -",
        "store d in module: local",
        "store [] in module",
        "load f in module: global_implicit -",
        "store .h in module",
        "load g in module: global_implicit -",
    ]


def test_patterns() -> None:
    found = seen(
        "def f(s):\n"
        "    match s:\n"
        "        case [a, *b]: pass\n"
        "        case {'k': c, K.x: _, **d}: pass\n"
        "        case P(e, x=g) as h if a: pass\n"
        "        case (1 | 2) | None: pass\n"
        "        case [*_]: pass\n"
        "        case _: pass\n"
    )
    assert references(found)[3:] == [
        "store a in f: local",
        "store b in f: local",
        "store d in f: local",
        "load .x in f",
        "load K in f: global_implicit -",
        "store c in f: local",
        "store h in f: local",
        "load P in f: global_implicit -",
        "store e in f: local",
        "store g in f: local",
        "load a in f: local",
    ]


def test_assignments_deletions_and_calls() -> None:
    found = seen("x = y = 1\nx += 1\nx.a += 1\nx[y] += 1\ndel x, y.a, y[0]\nf(x=y)\n")
    assert references(found) == [
        "store x in module: local",
        "store y in module: local",
        "load x in module: local",
        "store x in module: local",
        "load .a in module",
        "store .a in module",
        "load x in module: local",
        "load [] in module",
        "store [] in module",
        "load x in module: local",
        "load y in module: local",
        "delete x in module: local",
        "delete .a in module",
        "load y in module: local",
        "delete [] in module",
        "load y in module: local",
        "load f in module: global_implicit -",
        "load y in module: local",
    ]
    names = found.names
    assert names.loads.keys() & names.stores.keys() == {n.target.at for n in found.tree.every(ast.AugAssign)}
    for context, places in (
        ("load", names.loads),
        ("store", names.stores),
        ("delete", names.deletes),
        ("declare", names.declares),
    ):
        assert list(places.items()) == [
            (at, i)
            for i, (at, c) in enumerate(zip(found.references["node"], found.references["context"], strict=True))
            if c == context
        ]
    only_deleted = seen("def f():\n    del x\n")
    assert references(only_deleted, of="x") == ["delete x in f: local"]


def test_annotated_names() -> None:
    found = seen(
        "a: int\nb: int = 1\n(c): int\n(d): int = 1\ne.f: int\ne[0]: int = 1\ndef g():\n    h: T\n    i: T = h\n"
    )
    assert references(found, of="a b c d e f [] h i T") == [
        "declare a in module: local",
        "store b in module: local",
        "declare c in module: unknown",
        "store d in module: local",
        "declare .f in module",
        "load e in module: global_implicit -",
        "store [] in module",
        "load e in module: global_implicit -",
        "declare h in g: local",
        "load T in g: global_implicit -",
        "store i in g: local",
        "load T in g: global_implicit -",
        "load h in g: local",
    ]
    assert flags(found, "", "a") == {"assigned", "annotated"}
    assert flags(found, "", "d") == {"assigned"}
    assert "c" not in found.of_scope[0]


def test_annotations_that_are_kept_as_text_make_no_symbols() -> None:
    found = seen(
        "from __future__ import annotations\n"
        "A = 1\n"
        "def f(x: A, y: B) -> A.z:\n"
        "    L = 2\n"
        "    def g(w: L, v: [L for q in A]) -> (lambda u: (u, L)): pass\n"
        "class C:\n"
        "    K = 3\n"
        "    k: K\n"
        "    def m(self, k: K, c: C): pass\n"
    )
    assert references(found, of="A B L K C u q") == [
        "store A in module: local",
        "load A in module: local",
        "load B in module: unknown",
        "load A in module: local",
        "store L in f: local",
        "load L in f: local",
        "load L in f.<listcomp1>: free f",
        "store q in f.<listcomp1>: local",
        "load A in f: local",
        "store u in f.<lambda1>: local",
        "load u in f.<lambda1>: local",
        "load L in f.<lambda1>: free f",
        "store C in module: local",
        "store K in C: local",
        "load K in C: local",
        "load K in C: local",
        "load C in C: local",
    ]
    assert flags(found, "", "A") == {"assigned"}
    assert "A" not in found.of_scope[1]
    assert "B" not in found.of_scope[0]


def test_generators_and_coroutines() -> None:
    found = seen(
        "def a(): yield\n"
        "def b(): yield from a()\n"
        "async def c(): pass\n"
        "async def d(): yield\n"
        "async def e():\n"
        "    [x async for x in y]\n"
        "    (await x for x in y)\n"
        "    [[await x for x in y] for z in y]\n"
        "    [x for x in await y]\n"
        "    ([x async for x in z] for z in y)\n"
        "f = lambda: (yield)\n"
        "g = (x for x in y)\n"
    )
    rows = zip(*(found.scopes[key] for key in ("qualified_name", "is_generator", "is_coroutine")), strict=True)
    assert {name: (generates, waits) for name, generates, waits in rows} == {
        "": (False, False),
        "a": (True, False),
        "b": (True, False),
        "c": (False, True),
        "d": (True, True),
        "e": (False, True),
        "e.<listcomp1>": (False, True),
        "e.<genexpr1>": (True, True),
        "e.<listcomp2>": (False, True),
        "e.<listcomp2>.<listcomp1>": (False, True),
        "e.<listcomp3>": (False, False),
        "e.<genexpr2>": (True, True),
        "e.<genexpr2>.<listcomp1>": (False, True),
        "<lambda1>": (True, False),
        "<genexpr1>": (True, False),
    }


def test_looking_names_up_later() -> None:
    found = seen(
        "import a\n"
        "def f(b):\n"
        "    class C:\n"
        "        c = __d = 1\n"
        "        def m(self):\n"
        "            global g\n"
        "            return print\n"
    )
    scope = found.scopes["qualified_name"].index
    looked_up = found.names.symbol_in

    def owner(where: str, name: str) -> str | None:
        symbol = looked_up(scope(where), name)
        return (
            None
            if symbol is None
            else f"{scope_name(found, found.symbols['scope'][symbol])}: {found.symbols['name'][symbol]}"
        )

    assert owner("f.C.m", "self") == "f.C.m: self"
    assert owner("f.C.m", "c") is None
    assert owner("f.C", "c") == "f.C: c"
    assert owner("f.C", "__d") == "f.C: _C__d"
    assert owner("f.C.m", "b") == "f: b"
    assert owner("f.C.m", "C") == "f: C"
    assert owner("f.C.m", "a") == "module: a"
    assert owner("f.C.m", "g") == "module: g"
    assert owner("f.C.m", "print") is None
    assert owner("f", "nothing") is None
    assert owner("", "a") == "module: a"


def test_what_the_compiler_refuses_is_bound_all_the_same() -> None:
    found = Named(
        b"nonlocal a\n"
        b"a = 1\n"
        b"def f(b, b):\n"
        b"    global b\n"
        b"    nonlocal c\n"
        b"    c = b\n"
        b"    def g(): return c\n"
        b"    def h():\n"
        b"        nonlocal d\n"
        b"        return d\n"
        b"    from m import *\n"
        b"class C:\n"
        b"    [w := 1 for x in y]\n"
        b"    nonlocal __class__\n"
        b"def k():\n"
        b"    e = 1\n"
        b"    def m():\n"
        b"        e\n"
        b"        global e\n"
        b"        nonlocal e\n"
        b"(yield await z)\n"
        b"[i := 1 for i in j]\n"
        b"return n\n"
    )
    assert references(found, of="a b c d e w i z n") == [
        "store a in module: local",
        "store b in f: global_explicit module",
        "store b in f: global_explicit module",
        "store c in f: cell",
        "load b in f: global_explicit module",
        "load c in f.g: free f",
        "load d in f.h: global_implicit -",
        "store w in C.<listcomp1>: local",
        "store e in k: local",
        "load e in k.m: global_explicit module",
        "load z in module: global_implicit -",
        "store i in <listcomp1>: global_explicit module",
        "store i in <listcomp1>: global_explicit module",
        "load n in module: global_implicit -",
    ]
    assert (found.scopes["is_generator"][0], found.scopes["is_coroutine"][0]) == (True, True)


class _TypeVar(ast.expr):
    _fields = ("name", "bound")


class _FunctionDef(ast.FunctionDef):
    _fields = (*ast.FunctionDef._fields, "type_params")


class _ClassDef(ast.ClassDef):
    _fields = (*ast.ClassDef._fields, "type_params")


class _TypeAlias(ast.stmt):
    _fields = ("name", "type_params", "value")


for own in (_TypeVar, _FunctionDef, _ClassDef, _TypeAlias):
    own.__name__ = own.__name__.removeprefix("_")


class _Typed(ast.NodeTransformer):
    """`@types(T, U=bound)` and `alias(X, value, T)` as what recovered trees hold for the syntax of later Pythons."""

    def visit_FunctionDef(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.decorator_list and getattr(node.decorator_list[-1].func, "id", "") == "types":
            node.__class__ = _FunctionDef if isinstance(node, ast.FunctionDef) else _ClassDef
            node.type_params = self.parameters(node.decorator_list.pop())
        return node

    visit_ClassDef = visit_FunctionDef

    def visit_Expr(self, node: Any) -> Any:
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "alias":
            name, value = node.value.args[:2]
            name.ctx = ast.Store()
            del node.value.args[:2]
            return ast.copy_location(_TypeAlias(name=name, type_params=self.parameters(node.value), value=value), node)
        return node

    def parameters(self, call: ast.Call) -> list[Any]:
        made = [_TypeVar(name=arg.id, bound=None) for arg in call.args if isinstance(arg, ast.Name)]
        made += [_TypeVar(name=keyword.arg, bound=keyword.value) for keyword in call.keywords]
        return [ast.copy_location(parameter, call) for parameter in made]


def typed(source: str) -> Named:
    text = decoded(source.encode())
    assert text is not None
    return Named.of(indexed(_Typed().visit(ast.parse(source)), text))


def test_type_parameters() -> None:
    found = typed("@deco\n@types(T, U=bound)\ndef f(x: T = default) -> U: return lambda: T\n")
    assert scopes(found) == ["module ", "type <type1>", "function f", "type <type1>.<type1>", "lambda f.<lambda1>"]
    assert found.scopes["parent"] == [-1, 0, 1, 1, 2]
    assert references(found) == [
        "store f in module: local",
        "load deco in module: global_implicit -",
        "store T in <type1>: cell",
        "store U in <type1>: local",
        "load bound in <type1>.<type1>: global_implicit -",
        "store x in f: local",
        "load T in <type1>: cell",
        "load default in module: global_implicit -",
        "load U in <type1>: local",
        "load T in f.<lambda1>: free <type1>",
    ]
    found = typed("@types(T)\nclass C(Base[T]):\n    y: T\n    def m(self): return T\n")
    assert references(found, of="C Base T") == [
        "store C in module: local",
        "store T in <type1>: cell",
        "load Base in <type1>: global_implicit -",
        "load T in <type1>: cell",
        "load T in C: free <type1>",
        "load T in C.m: free <type1>",
    ]
    assert scope_name(found, found.names.body_scope[1]) == "C"


def test_type_aliases() -> None:
    found = typed("alias(X, dict[T, X], T)\nalias(Y, X)\n")
    assert scopes(found) == ["module ", "type <type1>", "type <type1>.<type1>", "type <type2>"]
    assert references(found, of="X Y T") == [
        "store X in module: local",
        "store T in <type1>: cell",
        "load T in <type1>.<type1>: free <type1>",
        "load X in <type1>.<type1>: global_implicit module",
        "store Y in module: local",
        "load X in <type2>: global_implicit module",
    ]


def test_type_parameters_see_the_class_that_they_are_in() -> None:
    found = typed(
        "def f():\n"
        "    A = B = 0\n"
        "    class C:\n"
        "        A = 1\n"
        "        @types(T=A)\n"
        "        def m(self, a: A, b: B): return A\n"
    )
    assert references(found, of="A B")[2:] == [
        "store A in f.C: local",
        "load A in f.C.<type1>.<type1>: global_implicit f.C",
        "load A in f.C.<type1>: global_implicit f.C",
        "load B in f.C.<type1>: free f",
        "load A in f.C.m: free f",
    ]
    found = typed("class C:\n    A = 1\n    @types(T)\n    def m(self, a: 'A'): pass\n")
    scope = found.scopes["qualified_name"].index
    assert found.names.symbol_in(scope("C.<type1>"), "A") == found.of_scope[scope("C")]["A"]
    assert found.names.symbol_in(scope("C.m"), "A") is None


@pytest.mark.skipif(not ORACLES_FIT, reason="comprehensions are compiled inline")
def test_the_oracles_agree_with_the_standard_library() -> None:
    for name in SAMPLE:
        file = STDLIB / f"{name}.py"
        if file.exists() or not name.startswith("test/"):  # which some distributions leave out
            _agree(Named(file.read_bytes()))


@pytest.mark.skipif(not ORACLES_FIT, reason="comprehensions are compiled inline")
def test_the_oracles_agree_with_programs_at_random() -> None:
    for source in programs.programs(0, 60):
        _agree(Named(source.encode()))


@pytest.mark.skipif(not ORACLES_FIT, reason="comprehensions are compiled inline")
def test_the_oracles_notice() -> None:
    source = b"x = 1\ndef f(y):\n    def g(): return x, y\n    return [z.a for z in y]\n"
    assert {kind for oracle in (symtables, bytecode) for kind, _ in oracle.differences(Named(source))} == {
        "implicit argument",
        "iterator of a comprehension",
    }
    changed = Named(source)
    changed.symbols["binding"][changed.of_scope[2]["x"]] = "local"
    assert {kind for kind, _ in symtables.differences(changed)} - symtables.KNOWN.keys() == {"is_global", "is_local"}
    assert {kind for kind, _ in bytecode.differences(changed)} - bytecode.KNOWN.keys() == {
        "reference without instruction",
        "instruction without reference",
    }
    changed = Named(source)
    changed.symbols["binding"][changed.of_scope[1]["y"]] = "local"  # which symtable does not tell from a cell
    assert {kind for kind, _ in symtables.differences(changed)} <= symtables.KNOWN.keys()
    assert "cells" in {kind for kind, _ in bytecode.differences(changed)}
    changed = Named(source)
    del changed.of_scope[3]["z"]
    assert "identifiers" in {kind for kind, _ in symtables.differences(changed)}
    changed = Named(source)
    for column in changed.references.values():
        column.pop()
    assert {kind for kind, _ in bytecode.differences(changed)} - bytecode.KNOWN.keys() == {
        "instruction without reference"
    }


PACKAGES = (
    "stdlib",
    "Django",
    "sympy",
    "SQLAlchemy",
    "pandas",
    "numpy",
    "pyspark",
    "sqlglot",
    "polars",
    "hypothesis",
    "mypy",
    "pip",
    "rich",
    "hatchling",
)


@pytest.mark.soak
@pytest.mark.skipif(not ORACLES_FIT, reason="comprehensions are compiled inline")
@pytest.mark.parametrize("package", PACKAGES)
def test_the_oracles_agree_with_whole_packages(package: str, tmp_path: Path) -> None:
    installed = Path(sysconfig.get_paths()["purelib"]) / package
    files = sorted(installed.rglob("*.py")) if installed.is_dir() else sources_of(package, tmp_path)
    counts, wrong = compared(file.read_bytes() for file in files)
    print(f"\n{package}: {dict(counts)}")
    assert not wrong, wrong[:10]


@pytest.mark.soak
@pytest.mark.skipif(not ORACLES_FIT, reason="comprehensions are compiled inline")
def test_the_oracles_agree_with_many_programs_at_random() -> None:
    counts, wrong = compared(source.encode() for source in programs.programs(1, 3000))
    print(f"\n{dict(counts)}")
    assert not wrong, wrong[:10]


def compared(files: Iterable[bytes]) -> tuple[Counter[str], list[Difference]]:
    """How much was compared and how often each known difference came, and what is wrong."""
    counts: Counter[str] = Counter()
    wrong: list[Difference] = []
    for raw in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(raw, "file", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            counts["refused by the compiler"] += 1
            continue
        with deep_recursion():
            found = Named(raw)
            counts["files"] += 1
            counts["scopes"] += len(found.nodes)
            counts["symbols"] += len(found.symbols["name"])
            counts["references"] += len(found.references["node"])
            for oracle in (symtables, bytecode):
                for kind, detail in oracle.differences(found):
                    counts[kind] += 1
                    if kind not in oracle.KNOWN:
                        wrong.append((kind, detail))
    return counts, wrong


@contextmanager
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
