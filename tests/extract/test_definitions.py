from __future__ import annotations

from typing import Any

from tests.extract.reading import Seen

SOURCE = '''"""About the module."""
@outer
@inner(1)
def f(a, /, b: int, c=1, *rest, d, e=2, **more) -> str:
    "About f."
    return lambda x: (lambda y: y)
class C:
    async def m(self):
        async def n(): """About n."""
    if c:
        def g(): pass
    else:
        def g(): "not " f"a docstring"
'''


def columns(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_definitions_have_qualified_names_ordinals_and_docstrings() -> None:
    seen = Seen(SOURCE)
    found = [
        (r["kind"], r["qualified_name"], r["ordinal"], seen.text(r["docstring"])) for r in seen.rows("definitions")
    ]
    assert found == [
        ("module", "", 0, '"""About the module."""'),
        ("function", "f", 0, '"About f."'),
        ("lambda", "f.<lambda1>", 0, None),
        ("lambda", "f.<lambda1>.<lambda1>", 0, None),
        ("class", "C", 0, None),
        ("async_function", "C.m", 0, None),
        ("async_function", "C.m.n", 0, '"""About n."""'),
        ("function", "C.g", 0, None),
        ("function", "C.g", 1, None),
    ]


def test_a_definition_lies_in_one_scope_and_opens_another() -> None:
    seen = Seen(SOURCE)
    scopes = seen.rows("scopes")
    for row in seen.rows("definitions")[1:]:
        inside, opened = scopes[row["scope"]], scopes[row["body_scope"]]
        assert opened["node"] == row["node"]
        assert opened["parent"] == row["scope"]
        assert row["qualified_name"] == ".".join(filter(None, (inside["qualified_name"], row["name"])))


def test_parameters_have_kinds_defaults_and_annotations() -> None:
    seen = Seen(SOURCE)
    first = [r for r in seen.rows("parameters") if r["definition"] == 1]
    assert columns(first, "name", "kind", "position") == [
        ("a", "positional_only", 0),
        ("b", "positional", 1),
        ("c", "positional", 2),
        ("rest", "var_positional", 3),
        ("d", "keyword_only", 4),
        ("e", "keyword_only", 5),
        ("more", "var_keyword", 6),
    ]
    assert [seen.text(r["default"]) for r in first] == [None, None, "1", None, None, "2", None]
    assert [seen.text(r["annotation"]) for r in first] == [None, "int", None, None, None, None, None]
    assert seen.text(first[1]["node"]) == "b: int"


def test_defaults_of_positional_only_parameters() -> None:
    seen = Seen("def f(a, b=1, /, c=2): pass")
    assert [(r["name"], seen.text(r["default"])) for r in seen.rows("parameters")] == [
        ("a", None),
        ("b", "1"),
        ("c", "2"),
    ]


def test_decorators_are_listed_outermost_first() -> None:
    seen = Seen(SOURCE)
    found = [(r["definition"], r["position"], seen.text(r["node"])) for r in seen.rows("decorators")]
    assert found == [(1, 0, "outer"), (1, 1, "inner(1)")]


def test_imports() -> None:
    seen = Seen(
        "import a.b, c as d\n"
        "from . import e\n"
        "from ..f.g import h as i, j\n"
        "from k import *\n"
        "if TYPE_CHECKING:\n    from l import m\nelse:\n    import n\n"
        "try:\n    import o\nexcept ImportError:\n    def p():\n        import q\n"
    )
    rows = seen.rows("imports")
    assert columns(rows, "level", "module", "name", "as_name") == [
        (0, "a.b", None, None),
        (0, "c", None, "d"),
        (1, None, "e", None),
        (2, "f.g", "h", "i"),
        (2, "f.g", "j", None),
        (0, "k", "*", None),
        (0, "l", "m", None),
        (0, "n", None, None),
        (0, "o", None, None),
        (0, "q", None, None),
    ]
    assert columns(rows[6:], "is_conditional", "is_type_checking", "scope") == [
        (True, True, 0),
        (True, False, 0),
        (True, False, 0),
        (False, False, 1),
    ]
    assert seen.text(rows[3]["node"]) == "h as i"
    assert seen.text(rows[3]["statement"]) == "from ..f.g import h as i, j"


def test_calls_and_arguments() -> None:
    seen = Seen("a.b.f(1, *s, k=g()(2), **d)\n")
    calls = seen.rows("calls")
    assert [(seen.text(r["function"]), r["callee"]) for r in calls] == [
        ("a.b.f", "a.b.f"),
        ("g()", None),
        ("g", "g"),
    ]
    found = [(r["call"], r["kind"], r["position"], r["keyword"], seen.text(r["node"])) for r in seen.rows("arguments")]
    assert found == [
        (0, "positional", 0, None, "1"),
        (0, "star", 1, None, "s"),
        (0, "keyword", None, "k", "g()(2)"),
        (0, "double_star", None, None, "d"),
        (1, "positional", 0, None, "2"),
    ]


def test_annotations_and_the_types_in_them() -> None:
    seen = Seen(
        "import typing as t\n"
        "class K: pass\n"
        "x: 'K | None'\n"
        "def f(a: t.Optional[list['K']], b: Callable[[int], ...]) -> t.Literal['K']: pass\n"
    )
    annotations = seen.rows("annotations")
    assert [(r["role"], seen.text(r["node"])) for r in annotations] == [
        ("variable", "'K | None'"),
        ("parameter", "t.Optional[list['K']]"),
        ("parameter", "Callable[[int], ...]"),
        ("return", "t.Literal['K']"),
    ]
    symbols = seen.rows("symbols")
    types = seen.rows("types")
    found = [
        (
            r["annotation"],
            r["parent"],
            r["kind"],
            r["name"],
            seen.raw[r["start_byte"] : r["end_byte"]].decode(),
            None if r["symbol"] is None else symbols[r["symbol"]]["name"],
        )
        for r in types
    ]
    assert found == [
        (0, -1, "union", None, "K | None", None),
        (0, 0, "name", "K", "K", "K"),
        (0, 0, "none", None, "None", None),
        (1, -1, "generic", "t.Optional", "t.Optional[list['K']]", "t"),
        (1, 3, "generic", "list", "list['K']", None),
        (1, 4, "name", "K", "K", "K"),
        (2, -1, "generic", "Callable", "Callable[[int], ...]", None),
        (2, 6, "list", None, "[int]", None),
        (2, 7, "name", "int", "int", None),
        (2, 6, "ellipsis", None, "...", None),
        (3, -1, "literal", "t.Literal", "t.Literal['K']", "t"),
    ]
