"""Files that `ast` refuses get the tree that `ast` would have made of them, as far as they can be understood."""

from __future__ import annotations

import ast
import random
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from codelake.extract.content import _WALK_DEPTH, _recursion_limit, evidence_of
from codelake.extract.recover import grammar, recovered
from codelake.extract.recover.reader import MAX_PROBLEMS
from codelake.extract.text import decoded
from codelake.extract.tree import Tree
from tests.extract.hostile import MODERN, NEWER, OLD, files
from tests.extract.oracles import same_tree, wellformed
from tests.extract.packages import sources_of
from tests.extract.reading import Seen
from tests.extract.snippets import PYTHON_2, VALID

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def tree_of(source: str | bytes) -> Tree:
    text = decoded(source.encode() if isinstance(source, str) else source)
    assert text is not None
    return recovered(text)


def dumped(source: str | bytes) -> str:
    return ast.dump(tree_of(source).module)


def errors(tree: Tree) -> list[Any]:
    return [node for node in tree.nodes if type(node).__name__ == "Error"]


def messages(source: str | bytes) -> list[str]:
    return [problem.message for problem in tree_of(source).problems]


def definitions(tree: Tree) -> list[str]:
    return [n.name for n in tree.every(*DEFINITIONS)]


# The same as CPython


def test_every_construct_gives_the_tree_of_cpython() -> None:
    for source in VALID:
        found = same_tree.compared(source.encode())
        assert found is not None, source
        assert found.first is None, source


def _compared(files: list[Path]) -> tuple[Counter[str], dict[str, str]]:
    counts: Counter[str] = Counter()
    different = {}
    for file in files:
        found = same_tree.compared(file.read_bytes())
        if found is None:
            counts["not read by CPython"] += 1
            continue
        counts += Counter(files=1, nodes=found.n_nodes, same_nodes=found.n_same, same_files=found.first is None)
        if found.first:
            different[str(file)] = found.first
    return counts, different


def test_a_sample_of_the_standard_library_gives_the_trees_of_cpython() -> None:
    found = sources_of("stdlib", Path())
    sample = random.Random(1).sample([f for f in found if f.stat().st_size < 50_000], 30)
    counts, different = _compared(sample)
    assert counts["files"] > 25
    assert different == {}


KNOWN = {"test_print.py": "`print >>sys.stderr, x` is a statement of Python 2, though Python 3 reads a tuple"}
"""Files that differ, with the reason."""


@pytest.mark.soak
@pytest.mark.parametrize("package", ["stdlib", "Django", "pandas", "sympy", "SQLAlchemy", "numpy", "mypy"])
def test_whole_packages_give_the_trees_of_cpython(package: str, tmp_path: Path) -> None:
    counts, different = _compared(sources_of(package, tmp_path))
    print(package, dict(counts), f"{counts['same_files'] / counts['files']:.2%} of files", different)
    assert {Path(file).name for file in different} <= KNOWN.keys()
    assert counts["same_nodes"] >= 0.9999 * counts["nodes"]


def test_a_star_import_from_future_is_read_as_the_parser_does() -> None:
    source = "from __future__ import *\nfrom __future__ import division\n"
    assert dumped(source) == ast.dump(ast.parse(source))


# Python 2


@pytest.mark.parametrize(("old", "new"), PYTHON_2.items())
def test_python_2_is_read_as_what_it_means(old: str, new: str) -> None:
    assert dumped(old) == ast.dump(ast.parse(new))
    assert messages(old) == []


def test_names_that_are_words_today() -> None:
    assert messages("True, False = 1, 0\nf(async=True, print=1, exec=2)\nx.await = y.None\nfrom a import async\n") == []
    assert dumped("async = 1") == ast.dump(ast.parse("asyn_ = 1")).replace("asyn_", "async")


def test_an_exception_is_unpacked_by_way_of_a_hidden_name() -> None:
    made = tree_of("try: a\nexcept E, (no, text): b\n").module.body[0]
    assert isinstance(made, ast.Try)
    (handler,) = made.handlers
    assert (handler.name, ast.unparse(handler.body)) == (".0", "no, text = .0\nb")


