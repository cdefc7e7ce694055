"""The cases of `tests/cases` against real Python: what must be there happens, and what must not does not."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

from .cases.running import names_of
from .cases.truth import Case, Edge, read_cases

FOLDER = Path(__file__).parent / "cases"
CASES = read_cases(FOLDER)
SEEN = {"CALLER_OF", "CALLS", "INHERITS", "OVERRIDES", "HAS_METHOD"}
_OTHERS = """
    IMPORTS RE_EXPORTS RESOLVES_TO HAS_ATTRIBUTE HAS_TYPE RETURNS_TYPE ANNOTATED_WITH DECORATED_BY PASSES_TO READS
    WRITES DELETES SCOPE_PARENT DECLARES_PARAMETER DEFINES DOCUMENTED_BY REACHES
"""
KINDS = {*SEEN, *_OTHERS.split()}
# The nodes that text in backticks can mean, by kind of edge; any node where it is not said.
NODES: dict[str, tuple[type[ast.AST], ...]] = {
    "CALLS": (ast.Call,),
    "IMPORTS": (ast.alias,),
    "RESOLVES_TO": (ast.Name, ast.Attribute),
    "READS": (ast.Name, ast.Attribute),
    "WRITES": (ast.Name, ast.Attribute),
    "DELETES": (ast.Name, ast.Attribute),
    "REACHES": (ast.Name, ast.Attribute),
}


class Names:
    """What the files of a case have, to find slips in its edges."""

    def __init__(self, case: Case) -> None:
        self.modules = {name: case.files[path] for name, path in case.modules().items()}
        self.owners: dict[str, types.CodeType] = {}
        for module, text in self.modules.items():
            for code, name in names_of(_compiled(text), module):
                self.owners.setdefault(name, code)  # comprehensions have the name of what is around them
        self.texts = [text for path, text in case.files.items() if path.endswith((".py", ".pyi"))]
        packages = {name[: dot.start()] for name in self.modules for dot in re.finditer(r"\.", name)}
        self.known = {*self.owners, *packages}

    def is_own(self, name: str) -> bool:
        return any(re.match(rf"{re.escape(module)}(?![^.:(])", name) for module in self.modules)

    def problem(self, term: str, kind: str) -> str:
        if found := re.fullmatch(r"`(.+)`(?:@(\d+))?", term):
            n = self.count(found[1], int(found[2] or 0), NODES.get(kind, (ast.expr, ast.stmt, ast.arg)))
            return "" if n == 1 else f"{n} nodes are {term}"
        if not self.is_own(term):
            root = term.partition(".")[0]
            is_named = root == "builtins" or any(re.search(rf"\b{re.escape(root)}\b", text) for text in self.texts)
            return "" if is_named or term in self.known else f"nothing is {term}"
        if found := re.fullmatch(r"(.+)\((\w+)\)", term):
            code = self.owners.get(found[1])
            return "" if code and found[2] in code.co_varnames else f"no parameter is {term}"
        if found := re.fullmatch(r"(.+):(\w+)", term):
            is_named = any(re.search(rf"\b{found[2]}\b", text) for text in self.texts)
            return "" if found[1] in self.owners and is_named else f"no variable is {term}"
        return "" if term in self.known else f"no definition is {term}"

    def count(self, text: str, line: int, kinds: tuple[type[ast.AST], ...]) -> int:
        places = set()
        for number, source in enumerate(self.texts):
            for node in ast.walk(ast.parse(source)):
                at = getattr(node, "lineno", 0)
                if isinstance(node, kinds) and line in (0, at) and ast.get_source_segment(source, node) == text:
                    places.add((number, at, node.col_offset))  # type: ignore[attr-defined]
        return len(places)


def _compiled(text: str) -> types.CodeType:
    return compile(text, "case", "exec", dont_inherit=True)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str] | str]:
    folder = tmp_path_factory.mktemp("cases")
    command = [sys.executable, "-m", "tests.cases.running", str(FOLDER), str(folder)]
    subprocess.run(command, cwd=FOLDER.parent.parent, check=True, timeout=600, stdout=subprocess.DEVNULL)
    found: dict[str, list[str] | str] = json.loads((folder / "seen.json").read_text())
    return found


def is_seen(edge: Edge, names: Names) -> bool:
    """Whether it is of a kind that running a case shows."""
    return edge.kind in SEEN and names.is_own(edge.dst) and (edge.kind == "CALLS" or names.is_own(edge.src))


@pytest.mark.parametrize("case", [case for case in CASES if not case.is_static], ids=lambda case: case.title)
def test_python_agrees(case: Case, seen: dict[str, list[str] | str]) -> None:
    happened = seen[case.title]
    assert isinstance(happened, list), happened
    names = Names(case)
    assert [str(e) for e in case.must if is_seen(e, names) and str(e) not in happened] == []
    assert [str(e) for e in case.must_not if is_seen(e, names) and str(e) in happened] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_edges_name_what_is_there(case: Case) -> None:
    names = Names(case)
    edges = case.must + case.must_not
    assert case.must and len(set(edges)) == len(edges) and {edge.kind for edge in edges} <= KINDS
    problems = [names.problem(term, edge.kind) for edge in edges for term in (edge.src, edge.dst)]
    assert [problem for problem in problems if problem] == []


def test_most_cases_say_what_must_not_be() -> None:
    assert len(CASES) >= 150
    assert sum(bool(case.must_not) for case in CASES) >= 0.6 * len(CASES)
    assert sum(case.is_static for case in CASES) <= 0.1 * len(CASES)
    assert Counter(case.group for case in CASES).most_common()[-1][1] >= 5
