"""What must hold of every graph: ids are unique, no edge dangles, owners end in a repository, places nest."""

from __future__ import annotations

from codelake.contracts.graph import CPG_EDGES_BY_DST, CPG_NODES
from codelake.contracts.kinds import EDGE_KINDS
from codelake.graph.rules import RULES
from codelake.ids import OUTSIDE
from tests.graph.conftest import TREE, Graph


def test_ids_are_unique(graph: Graph) -> None:
    assert len(graph.nodes) == len(graph.rows(CPG_NODES))
    ids = [edge["edge_id"] for edge in graph.edges]
    assert sorted(ids) == sorted(set(ids))


def test_no_edge_dangles(graph: Graph) -> None:
    missing = [(e["kind"], e["src"], e["dst"]) for e in graph.edges if not {e["src"], e["dst"]} <= graph.nodes.keys()]
    assert missing == []


def test_owners_end_in_a_repository(graph: Graph) -> None:
    for node_id in graph.nodes:
        seen, owner = set(), node_id
        while graph.nodes[owner]["parent_id"] is not None:
            assert owner not in seen
            seen.add(owner)
            owner = graph.nodes[owner]["parent_id"]
        assert graph.nodes[owner]["kind"] == "repository"
        assert owner == (OUTSIDE if node_id.startswith(OUTSIDE) else "shop:")


def test_places_lie_within_those_of_owners(graph: Graph) -> None:
    for node in graph.nodes.values():
        owner = graph.nodes.get(node["parent_id"])
        if owner is None or None in (node["start_byte"], owner["start_byte"]):
            continue
        assert owner["start_byte"] <= node["start_byte"] <= node["end_byte"] <= owner["end_byte"], (node, owner)


def test_places_slice_back_to_the_source(graph: Graph) -> None:
    for node in graph.nodes.values():
        if node["start_byte"] is not None and node["path"] in TREE:
            text = TREE[node["path"]][node["start_byte"] : node["end_byte"]].decode("latin-1")
            if node["subkind"] == "Name" and node["kind"] == "reference":
                assert text == node["name"]
            elif node["kind"] in ("variable", "parameter", "class", "function"):
                assert node["name"].removeprefix("_C") in text
            elif node["kind"] == "comment":
                assert text.startswith("#")


def test_edges_join_the_kinds_that_they_may(graph: Graph) -> None:
    kinds = {kind.name: kind for kind in EDGE_KINDS}
    for edge in graph.edges:
        kind = kinds[edge["kind"]]
        assert not kind.src or graph.nodes[edge["src"]]["kind"] in kind.src, edge
        assert not kind.dst or graph.nodes[edge["dst"]]["kind"] in kind.dst, edge


def test_each_kind_has_a_rule() -> None:
    assert {kind for rule in RULES for kind in rule.kinds} == {kind.name for kind in EDGE_KINDS} - {"PARENT_OF"}


def test_adjacency_says_what_edges_say(graph: Graph) -> None:
    both = {"src": graph.view("cpg_edges_by_src"), "dst": graph.rows(CPG_EDGES_BY_DST)}
    for side, rows in both.items():
        kinds = {kind.name for kind in EDGE_KINDS if side[0] in kind.adjacent}
        other = "dst" if side == "src" else "src"
        expected = sorted(
            (e[side], e["path"], e["kind"], e[other])
            for e in graph.edges
            if e["kind"] in kinds and "@scope:" not in e["src"]
        )
        assert sorted((r["node_id"], r["path"], e["kind"], e["other"]) for r in rows for e in r["edges"]) == expected
        assert len({(r["node_id"], r["repo"], r["path"]) for r in rows}) == len(rows)
        for row in rows:
            order = [(e["kind"], e["other"], e["start_byte"] or -1, e["end_byte"] or -1) for e in row["edges"]]
            assert order == sorted(order)


def test_property_maps_say_what_properties_say(graph: Graph) -> None:
    found: dict[str, dict[str, str]] = {}
    for row in graph.view("cpg_props"):
        value = {"string": row["value_string"], "int": str(row["value_int"]), "bool": "true"}[row["value_type"]]
        assert found.setdefault(row["entity_id"], {}).setdefault(row["key"], value) == value
    assert {row["entity_id"]: dict(row["props"]) for row in graph.view("cpg_props_map")} == found
    assert found.keys() <= graph.nodes.keys()
    assert found["shop:pkg/a.py#C.__init__(p)"] == {"kind": "positional", "position": "1", "has_default": "true"}