@pytest.mark.parametrize(
    ("source", "caught", "name"),
    [
        ("except A, b: pass", "A", "b"),
        ("except a.B, b: pass", "a.B", "b"),
        ("except A, B: pass", "(A, B)", None),
        ("except A, B: print 1", "A", "B"),
        ("except A, b.c: pass", "(A, b.c)", None),
        ("except A, B, C: pass", "(A, B, C)", None),
    ],
)
def test_a_comma_behind_except_binds_in_python_2_and_catches_in_python_3_14(
    source: str, caught: str, name: str | None
) -> None:
    made: Any = tree_of(f"try: a\n{source}\n").module.body[0]
    assert (ast.unparse(made.handlers[0].type), made.handlers[0].name) == (caught, name)


def test_tabs_are_as_wide_as_for_python_2() -> None:
    made: Any = tree_of("class A:\n\tdef f(self):\n        \tprint 1\n    \tdef g(self): print 2\n").module.body[0]
    assert [type(m).__name__ for m in made.body] == ["FunctionDef", "FunctionDef"]


# Newer than the running Python


def test_type_parameters() -> None:
    made: Any = tree_of("type X[T: int = str | None, U=int, *Ts, **P = [int]] = list[T]").module.body[0]
    assert type(made) is grammar.TypeAlias
    assert [type(p).__name__ for p in made.type_params] == ["TypeVar", "TypeVar", "TypeVarTuple", "ParamSpec"]
    assert [p.name for p in made.type_params] == ["T", "U", "Ts", "P"]
    assert ast.unparse(made.type_params[0].bound) == "int"
    if "default_value" in grammar.TypeVar._fields:
        assert ast.unparse(made.type_params[0].default_value) == "str | None"
    for source in ("def f[T: (A, B)](x: T) -> T: pass", "class C[T](A, b=c): pass", "async def f[**P](): pass"):
        tree = tree_of(source)
        assert tree.problems == []
        assert len(tree.module.body[0].type_params) == 1  # type: ignore[attr-defined]


def test_formatted_strings_of_pep_701() -> None:
    tree = tree_of('x = f"{a["b"]} {\'\\n\'.join(c)} {f"{d}"}"\nprint 1\n')
    assert errors(tree) == []
    assert tree.problems == []
    assert [n.id for n in tree.every(ast.Name)] == ["x", "a", "c", "d", "print"]


def test_template_strings() -> None:
    made: Any = tree_of('x = t"a {b!r:>{c}} { d }"').module.body[0]
    kinds = [type(v).__name__ for v in made.value.values]
    assert type(made.value).__name__ == "TemplateStr"
    assert kinds == ["Constant", "Interpolation", "Constant", "Interpolation"]
    assert [v.str for v in made.value.values[1::2]] == ["b", "d"]
    assert made.value.values[1].conversion == ord("r")


def test_what_the_running_python_has_is_no_other_class() -> None:
    for name in ("TypeVar", "TypeVarTuple", "ParamSpec", "TypeAlias", "TemplateStr", "Interpolation"):
        kind = getattr(grammar, name)
        assert kind.__name__ == name
        assert kind is getattr(ast, name, kind)


# Broken files

PROGRAM = """\
import os
class A:
    '''Doc.'''
    def first(self, a):
        return os.path.join(a, "b")
    def second(self):
        BROKEN
        x = [1, 2]
        return x
    def third(self): return 3
def fourth(): return 4
"""


@pytest.mark.parametrize(
    "line",
    [
        "x = foo(a, b",
        "x = foo(a, [b, {c",
        "x = foo(a))",
        "x = foo(a]",
        "x = 'abc",
        'x = f"{a',
        "def half(self, a",
        "def half",
        "class Half(",
        "if a ==",
        "if a",
        "for x in",
        "while",
        "self.",
        "x = ",
        "return foo.",
        "from a import",
        "import",
        "with open(x) as",
        "try:",
        "else:",
        "@",
        "x = {'a': ",
        "a b c",
        "$ ? !",
        "lambda",
        "print 'x'",
        "x = = 1",
        "x = 1 +",
        ")",
        "]]]",
        "\0",
        "x = \ud800",
        "<<<<<<< HEAD\n        y = 1\n=======\n        y = (2\n>>>>>>> theirs",
    ],
)
def test_one_broken_line_spoils_no_other(line: str) -> None:
    raw = PROGRAM.replace("BROKEN", line).encode("utf-8", "surrogatepass")
    tree = tree_of(raw)
    assert set(definitions(tree)) - {"half", "Half"} == {"A", "first", "second", "third", "fourth"}
    assert tree.problems or line.startswith("print")
    assert [n.attr for n in tree.every(ast.Attribute)][:2] == ["join", "path"]
    assert list(wellformed.faults(tree)) == []
    assert evidence_of(raw).status == "recovered"


