"""A build killed anywhere: readers see the run before it, and the next build makes what a rebuild would."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.digest import embedded_digest
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.runs import last_published
from codelake.delta.store import Store
from codelake.pipeline.build import BUILT
from tests.faults.conftest import Worker
from tests.lakes import PreparedLake
from tests.properties.edits import write
from tests.properties.test_incremental import built, check

_AFTER = {
    "shop/tax.py": "import math\nfrom shop.money import Money\n\n\ndef taxed(money):\n    return math.ceil(money)\n",
    "shop/fresh.py": "import json\nfrom shop import Basket\n\n\ndef made():\n    return json.dumps(Basket().sum())\n",
}
_N_COMMITS = 18
"""At least as many as the build makes; one that is beyond is a build that is not killed."""
_EVERY = [
    (at, when, which) for at in range(1, _N_COMMITS) for when in ("before", "after") for which in ("python", "jvm")
]
_SAMPLE = (6, "after", "python")
_CASES = [pytest.param(*one, marks=pytest.mark.slow if one == _SAMPLE else pytest.mark.soak) for one in _EVERY]


@pytest.fixture(scope="module")
def lakes(prepared_lake: PreparedLake, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Lake]:
    """Before the change; and anew, of what there is after it. The sources lie beside them."""
    root = tmp_path_factory.mktemp("killed")
    write(root / "shop")
    old = prepared_lake(root / "old")
    built(old, root / "shop")
    write(root / "shop", _AFTER)
    anew = prepared_lake(root / "anew")
    built(anew, root / "shop")
    return old, anew


@pytest.mark.parametrize(("at", "when", "which"), _CASES)
def test_a_killed_build_is_not_seen_and_the_next_goes_on(
    spark: SparkSession,
    lakes: tuple[Lake, Lake],
    start_workers: Callable[..., list[Worker]],
    tmp_path: Path,
    at: int,
    when: str,
    which: str,
) -> None:
    old, anew = lakes
    sources = old.store.path.parent / "shop"
    shutil.copytree(old.store.path, tmp_path / "lake")
    lake = create_lake(Store(str(tmp_path / "lake")), spark)
    before = last_published(Run(lake, "reader"))
    assert before is not None
    digests = {table.name: embedded_digest(lake.log(table.name)) for table in BUILT}
    [worker] = start_workers(1)
    both = ["python", "jvm"] if which == "python" else ["jvm"]
    worker.ask(do="build_and_die", lake=str(tmp_path / "lake"), folder=str(sources), at=at, when=when, which=both)
    with contextlib.suppress(AssertionError):  # it has died
        worker.answer()
    seen = last_published(Run(lake, "reader"))
    assert seen is not None
    if seen.run_id == before.run_id:
        for table in BUILT:
            found = embedded_digest(lake.log(table.name, version=seen.versions[table.name]))
            assert found == digests[table.name], table.name
    built(lake, sources)
    check(lake, anew, (at, when, which))
    last = last_published(Run(lake, "reader"))
    assert last is not None and last.run_id != before.run_id
