"""What must not change unnoticed: the plans of a scan and of the gates as Spark has them, the pipeline, and the
records that others read. Each is a file beside this one; a change that is meant is written there with
`WRITE_GOLDEN=1 pytest tests/golden`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from codelake.contracts import TABLES, Check
from codelake.delta.create import create_table
from codelake.delta.gates import gated
from codelake.delta.lake import Lake
from codelake.delta.scan import scan
from codelake.delta.write import commit
from codelake.pipeline.manifest import schema
from codelake.pipeline.stages import STAGES
from tests.delta.things import THINGS, frame, new_run, with_checks

HERE = Path(__file__).parent


def same(name: str, text: str) -> None:
    file = HERE / name
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(text)
    assert file.read_text() == text


def plan(rows: DataFrame) -> str:
    """Optimized, without what differs from run to run: ids of expressions, paths, how many rows there are by now."""
    text = rows._jdf.queryExecution().optimizedPlan().toString()  # type: ignore[operator]
    text = re.sub(r"#\d+L?", "", text)
    return re.sub(r"(?:file:)?/\S*/(\w+)\b(?=[\],` ])", r"\1", text)


@pytest.mark.slow
def test_plans(lake: Lake) -> None:
    contract = with_checks(Check("size_positive", "size > 0"), Check("owned", "owner <> ''", "drop"))
    create_table(lake, contract)
    commit(new_run(lake), contract, frame(lake, [(1, "a", 1)]), mode="append")
    project = {"id": "id", "twice": "size * 2"}
    read = scan(new_run(lake), contract, where="owner = 'a' AND size > 1", project=project, origin="file")
    rows = frame(lake, [(2, "b", 2)])
    others = scan(new_run(lake), contract)
    write = gated(rows, contract, lake.log("things"), others=others, referred={}).rows(counting=False)
    same("plans.txt", f"scan\n\n{plan(read)}\ngates\n\n{plan(write)}")


def test_the_pipeline() -> None:
    lines = [
        f"{one.name}: {', '.join(t.name for t in one.reads)} -> {', '.join(t.name for t in one.writes)}"
        f" ({one.cache}{', alone' if one.alone else ''})"
        for one in STAGES
    ]
    same("stages.txt", "\n".join(lines) + "\n")


def test_the_manifest_is_as_its_schema_says() -> None:
    page = HERE.parents[1] / "docs" / "manifest.schema.json"
    made = json.dumps(schema(), indent=2, sort_keys=True) + "\n"
    assert page.read_text() == made, "run: .venv/bin/python -m codelake.pipeline.manifest > docs/manifest.schema.json"


def test_records() -> None:
    """Names and types of every table's typed record."""
    lines = []
    for table in (*TABLES, THINGS):
        fields = table.record.__annotations__
        lines += [table.name, *(f"  {name}: {getattr(kind, '__name__', kind)}" for name, kind in fields.items())]
    same("records.txt", "\n".join(lines) + "\n")
