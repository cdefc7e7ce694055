"""Exports are read back by others, with equal counts."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import networkx
import pyarrow.parquet as pq
import pytest

from tests.query.conftest import Shop

Run = Callable[..., tuple[int, str, str]]


def exported(shop: Shop, run: Run, out: str, *options: str) -> tuple[int, int]:
    code, said, err = run("export", out, "--lake", shop.uri, "--json", *options)
    assert (code, err) == (0, "")
    found = json.loads(said)
    return found["n_nodes"], found["n_edges"]


def stored(shop: Shop) -> tuple[int, int]:
    counts = shop.open.sql("SELECT (SELECT count(*) FROM cpg_nodes) AS n, (SELECT count(*) FROM cpg_edges) AS e").rows
    return counts[0]["n"], counts[0]["e"]


def test_graphml_as_networkx_reads_it(shop: Shop, run: Run) -> None:
    counts = exported(shop, run, "graph.graphml")
    graph = networkx.read_graphml("graph.graphml", force_multigraph=True)
    assert counts == stored(shop) == (graph.number_of_nodes(), graph.number_of_edges())
    assert graph.nodes["shop:shop/cart.py#Cart"]["kind"] == "class"
    callers = [
        src for src, _, edge in graph.in_edges("shop:shop/cart.py#checkout", data=True) if edge["kind"] == "CALLER_OF"
    ]
    assert sorted(callers) == ["shop:shop/cli.py#main", "till:till.py#ring"]


def test_only_symbols(shop: Shop, run: Run) -> None:
    counts = exported(shop, run, "graph.graphml", "--symbols", "--at", "1")
    graph = networkx.read_graphml("graph.graphml", force_multigraph=True)
    # No edge leads to a node that was left out: NetworkX would have made one.
    assert counts == (graph.number_of_nodes(), graph.number_of_edges())
    assert "shop:shop/pricing.py#base" in graph and 0 < counts[0] < stored(shop)[0]


def test_csv_for_neo4j(shop: Shop, run: Run) -> None:
    counts = exported(shop, run, "import", "--format", "neo4j")
    with Path("import/nodes.csv").open() as nodes, Path("import/relationships.csv").open() as edges:
        found, between = list(csv.DictReader(nodes)), list(csv.DictReader(edges))
    assert (len(found), len(between)) == counts == stored(shop)
    assert {edge[":START_ID"] for edge in between} <= {node["node_id:ID"] for node in found}
    assert {"CALLS", "DEFINES"} <= {edge[":TYPE"] for edge in between}


def test_parquet_and_json_lines(shop: Shop, run: Run) -> None:
    counts = exported(shop, run, "parquet", "--format", "parquet")
    assert (
        pq.read_metadata("parquet/nodes.parquet").num_rows,
        pq.read_metadata("parquet/edges.parquet").num_rows,
    ) == counts
    assert exported(shop, run, "jsonl", "--format", "jsonl") == counts
    lines = Path("jsonl/edges.jsonl").read_text().splitlines()
    assert len(lines) == counts[1] and json.loads(lines[0])["src"]


def test_a_neighbourhood(shop: Shop, run: Run) -> None:
    counts = exported(shop, run, "near.dot", "--format", "dot", "--around", "checkout")
    text = Path("near.dot").read_text()
    assert text.count(" -> ") == counts[1] and 'label="shop.cart.checkout"' in text
    drawn = exported(shop, run, "near.svg", "--format", "svg", "--around", "checkout")
    picture = ElementTree.parse("near.svg")
    assert drawn == counts == (len(picture.findall(".//{*}rect")), len(picture.findall(".//{*}line")))
    assert shop.open.picture("checkout")._repr_svg_() == Path("near.svg").read_text()


@pytest.mark.parametrize("there", ["file", "folder"])
def test_nothing_is_overwritten(shop: Shop, run: Run, there: str) -> None:
    if there == "file":
        Path("out").write_text("mine")
    else:
        Path("out").mkdir()
        Path("out/mine").write_text("mine")
    code, _, err = run("export", "out", "--lake", shop.uri)
    assert code == 3 and "nothing there yet" in err
