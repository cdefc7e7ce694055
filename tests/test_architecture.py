"""What import-linter cannot see: who changes tables, who catches what, how large files are."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelake import errors
from codelake.contracts import TABLES

SRC = Path(__file__).parent.parent / "src" / "codelake"
FILES = {str(file.relative_to(SRC)): file for file in sorted(SRC.rglob("*.py"))}
TREES = {name: ast.parse(file.read_text()) for name, file in FILES.items()}

CHANGES = re.compile(r"\bMERGE\b.*\bINTO\b|\bINSERT (INTO|OVERWRITE)\b|\bUPDATE \S+ SET\b|\bDELETE FROM\b")
# `ALTER TABLE ... DROP FEATURE`, with dots, is advice in a message.
DEFINES = re.compile(r"\b(CREATE|REPLACE|ALTER|DROP) TABLE(?! \.\.\.)")
CALLS = {"save", "saveAsTable", "insertInto", "writeTo", "write_deltalake"}
TRAINING = "runtime/training.py"
"""In a child process, on a table in a temporary folder: it uses Spark to get classes into the archive."""
LONGEST = 350


def texts(tree: ast.Module) -> Iterator[str]:
    """String constants and f-strings with {} for what is filled in; no docstrings."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in statements:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def calls(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr
            elif isinstance(node.func, ast.Name):
                yield node.func.id


def named(tree: ast.Module) -> Iterator[str]:
    """What is imported by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (part for alias in node.names for part in (alias.name, (node.module or "").split(".")[-1]))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def files_where(found: Iterator[tuple[str, bool]]) -> set[str]:
    return {name for name, yes in found if yes}


def test_only_delta_imports_the_engines_of_delta() -> None:
    found = files_where((n, bool({"delta", "deltalake"} & set(imported(t)))) for n, t in TREES.items())
    assert found and all(name.startswith("delta/") for name in found)


def test_tables_are_changed_in_one_place() -> None:
    by_sql = files_where((n, any(map(CHANGES.search, texts(t)))) for n, t in TREES.items())
    by_call = files_where((n, bool(CALLS & set(calls(t)))) for n, t in TREES.items())
    assert by_sql == {"delta/modes.py", TRAINING}
    assert by_call == {"delta/modes.py", "delta/in_process.py", TRAINING}
    by_name = files_where((n, "in_process" in set(named(t))) for n, t in TREES.items())
    assert by_name == {"delta/write.py"}, "the one function that commits"


def test_tables_are_made_and_altered_in_one_place() -> None:
    assert files_where((n, any(map(DEFINES.search, texts(t)))) for n, t in TREES.items()) == {"delta/create.py"}


@pytest.mark.parametrize(
    ("program", "changes"),
    [
        ("spark.sql(f'DELETE FROM {name} WHERE x')", True),
        ("text = f'UPDATE {name} SET a = 1'", True),
        ("text = f'MERGE {how}INTO {name} t'", True),
        ("rows.write.format('delta').save(path)", True),
        ("write_deltalake(path, rows)", True),
        ("'''Says that DELETE FROM is refused.'''", False),
        ("text = 'UPDATE SET *'", False),
        ("x.update(a=1)", False),
    ],
)
def test_the_tests_above_can_fail(program: str, changes: bool) -> None:
    tree = ast.parse(program)
    assert (any(map(CHANGES.search, texts(tree))) or bool(CALLS & set(calls(tree)))) is changes


def catches_broadly(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {kind.id if isinstance(kind, ast.Name) else kind and "narrow" for kind in kinds}
            if names & {None, "Exception", "BaseException"}:
                return True
    return False


def test_only_the_command_line_catches_everything() -> None:
    assert files_where((n, catches_broadly(t)) for n, t in TREES.items()) == {"cli/main.py"}


def test_files_are_short() -> None:
    lengths = {name: len(file.read_text().splitlines()) for name, file in FILES.items()}
    assert {name: n for name, n in lengths.items() if n > LONGEST} == {}


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ((?:[│├└─ ]{4})*)([A-Z]\w+)", line):
            depth = len(found[1]) // 4
            above[depth:] = [found[2]]
            drawn[found[2]] = above[depth - 1] if depth else "Exception"
    classes = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert drawn == classes


def test_exit_codes_are_drawn_as_they_are() -> None:
    drawn = dict(re.findall(r"([A-Z]\w+) .* exit (\d)", errors.__doc__ or ""))
    assert {name: getattr(errors, name).exit_code for name in drawn} == {n: int(c) for n, c in drawn.items()}


def test_table_names_are_unique() -> None:
    assert [name for name, n in Counter(table.name for table in TABLES).items() if n > 1] == []
