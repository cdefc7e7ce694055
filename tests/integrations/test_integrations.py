"""Hamilton, Ibis, DataFusion and catalogues on a real lake, with the real packages."""

from __future__ import annotations

import runpy
import shutil
import textwrap
from collections import Counter
from importlib import import_module
from pathlib import Path

import ibis
import pyarrow as pa
import pytest
from datafusion import SessionContext
from hamilton import driver

from codelake.contracts.views import View
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.maintenance.optimize import optimize
from codelake.delta.run import Run, pin
from codelake.delta.write import commit
from codelake.errors import ContractBroken, FeedUnavailable, UsageError
from codelake.integrations.catalogue import registration_script
from codelake.integrations.datafusion import register, register_changes
from codelake.integrations.hamilton import LakeStore
from codelake.integrations.ibis import read, write
from tests.delta.history import NEWEST, PUBLISHED, UNSORTED
from tests.delta.things import THINGS, stored
from tests.integrations import dataflow
from tests.integrations.counts import COUNTS
from tests.query.conftest import Shop

pytestmark = pytest.mark.slow

BY_OWNER = [("o0", 2), ("o1", 3), ("o2", 3), ("o3", 1)]


def flow_on(lake: Lake, folder: Path) -> driver.Driver:
    store = LakeStore(lake)
    return driver.Builder().with_modules(dataflow).with_cache(path=folder, result_store=store).build()


def test_hamilton(historic: Lake, tmp_path: Path) -> None:
    create_table(historic, COUNTS)
    run = Run(historic, "hamilton", stage="counts", pipeline="hamilton")
    flow = flow_on(historic, tmp_path)
    found = flow.execute(["counts", "saved"], inputs={"run": run})
    assert found["saved"]["version"] == 1 and run.pinned_versions["things"] == NEWEST
    assert stored(historic, COUNTS) == BY_OWNER
    again = flow.execute(["saved"], inputs={"run": run})
    assert historic.log("counts").version == 1, "a run commits once"
    assert again["saved"]["version"] == 1


def test_hamilton_takes_from_its_cache_what_the_same_rows_gave(historic: Lake, tmp_path: Path) -> None:
    dataflow.COMPUTED.clear()

    def total(owner: str, at: int | None = None) -> int:
        run = Run(historic, "hamilton")  # with a driver of its own, as another process would have it
        pin(run, THINGS, at=at)
        inputs = {"run": run, "where": f"owner = '{owner}'"}
        return int(flow_on(historic, tmp_path).execute(["total"], inputs=inputs)["total"])

    assert [total("o1"), total("o2"), total("o1"), total("o2")] == [45, 75, 45, 75], "as many rows, but others"
    assert dataflow.COMPUTED == [45, 75]
    optimize(Run(historic, "upkeep"), THINGS)
    commit(Run(historic, "edit"), THINGS, mode="update", where="id = 11", values={"size": "size + 1"})
    assert [total("o1"), total("o2"), total("o1", NEWEST)] == [46, 75, 45]
    assert dataflow.COMPUTED == [45, 75, 46], "once for the same rows, whatever the version"


def test_the_store_of_results(historic: Lake) -> None:
    store, rows = LakeStore(historic), pa.table({"a": [1, 2]})
    assert store.get("v1") is None
    store.set("v1", rows)
    assert store.exists("v1") and store.get("v1") == rows
    with pytest.raises(UsageError, match="an Arrow table"):
        store.set("v2", object())
    for plain in ((rows, {"version": 3}), {"n": 1}, [1, None]):
        store.set("v4", plain)
        assert store.get("v4") == plain
    store.delete("v1")
    store.set("v3", rows)
    store.delete_all()
    assert not store.exists("v1") and not store.exists("v3") and "_hamilton" not in historic.table_names()


def test_ibis_reads_at_pins_and_writes_through_the_gates(historic: Lake) -> None:
    create_table(historic, COUNTS)
    run = Run(historic, "ibis", stage="counts")
    pin(run, UNSORTED, at=1)
    counts = read(run, THINGS, columns=["owner"]).group_by("owner").agg(n=ibis._.count()).order_by("owner")
    assert [tuple(row.values()) for row in counts.to_pyarrow().to_pylist()] == BY_OWNER
    assert read(run, UNSORTED, where="id > 1").count().to_pyarrow().as_py() == 2, "as it was at version 1"
    assert run.pinned_versions == {"things": NEWEST, "unsorted": 1}
    assert write(run, COUNTS, counts, mode="overwrite").version == 1
    assert stored(historic, COUNTS) == BY_OWNER
    with pytest.raises(ContractBroken):
        write(run, COUNTS, counts.mutate(owner=ibis.null(str)), mode="overwrite")


def test_datafusion(historic: Lake) -> None:
    context = SessionContext()
    assert register(context, historic, "things") == NEWEST
    assert register(context, historic, "things", at=PUBLISHED, name="before") == PUBLISHED
    register_changes(context, historic, "things", after=NEWEST - 1)
    rows = context.sql(
        "SELECT (SELECT count(*) FROM things) AS a, (SELECT count(*) FROM before) AS b, "
        "(SELECT max(id) FROM things_changes) AS c"
    ).to_pylist()
    assert list(rows[0].values()) == [9, 9, 2]
    kinds = context.sql("SELECT _change_type AS kind FROM things_changes").to_pylist()
    assert Counter(row["kind"] for row in kinds) == {"delete": 1}
    [path] = historic.log("things").feed_files(4)
    (historic.store.path / "things" / path).unlink()
    with pytest.raises(FeedUnavailable, match=f"the file {path}"):
        register_changes(context, historic, "things", after=3, until=4, name="lost")


def test_a_catalogue_comes_to_know_the_lake(historic: Lake) -> None:
    view = View("owners", "Owners.", ("owner",), "SELECT DISTINCT owner FROM things")
    lost = View("lost", "On a table that is not there.", ("x",), "SELECT x FROM nowhere")
    script = registration_script(historic, (THINGS, UNSORTED, COUNTS), schema="graph", views=(view, lost))
    assert len(script) == 4
    spark = historic.session
    for statement in script:
        spark.sql(statement)
    assert spark.sql("SELECT count(*) AS n FROM graph.owners").collect()[0].n == 4
    assert spark.sql("SELECT count(*) AS n FROM graph.things").collect()[0].n == 9
    spark.sql("DROP SCHEMA graph CASCADE")
    assert historic.exists("things"), "only the catalogue forgot it"
    assert "`main`.`graph`.`things`" in registration_script(historic, (THINGS,), schema="main.graph", views=())[1]


@pytest.mark.parametrize(
    ("name", "leaves"),
    [
        ("datafusion", "DataFrame()"),
        ("hamilton", "RESOLVES_TO"),
        ("ibis", ".codelake/called/_delta_log"),
        ("openlineage", "events.jsonl"),
    ],
)
def test_the_examples_word_for_word(
    shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    leaves: str,
) -> None:
    """What each file has at its top is a program: on a lake that was built, in a folder of its own."""
    shutil.copytree(shop.uri, tmp_path / ".codelake")
    page = import_module(f"codelake.integrations.{name}").__doc__
    lines = [line for line in page.splitlines() if line.startswith("    ") or not line]
    (tmp_path / "example.py").write_text(textwrap.dedent("\n".join(lines)))
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert leaves in capfd.readouterr().out or (tmp_path / leaves).exists()
