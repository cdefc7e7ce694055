"""What rules say of one file."""

from __future__ import annotations

from tests.graph.conftest import Graph


def test_definitions(graph: Graph) -> None:
    assert {("#<module>", "#C"), ("#<module>", "#f"), ("#<module>", "#f~1"), ("#C", "#C.m")} <= graph.of_kind("DEFINES")
    assert ("#f~1", "#f~1.<listcomp1>.<lambda1>") in graph.of_kind("DEFINES")
    assert ("#C.n", "#C.n(__private)") in graph.of_kind("DECLARES_PARAMETER")
    assert {dst for _, dst in graph.of_kind("HAS_METHOD")} == {"#C.__init__", "#C.m", "#C.n"}
    assert {src for src, _ in graph.of_kind("DECORATED_BY")} == {"#C.m", "#C.n"}
    assert {src for src, _ in graph.of_kind("DOCUMENTED_BY")} == {"#<module>"}


def test_names(graph: Graph) -> None:
    resolved = graph.of_kind("RESOLVES_TO")
    assert ("#C.m@scope:x", "#:x") in resolved
    assert ("#C.n@scope:_C__private", "#C.n(__private)") in resolved
    assert {("#<module>@scope:f", "#f"), ("#<module>@scope:f", "#f~1")} <= resolved
    assert ("#<module>@scope", "#<module>@scope:x") in graph.of_kind("BINDS")
    assert {"#:x", "#f(a)", "#f:e", "#f:first", "#f:rest"} <= {dst for _, dst in graph.of_kind("WRITES")}
    assert {dst for _, dst in graph.of_kind("DELETES")} == {"#f(b)"}
    assert "#C.n(__private)" in {dst for _, dst in graph.of_kind("READS")}
    assert {("#C", "#C:attr"), ("#C", "#C:_C__hidden")} <= graph.of_kind("HAS_ATTRIBUTE")


def test_candidates_are_told_apart(graph: Graph) -> None:
    found = [e for e in graph.edges if e["src"] == "shop:pkg/a.py#<module>@scope:f" and e["kind"] == "RESOLVES_TO"]
    assert len({e["ambiguity_group"] for e in found}) == 1 and found[0]["ambiguity_group"] is not None
    assert max(found, key=lambda e: e["score"])["dst"] == "shop:pkg/a.py#f~1"


def test_annotations(graph: Graph) -> None:
    assert {src for src, _ in graph.of_kind("ANNOTATED_WITH")} == {"#:x", "#C:_C__hidden", "#C.__init__(p)"}


def test_flow(graph: Graph) -> None:
    assert ("#<module>@block:0", "#<module>@block:3") in graph.of_kind("FLOWS_NEXT")
    assert any(dst == "#f@exit:2" for _, dst in graph.of_kind("FLOWS_EXCEPTION"))
    assert any(src == "#f(a)" for src, _ in graph.of_kind("REACHES"))


def test_folders_and_files_that_were_not_read(graph: Graph) -> None:
    assert graph.nodes["shop:pkg/empty%20dir%231/"]["parent_id"] == "shop:pkg/"
    assert graph.nodes["shop:pkg/empty%20dir%231/c.py"]["name"] == "c.py"
    assert graph.nodes["shop:large.py"]["parent_id"] == "shop:"
    assert ("shop:large.py", "shop:large.py#0-0:diagnostic:0") in {
        (e["src"], e["dst"]) for e in graph.edges if e["kind"] == "HAS_DIAGNOSTIC"
    }


def test_qualified_names(graph: Graph) -> None:
    names = {n["qualified_name"] for n in graph.nodes.values() if n["path"] == "pkg/a.py"}
    assert {"pkg.a", "pkg.a.C", "pkg.a.C.n.__private", "pkg.a.f", "pkg.a.C.attr", "pkg.a.x"} <= names
