"""What other tools claim, against what the linker finds: who is believed, and what is noted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from codelake.extract.batches import Batch
from codelake.extract.claims import claimed, open_scip
from codelake.extract.content import evidence_of
from codelake.graph.link.claims import COLUMNS
from tests.extract.scip_index import Index
from tests.graph.linking import Row, calls, edges, linked, rows_of, unit

SHAPES = """\
from typing import Protocol

class Shape(Protocol):
    def area(self): ...

class Square:
    side = 1
    def area(self): return 1

class Big(Square):
    def area(self): return 2

class Tile:
    def area(self): return 3

def total(): pass
"""


def weighed(files: Mapping[str, str], tmp_path: Path, **indexes: Index) -> list[Row]:
    """Rows of `links` of files of which indexes say something, by origin."""
    table, batch = unit(files), Batch()
    for text in files.values():
        batch.add("", evidence_of(text.encode()))
    table = table.append_column("nodes", pa.Table.from_batches([batch.record_batch()]).column("nodes"))
    for origin, index in indexes.items():
        report = open_scip(index.write(tmp_path / f"{origin}.scip"))
        rows = [
            claimed(report, "r", path, text.encode(), "d") if path in report.paths else None
            for path, text in files.items()
        ]
        table = table.append_column(
            COLUMNS[origin], pa.array([row.claims if row else None for row in rows], pa.binary())
        )
    return rows_of(table)


def of_use(use: str) -> tuple[dict[str, str], Index]:
    """A file `use.py` beside the shapes, and an index that defines these."""
    files = {"shapes.py": SHAPES, "use.py": use}
    index = Index(files)
    for text, nth, descriptors in (
        ("Shape", 0, "shapes/Shape#"),
        ("area", 0, "shapes/Shape#area()."),
        ("Square", 0, "shapes/Square#"),
        ("side", 0, "shapes/Square#side."),
        ("area", 1, "shapes/Square#area()."),
        ("Tile", 0, "shapes/Tile#"),
        ("area", 3, "shapes/Tile#area()."),
        ("total", 0, "shapes/total()."),
    ):
        index.define("shapes.py", text, descriptors, nth)
    return files, index


def disagreements(rows: list[Row]) -> list[tuple[Any, ...]]:
    every = [one for row in rows for one in row["disagreements"]]
    return [(one["kind"], one["origin"], one["own"], one["claimed"], one["verdict"]) for one in every]


def resolved(rows: list[Row]) -> set[tuple[str, str, float]]:
    every = (edge for row in rows for edge in row["edges"] if edge["kind"] == "RESOLVES_TO" and edge["n"] >= 0)
    return {(e["dst"], e["origin"], round(e["confidence"], 2)) for e in every}


def test_what_was_not_found_is_taken(tmp_path: Path) -> None:
    files, index = of_use("def run(p):\n    p.area()\n\ndef look(q):\n    return q.side\n")
    assert [(one["target"], one["reason"]) for one in calls(linked(files))] == [(None, "unknown receiver")]
    index.refer("use.py", "area", "shapes/Tile#area().").refer("use.py", "side", "shapes/Square#side.")
    rows = weighed(files, tmp_path, scip=index)
    [call] = calls(rows)
    assert (call["target"], call["method"], call["reason"]) == ("r:shapes.py#Tile.area", "scip", None)
    assert call["confidence"] == pytest.approx(0.9)
    assert ("r:use.py#run", "r:shapes.py#Tile.area") in edges(rows, "CALLER_OF")
    assert {("r:shapes.py#Tile.area", "scip", 0.9), ("r:shapes.py#Square:side", "scip", 0.9)} <= resolved(rows)
    origins = {edge["origin"] for row in rows for edge in row["edges"] if edge["dst"] == "r:shapes.py#Tile.area"}
    assert origins == {"scip"}
    assert disagreements(rows) == []


def test_something_external_is_taken_too(tmp_path: Path) -> None:
    files, index = of_use("def run(p):\n    p.strip()\n")
    index.refer("use.py", "strip", "builtins/str#strip().", package="python-stdlib 3.11")
    rows = weighed(files, tmp_path, scip=index)
    assert [one["target"] for one in calls(rows)] == ["::builtins.str.strip"]
    assert "::builtins.str.strip" in rows[1]["externals"]


def test_surer_evidence_is_kept_and_the_disagreement_noted(tmp_path: Path) -> None:
    files, index = of_use("from shapes import Square, total\n\ntotal()\nSquare().area()\n")
    index.refer("use.py", "total", "shapes/total().", 1).refer("use.py", "area", "shapes/Tile#area().")
    rows = weighed(files, tmp_path, scip=index)
    assert {one["target"] for one in calls(rows)} >= {"r:shapes.py#total", "r:shapes.py#Square.area"}
    own, other = "r:shapes.py#Square.area", "r:shapes.py#Tile.area"
    assert disagreements(rows) == [
        ("CALLS", "scip", own, other, "kept"),
        ("RESOLVES_TO", "scip", own, other, "kept"),
    ]
    [row] = [row for row in rows if row["path"] == "use.py"]
    place = row["disagreements"][0]
    assert files["use.py"][place["start_byte"] : place["end_byte"]] == "area"


GUESSED = """\
class Only:
    def only(self): pass

