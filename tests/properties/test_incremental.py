"""After any edits, the graph that was brought up to date is the one that is built anew, row by row."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codelake.contracts import EVIDENCE, Table
from codelake.contracts.operations import QUALITY
from codelake.contracts.sources import BLOBS, FILES
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake
from codelake.delta.run import Run
from codelake.extract.guard import Limits
from codelake.extract.sources import open_sources
from codelake.pipeline.build import BUILT, build
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from tests.extract.packages import fetched
from tests.lakes import PreparedLake
from tests.properties.edits import script, write

_SEEDS = range(1000, 1200)
_REAL = ("itsdangerous==2.2.0", "attrs==25.3.0", "click==8.1.8")
"""A quarter of the scripts edits one of these."""


def built(lake: Lake, folder: Path, open_units: OpenUnits | None = None) -> dict[str, Any]:
    return build(lake, Reading(open_sources([str(folder)]), Progress()), limits=Limits(), open_units=open_units)


def wait_until_ready(open_units: OpenUnits) -> None:
    """Until edits can be linked in a moment."""
    while not all(unit.is_ready() for unit in open_units.units.values()):
        time.sleep(0.05)


def rows(lake: Lake, table: Table) -> Counter[str]:
    """What the table holds, whatever the order. Contents that no file has any more stay in the lake, unseen."""
    shown = ", ".join(f'"{name}"' for name in table.column_names)
    used = "WHERE digest IN (SELECT digest FROM files)" if table in (BLOBS, EVIDENCE) else ""
    asked = (table,) if table is FILES else (table, FILES)
    found = ask(Run(lake, "reader"), asked, f"SELECT {shown} FROM {table.name} {used}")
    return Counter(map(repr, found.to_pylist()))


def broken_promises(lake: Lake) -> dict[tuple[str, str, str], int]:
    """As they were last counted."""
    sql = "SELECT rule, entity_id, issue, n FROM quality WHERE action = '' ORDER BY recorded_at"
    found = ask(Run(lake, "reader"), (QUALITY,), sql).to_pylist()
    counted = {(row["rule"], row["entity_id"], row["issue"]): row["n"] for row in found}
    return {key: n for key, n in counted.items() if n}


def check(lake: Lake, anew: Lake, said: object) -> None:
    for table in BUILT:
        here, there = rows(lake, table), rows(anew, table)
        assert here == there, (said, table.name, list((here - there).items())[:3], list((there - here).items())[:3])
    assert broken_promises(lake) == broken_promises(anew), said


def run_script(
    prepared_lake: PreparedLake, root: Path, seed: int, n: int, *, package: str = "", stays_linked: bool = False
) -> Iterator[list[str]]:
    folder = root / "source"
    if package:
        shutil.copytree(fetched(package, root), folder)
    else:
        write(folder)
    lake = prepared_lake(root / "lake")
    with OpenUnits() as open_units:
        kept = open_units if stays_linked else None
        built(lake, folder, kept)
        said = []
        for edits in script(seed, n, folder):
            said.append(edits)
            wait_until_ready(open_units)
            built(lake, folder, kept)
            yield edits
    anew = prepared_lake(root / "anew")
    built(anew, folder)
    check(lake, anew, (seed, said))


@pytest.mark.slow
def test_brought_up_to_date_is_built_anew(prepared_lake: PreparedLake, tmp_path: Path) -> None:
    assert len(list(run_script(prepared_lake, tmp_path, 1, 3))) == 3


@pytest.mark.soak
@pytest.mark.parametrize("seed", _SEEDS)
def test_two_hundred_scripts(prepared_lake: PreparedLake, tmp_path: Path, seed: int) -> None:
    package = "" if seed % 4 else _REAL[seed // 4 % len(_REAL)]
    print(f"seed {seed} {package}")
    for edits in run_script(prepared_lake, tmp_path, seed, 5, package=package, stays_linked=seed // 4 % 2 == 0):
        print("  ", "; ".join(edits))
