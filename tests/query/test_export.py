"""Exports are read back by others, with equal counts."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import networkx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from codelake.errors import Refused, UsageError
from codelake.query.export import FORMATS
from codelake.query.export.part import EDGE_COLUMNS, NODE_COLUMNS, Part
from codelake.query.export.svg import picture
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
    [arrow] = picture.findall(".//{*}marker")
    assert {line.attrib["marker-end"] for line in picture.findall(".//{*}line")} == {f"url(#{arrow.attrib['id']})"}
    assert shop.open.picture("checkout")._repr_svg_() == Path("near.svg").read_text()


@pytest.mark.parametrize(
    ("tree", "leaf", "is_left"), [("callers", "till.ring", True), ("callees", "shop.pricing.gross", False)]
)
def test_a_tree_of_calls(shop: Shop, run: Run, tree: str, leaf: str, is_left: bool) -> None:
    """The picture has the nodes of the question's answer, and who calls on the left of what is called."""
    options = ("--around", "Cart.total", "--tree", tree, "--depth", "2")
    n_nodes, n_edges = exported(shop, run, "tree.svg", "--format", "svg", *options)
    answer = getattr(shop.open, tree)("Cart.total", depth=2)
    assert n_nodes == n_edges + 1 == len(answer) + 1
    boxes = {box.findtext("{*}text"): box.find("{*}rect") for box in ElementTree.parse("tree.svg").findall(".//{*}g")}
    assert {*boxes} == {"shop.cart.Cart.total", *(row["name"] for row in answer)}
    at = {name: float(box.attrib["x"]) for name, box in boxes.items() if box is not None}
    assert (at[leaf] < at["shop.cart.Cart.total"]) is is_left
    assert shop.open.picture("Cart.total", depth=2, tree=tree).svg == Path("tree.svg").read_text()
    assert exported(shop, run, "tree.dot", "--format", "dot", *options) == (n_nodes, n_edges)


def test_a_tree_needs_its_symbol(shop: Shop, run: Run) -> None:
    assert run("export", "x.svg", "--format", "svg", "--tree", "callers", "--lake", shop.uri)[0] == 2
    with pytest.raises(UsageError, match="callers, callees"):
        shop.open.picture("checkout", tree="everyone")


class Alive(dict[str, Any]):
    """A row whose end is noticed."""

    n = 0

    def __init__(self, columns: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(columns, "a"))
        self.update(dict.fromkeys(("start_line", "end_line", "start_byte", "end_byte", "confidence") & self.keys(), 1))
        Alive.n += 1

    def __del__(self) -> None:
        Alive.n -= 1


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "svg"])
def test_rows_are_written_as_they_come(tmp_path: Path, form: str) -> None:
    """Of many rows, no format holds more than Parquet writes at once."""
    most = 0

    def rows(columns: tuple[str, ...]) -> Iterator[Alive]:
        nonlocal most
        for _ in range(70_000):
            yield Alive(columns)
            most = max(most, Alive.n)

    part = Part(rows(NODE_COLUMNS), rows(EDGE_COLUMNS))
    FORMATS[form](tmp_path / "out", part)
    assert (part.n_nodes, part.n_edges) == (70_000, 70_000)
    assert most <= 65_537


def test_a_picture_is_refused_before_all_is_read() -> None:
    read = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal read
        for number in range(1_000_000):
            read += 1
            yield {"node_id": str(number)}

    with pytest.raises(Refused, match="300 nodes at most"):
        picture(Part(rows(), ()))
    assert read == 301


def test_memory_stays_flat(shop: Shop, tmp_path: Path) -> None:
    """A graph with many more edges is exported with hardly more memory: all the way from the files to the lines."""
    peaks = [peak_of_export(shop, tmp_path / str(n), n) for n in (20_000, 300_000)]
    print(f"most memory: {peaks[0]} MB, then {peaks[1]} MB")
    assert peaks[1] < peaks[0] + 50


def peak_of_export(shop: Shop, root: Path, n: int) -> int:
    """Of a process that exports a lake with so many edges, in MB."""
    one = shop.open.table("cpg_edges").to_arrow().slice(0, 1)
    runs = shop.open.sql("SELECT * FROM runs ORDER BY recorded_at DESC LIMIT 1").to_arrow()
    versions = pa.array([[("cpg_nodes", 0), ("cpg_edges", 0)]], runs.schema.field("versions").type)
    runs = runs.set_column(runs.schema.get_field_index("versions"), "versions", versions)
    ids = pa.array([f"{number:0100}" for number in range(n)])
    edges = one.take(pa.array([0] * n)).drop_columns(["src", "dst"]).append_column("src", ids).append_column("dst", ids)
    for name, rows in (("cpg_nodes", shop.open.table("cpg_nodes").to_arrow()), ("runs", runs)):
        write_deltalake(root / name, rows)
    write_deltalake(root / "cpg_edges", edges)
    (root / "_codelake.json").write_bytes((shop.root / "lake" / "_codelake.json").read_bytes())
    words = ["export", str(root / "out"), "--format", "jsonl", "--lake", str(root)]
    program = f"from codelake.cli.main import run; assert run({words!r}) == 0; {MOST_MEMORY}"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert sum(1 for _ in (root / "out" / "edges.jsonl").open()) == n
    return int(done.stdout.split()[-1])


MOST_MEMORY = "print(*[int(line.split()[1]) // 1024 for line in open('/proc/self/status') if line.startswith('VmHWM')])"


@pytest.mark.parametrize("form", ["graphml", "dot", "svg"])
def test_a_folder_that_is_not_there(shop: Shop, run: Run, form: str) -> None:
    code, _, err = run("export", "no/out", "--format", form, "--around", "checkout", "--lake", shop.uri)
    assert code == 5 and "no/out; expected a place that can be written to; found No such file" in err


@pytest.mark.parametrize("there", ["file", "folder"])
def test_nothing_is_overwritten(shop: Shop, run: Run, there: str) -> None:
    if there == "file":
        Path("out").write_text("mine")
    else:
        Path("out").mkdir()
        Path("out/mine").write_text("mine")
    code, _, err = run("export", "out", "--lake", shop.uri)
    assert code == 3 and "nothing there yet" in err