def guess(p):
    p.only()
"""


def test_a_claim_wins_against_a_guess(tmp_path: Path) -> None:
    files, index = of_use(GUESSED)
    index.refer("use.py", "only", "lib/Thing#only().", 1, package="lib 2")
    rows = weighed(files, tmp_path, scip=index)
    assert [(one["target"], one["method"]) for one in calls(rows)] == [("::lib.Thing.only", "scip")]
    assert {edge for edge in edges(rows, "CALLER_OF") if edge[0] == "r:use.py#guess"} == {
        ("r:use.py#guess", "::lib.Thing.only")
    }
    assert ("CALLS", "scip", "r:use.py#Only.only", "::lib.Thing.only", "taken") in disagreements(rows)


def test_a_claim_makes_one_of_the_candidates_surer(tmp_path: Path) -> None:
    files, index = of_use(GUESSED)
    [own] = calls(linked(files))
    assert (own["target"], own["method"]) == ("r:use.py#Only.only", "guess")
    index.define("use.py", "only", "use/Only#only().").refer("use.py", "only", "use/Only#only().", 1)
    rows = weighed(files, tmp_path, scip=index)
    [call] = calls(rows)
    assert (call["target"], call["method"]) == ("r:use.py#Only.only", "scip")
    assert call["confidence"] == pytest.approx(0.9)
    assert disagreements(rows) == []


def test_what_overrides_or_does_what_a_protocol_asks_agrees(tmp_path: Path) -> None:
    files, index = of_use("from shapes import Big, Tile\n\nBig().area()\nTile().area()\n")
    index.refer("use.py", "area", "shapes/Square#area().", 0).refer("use.py", "area", "shapes/Shape#area().", 1)
    rows = weighed(files, tmp_path, scip=index)
    targets = {one["target"] for one in calls(rows)}
    assert {"r:shapes.py#Big.area", "r:shapes.py#Tile.area"} <= targets
    assert disagreements(rows) == []


def test_what_the_lake_does_not_have_is_noted(tmp_path: Path) -> None:
    files, index = of_use("def run(p):\n    p.lost()\n\nclass Lost:\n    def lost(self): pass\n")
    index.define("use.py", "lost", "use/Gone#lost().", 1).refer("use.py", "lost", "use/Gone#lost().", 0)
    rows = weighed(files, tmp_path, scip=index)
    noted = [one for one in disagreements(rows) if one[-1] == "unknown"]
    assert {one[3] for one in noted} == {"r:use.py#Gone.lost"}


def test_of_two_tools_the_first_is_believed(tmp_path: Path) -> None:
    files, index = of_use("def run(p):\n    p.area()\n")
    index.refer("use.py", "area", "shapes/Tile#area().")
    _, other = of_use(files["use.py"])
    other.refer("use.py", "area", "shapes/Square#area().")
    rows = weighed(files, tmp_path, scip=index, pyrefly=other)
    assert [one["target"] for one in calls(rows)] == ["r:shapes.py#Tile.area"]
    noted = {one for one in disagreements(rows) if one[0] == "CALLS"}
    assert noted == {("CALLS", "pyrefly", "r:shapes.py#Tile.area", "r:shapes.py#Square.area", "kept")}


def test_without_claims_nothing_is_otherwise(tmp_path: Path) -> None:
    files, index = of_use("def run(p):\n    p.area()\n")
    assert weighed(files, tmp_path, scip=index) == linked(files) == weighed(files, tmp_path)
