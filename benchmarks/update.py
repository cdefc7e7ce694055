"""What an edit costs, over what a full build costs, in one open session.

One file is edited, the lake is brought up to date and the new graph is asked for the edited function; p50 of 20 edits
of different files, over the wall time of building everything into another lake in the same session, after it is warm.
With the Spark jobs and commits of an update. Edits are of three kinds, in turn: a comment, a statement in the body of
a function, a new function that calls another. Then the same by commands of their own, beside the start of a session:
`codelake build` after an edit, and with nothing changed.

    python benchmarks/update.py [FOLDER...]

Without folders: Django, then pandas, sympy, Django and SQLAlchemy together, edited in Django.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from start import OURS, seconds_to_first_row

from codelake.contracts.graph import CPG_NODES
from codelake.delta.embedded import ask
from codelake.delta.lake import Lake, create_lake
from codelake.delta.run import Run
from codelake.delta.store import Store
from codelake.extract.guard import Limits
from codelake.extract.sources import open_source
from codelake.pipeline.build import build
from codelake.pipeline.open_units import OpenUnits
from codelake.pipeline.progress import Progress
from codelake.pipeline.reading import Reading
from codelake.session import session, stop
from codelake.settings import load
from extract import downloaded

N_EDITS = 20
N_COLD = 3


def commented(text: str, n: int) -> str:
    return f"{text}\n# edit {n}\n"


def stated(text: str, n: int) -> str:
    """One more statement at the end of the last function of the module, or at its own end."""
    return (
        f"{text.rstrip()}\n    _edit_{n} = len(str({n}))\n"
        if text.rstrip().splitlines()[-1][:4] == "    "
        else text + f"_edit_{n} = len('')\n"
    )


def defined(text: str, n: int) -> str:
    return f"{text}\n\ndef edit_{n}(value):\n    return len(str(value))\n"


EDITS: tuple[Callable[[str, int], str], ...] = (commented, stated, defined)


def built(lake: Lake, folders: list[Path], open_units: OpenUnits | None = None) -> dict[str, Any]:
    sources = [open_source(folder) for folder in folders]
    return build(lake, Reading(sources, Progress()), limits=Limits(), open_units=open_units)


def measure(folders: list[Path], edited: Path) -> tuple[float, float]:
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        spark = session(load({"master": "local[2]"}))
        scheduler = spark.sparkContext._jsc.sc().dagScheduler()  # type: ignore[union-attr]
        lake = create_lake(Store(f"{scratch}/lake"), spark)
        built(lake, folders)  # warms the session
        started = time.perf_counter()
        built(create_lake(Store(f"{scratch}/again"), spark), folders)
        whole = time.perf_counter() - started
        files = sorted(edited.rglob("*.py"), key=lambda file: file.stat().st_size)[-200:]
        seconds: dict[str, list[float]] = {edit.__name__: [] for edit in EDITS}
        started = time.perf_counter()
        open_units = stack.enter_context(OpenUnits())
        built(lake, folders, open_units)
        while not all(unit.is_ready() for unit in open_units.units.values()):
            time.sleep(0.1)
        opening, opened = time.perf_counter() - started, ", ".join(open_units.units)
        jobs, commits = [], []
        for n in range(N_EDITS):
            file, edit = files[n * 7 % len(files)], EDITS[n % len(EDITS)]
            file.write_text(edit(file.read_text(), n))
            before, started = scheduler.numTotalJobs(), time.perf_counter()
            done = built(lake, [edited], open_units)
            ask(Run(lake, "reader"), (CPG_NODES,), f"SELECT node_id FROM cpg_nodes WHERE name = 'edit_{n}'")
            seconds[edit.__name__].append(time.perf_counter() - started)
            jobs.append(scheduler.numTotalJobs() - before)
            commits.append(len(done["versions"]))
        stop(spark)
        start = statistics.median(seconds_to_first_row(OURS) for _ in range(N_COLD))
        command = [str(Path(sys.executable).with_name("codelake")), "build", str(edited), "--lake", lake.store.root]
        cold = []
        for n in range(N_COLD):
            files[n].write_text(defined(files[n].read_text(), N_EDITS + n))
            cold.append(took(command))
        nothing = took(command)
    p50 = statistics.median([one for each in seconds.values() for one in each])
    print(f"{', '.join(folder.name for folder in folders)}, edited in {edited.name}")
    print(f"full build   {whole:7.1f} s")
    print(f"open units   {opening:7.1f} s   once a session, in processes of their own: {opened}")
    print(f"update p50   {p50:7.1f} s   1/{whole / p50:.1f}   (bar 1/10, goal 3 s)")
    for name, found in seconds.items():
        print(f"  {name:10} {statistics.median(found):7.1f} s")
    print(f"per update   {statistics.median(jobs):.0f} Spark jobs, {statistics.median(commits):.0f} tables committed")
    print(f"session      {start:7.1f} s   process start to first Delta row, as in start.py")
    bound = start + 1.5 * p50
    print(f"cold update  {statistics.median(cold):7.1f} s   `codelake build`, a function added   (bar {bound:.1f})")
    print(f"cold, as is  {nothing:7.1f} s   `codelake build`, nothing changed")
    return whole, p50


def took(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    if sys.argv[1:]:
        folders = [Path(folder) for folder in sys.argv[1:]]
        with tempfile.TemporaryDirectory() as scratch:
            copies = [Path(shutil.copytree(folder, Path(scratch) / folder.name)) for folder in folders]
            measure(copies, copies[0])
        return
    with tempfile.TemporaryDirectory() as scratch:
        names = ("pandas", "sympy", "django", "sqlalchemy")
        for name in names:  # as in a repository: the package in a folder
            shutil.copytree(downloaded() / name, Path(scratch) / name / name)
        django = Path(scratch) / "django"
        _, small = measure([django], django)
        _, large = measure([Path(scratch) / name for name in names], django)
        print(f"on the large lake {large / small:.2f} times as long   (bar 1.7)")


if __name__ == "__main__":
    # Compiled modules are kept, as for a user.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