def test_a_long_string_that_is_never_closed_spoils_no_other() -> None:
    for quotes in ("'''Doc.", "'''\n    Doc.\n"):
        found = "".join(f"def f{i}():\n    '''Doc.'''\n    return {i}\n" for i in range(9))
        tree = tree_of(found.replace("    '''Doc.'''\n    return 4", f"    {quotes}\n    return 4"))
        assert definitions(tree) == [f"f{i}" for i in range(9)]
        assert [r.value.value for r in tree.every(ast.Return)] == list(range(9))


def test_a_file_that_is_cut_off_has_all_before() -> None:
    for at in range(0, len(PROGRAM), 3):
        tree = tree_of(PROGRAM[:at])
        whole = [name for name in ("first", "second", "third") if f"def {name}" in PROGRAM[:at]]
        assert [name for name in definitions(tree) if name in ("first", "second", "third")] == whole
        assert list(wellformed.faults(tree)) == []


def test_what_is_missing_is_told_of_where_it_is() -> None:
    raw = "# é\ndef f(a, b:\n    return g(a\n\ndef h(c)\n    return 'x\n"
    tree = tree_of(raw)
    told = {(p.message, raw.encode()[p.start_byte : p.end_byte + 1].decode()[:1]) for p in tree.problems}
    assert told == {("( is never closed", "("), (": is missing", "\n"), ("the string is never closed", "'")}
    assert errors(tree) == []
    assert ast.unparse(tree.module) == ast.unparse(
        ast.parse("def f(a, b):\n    return g(a)\n\ndef h(c):\n    return 'x'\n")
    )


def test_a_merge_conflict_is_read_as_its_first_side() -> None:
    source = "<<<<<<< a\ndef f(a):\n||||||| b\ndef f():\n=======\ndef f(b):\n>>>>>>> c\n    pass\n"
    tree = tree_of(source)
    assert ast.unparse(tree.module) == "def f(a):\n    pass"
    assert len(tree.problems) == 2


def test_errors_stand_where_expressions_and_statements_do() -> None:
    tree = tree_of("x = f(a b, c)\n? y\n")
    inner, outer = errors(tree)
    assert isinstance(inner, ast.expr)
    assert [n.id for n in inner.body] == ["b"]
    assert isinstance(outer, ast.stmt)
    assert [p.message for p in tree.problems] == ["not understood: 'b'", "not understood: '?'"] or outer.body


def test_problems_are_not_too_many() -> None:
    found = messages("$\nx\n" * 300)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "and 200 more"


def test_problems_are_in_raw_bytes() -> None:
    raw = "# coding: latin-1\n# éééé\nx = (1\n".encode("latin-1")
    (found,) = tree_of(raw).problems
    assert raw[found.start_byte : found.end_byte] == b"("


# Depth and length


def test_what_is_nested_too_deeply_is_cut() -> None:
    brackets = "(" * 5000 + "x" + ")" * 5000
    for source in ("not " * 100_000 + "x", brackets, "lambda:" * 3000 + "x", "[" * 3000 + "]" * 3000):
        tree = tree_of(source)
        assert "nested too deeply" in [p.message for p in tree.problems]
        assert len(errors(tree)) == 1


def test_long_chains_are_whole() -> None:
    """What is deep in the tree and not in the text needs no more stack than anything else."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        assert len(tree_of("x = " + " + ".join(["a"] * 10_000)).every(ast.BinOp)) == 9_999
        assert len(tree_of("x" + ".a" * 10_000).every(ast.Attribute)) == 10_000
        assert len(tree_of("x" + "()" * 10_000).every(ast.Call)) == 10_000
        assert len(tree_of("if a: b\n" + "elif c: d\n" * 5_000).every(ast.If)) == 5_001
        assert len(tree_of("x = " + "a & b ^ " * 5_000 + "c").every(ast.BinOp)) == 10_000
        assert len(tree_of("if a: b\n" + "elif c: d\n" * 20_000).every(ast.If)) == 12_000
    finally:
        sys.setrecursionlimit(limit)


def test_numbers_that_python_does_not_read() -> None:
    for source in ("x = " + "1" * 5000, "x = 08"):
        tree = tree_of(source)
        assert len(errors(tree)) == 1
        assert tree.problems[0].message.startswith("no number: ")


# Well-formed


def test_an_expression_among_errors_is_read_as_a_whole() -> None:
    tree = tree_of("****************e(u)\n")
    assert list(wellformed.faults(tree)) == []
    assert [node.__class__.__name__ for node in tree.nodes] == [
        "Module",
        "Error",
        "Expr",
        "Starred",
        "Call",
        "Name",
        "Name",
    ]


def test_a_format_that_looks_like_a_walrus_stores_nothing_among_errors() -> None:
    tree = tree_of("''{{f'{f'{x:=")
    assert list(wellformed.faults(tree)) == []
    assert not tree.every(ast.NamedExpr)


@pytest.fixture
def deep() -> Iterator[None]:
    """As deep as the extraction of a content may go."""
    with _recursion_limit(_WALK_DEPTH):
        yield


@pytest.mark.usefixtures("deep")
def test_trees_of_hostile_files_are_well_formed() -> None:
    for name, raw in islice(files(2, 6_000), 900, None, 17):
        text = decoded(raw)
        if text is not None:
            tree = recovered(text)
            assert list(wellformed.faults(tree)) == [], name
            assert wellformed.refused(tree) is None, name


def test_trees_of_whole_programs_are_well_formed() -> None:
    for source in (MODERN, NEWER, OLD):
        tree = tree_of(source)
        assert list(wellformed.faults(tree)) == []
        assert wellformed.refused(tree) is None


@pytest.mark.soak
@pytest.mark.usefixtures("deep")
def test_trees_of_many_hostile_files_are_well_formed() -> None:
    counts: Counter[str] = Counter()
    for seed in (5, 6, 7):
        for name, raw in islice(files(seed, 10_000), 900, None):
            text = decoded(raw)
            if text is not None:
                tree = recovered(text)
                assert list(wellformed.faults(tree)) == [], name
                assert wellformed.refused(tree) is None, name
                counts += Counter(files=1, errors=len(errors(tree)), problems=len(tree.problems))
    print(dict(counts))


# Damage


def _damaged(rng: random.Random, source: str) -> str:
    """Without one bracket, colon, comma, quote or line."""
    if rng.random() < 0.2:
        lines = source.split("\n")
        del lines[rng.randrange(len(lines))]
        return "\n".join(lines)
    places = [i for i, sign in enumerate(source) if sign in "()[]{}:,'\"="]
    if not places:
        return source
    at = rng.choice(places)
    return source[:at] + source[at + 1 :]


def _kept(files: list[Path], seed: int) -> tuple[int, int, int]:
    """How many files were damaged so that CPython refuses them, how many definitions they had, and still have."""
    rng = random.Random(seed)
    n_files = n_before = n_after = 0
    for file in files:
        source = file.read_text(encoding="utf-8", errors="replace")
        try:
            before = Counter(n.name for n in ast.walk(ast.parse(source)) if isinstance(n, DEFINITIONS))
        except (SyntaxError, ValueError):
            continue
        broken = _damaged(rng, source) if source.strip() else ""
        try:
            ast.parse(broken)
        except (SyntaxError, ValueError):
            n_files += 1
            n_before += before.total()
            n_after += (before & Counter(definitions(tree_of(broken)))).total()
    return n_files, n_before, n_after


def test_damaged_files_keep_their_definitions() -> None:
    found = sources_of("stdlib", Path())
    sample = random.Random(2).sample([f for f in found if 2_000 < f.stat().st_size < 20_000], 60)
    n_files, n_before, n_after = _kept(sample, 2)
    assert n_files > 20
    assert n_after >= 0.98 * n_before


@pytest.mark.soak
def test_many_damaged_files_keep_their_definitions() -> None:
    found = [f for f in Path(sysconfig.get_paths()["stdlib"]).rglob("*.py") if f.stat().st_size < 50_000]
    n_files, n_before, n_after = _kept(random.Random(3).sample(sorted(found), 1000), 3)
    print(f"{n_files} damaged files, {n_after / n_before:.2%} of {n_before:,} definitions kept")
    assert n_after >= 0.97 * n_before


def test_what_could_not_be_read_has_a_name_of_its_own_as_statement_and_as_expression() -> None:
    nodes = Seen(b"x = " + b"a [0] " * 300).rows("nodes")
    names = [node["label"] or (node["kind"], node["start_byte"], node["end_byte"]) for node in nodes]
    assert [node["kind"] for node in nodes].count("Error") > 1
    assert len(set(names)) == len(names)
