"""How long questions take: in a process that is warm, and as a command from a shell.

Warm: p50 and p95 in milliseconds of each question, asked of symbols with many callers and with few; then `callers` of
the symbols that the first lake was asked for: what is most called in a larger lake has more callers, and to list more
takes longer in a lake of any size. Cold: each question as a command, `callers` also over a Python that only imports
deltalake, in turn with it; all of a symbol of the first lake. Then the same at every earlier run, and the most memory
of a process that answers one question.

    python benchmarks/query.py [LAKE...]

Without lakes: Django, then pandas, sympy, Django and SQLAlchemy together, each built, edited and looked after in a
temporary folder. What an edit costs those who ask, until `codelake maintain`, is seen at the run before the last.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import codelake
from codelake.query.answer import Answer
from codelake.query.lake import OpenLake
from extract import downloaded

N_SYMBOLS = 20
N_COLD = 15
SETS = (("django",), ("pandas", "sympy", "django", "sqlalchemy"))
COMMAND = [str(Path(sys.executable).with_name("codelake"))]
BARE = [sys.executable, "-c", "import deltalake"]
# Not `getrusage`: that begins with what the process had before it became this program.
MEMORY = "print(*[int(line.split()[1]) // 1024 for line in open('/proc/self/status') if line.startswith('VmHWM')])"


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def quantiles(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered):7.1f}  p95 {ordered[int(0.95 * (len(ordered) - 1))]:7.1f}"


def questions(lake: OpenLake, symbols: list[str]) -> dict[str, list[Callable[[], Answer]]]:
    """By name, one call a symbol; the last few are asked about the whole run."""
    return {
        "find": [lambda s=s: lake.find(s) for s in symbols],
        "find, an ending": [lambda s=s: lake.find(s.rpartition(".")[2]) for s in symbols],
        "callers": [lambda s=s: lake.callers(s) for s in symbols],
        "callers, depth 3": [lambda s=s: lake.callers(s, depth=3) for s in symbols],
        "callees": [lambda s=s: lake.callees(s) for s in symbols],
        "refs": [lambda s=s: lake.refs(s) for s in symbols],
        "impact": [lambda s=s: lake.impact(s) for s in symbols],
        "neighbors": [lambda s=s: lake.neighbors(s) for s in symbols],
        "show": [lambda s=s: lake.show(s) for s in symbols],
        "path": [lambda a=a, b=b: lake.path(a, b) for a, b in pairwise(symbols)],
        "hot": [lake.hot] * 5,
        "unresolved": [lake.unresolved] * 5,
        "diff": [lambda: lake.diff("1")] * 3,
    }


def warm(root: Path, at: str | None, first: list[str]) -> tuple[list[str], float]:
    """The lake's own symbols, and the p50 of `callers` of `first`, those of the first lake."""
    lake = codelake.open(root, at=at)
    called = [row["name"] for row in lake.hot(limit=N_SYMBOLS**2)]
    symbols = called[:: max(1, len(called) // N_SYMBOLS)][:N_SYMBOLS]
    lake.callers(symbols[0])
    for name, asked in questions(lake, symbols).items():
        print(f"  {name:18} {quantiles([milliseconds(each) for each in asked])} ms")
    same = [milliseconds(lambda s=s: lake.callers(s)) for s in first or symbols]
    print(f"  {'callers, the same':18} {quantiles(same)} ms")
    return symbols, statistics.median(same)


def cold(root: Path, symbol: str, at: str | None = None) -> None:
    """`callers` in turn with what it is compared with; then the other questions, fewer times."""
    ending = ["--lake", str(root), *(["--at", at] if at else [])]
    ours, bare = [], []
    for _ in range(N_COLD):
        bare.append(started(BARE))
        ours.append(started([*COMMAND, "callers", symbol, *ending]))
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"  {'callers':18} {quantiles(ours)} ms; import deltalake {quantiles(bare)} ms; {ratio:.2f} times   (bar 3)")
    about = ("find", "callees", "refs", "impact", "neighbors", "show")
    others = [*([name, symbol] for name in about), ["path", symbol, symbol], ["hot"], ["unresolved"]]
    # `diff` names both of its runs itself.
    others += [] if at else [["diff", "1"]]
    for words in others:
        times = [started([*COMMAND, *words, *ending]) for _ in range(N_COLD // 3)]
        print(f"  {words[0]:18} {quantiles(times)} ms")


def started(command: list[str]) -> float:
    """A question may have no answer, which is the code 1: any other is a failure."""
    begun = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return (time.perf_counter() - begun) * 1000


def memory(root: Path, symbol: str) -> None:
    asked = f"import codelake; codelake.open({str(root)!r}).callers({symbol!r}); {MEMORY}"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    print(f"  {done.stdout.strip()} MB")


def measure(root: Path, first: list[str], of_first: float) -> tuple[list[str], float]:
    """What `warm` gives of the last run; `of_first` is that of the first lake."""
    print(f"{root}: warm, at the last run")
    symbols, present = warm(root, None, first)
    if first:
        print(f"  {'':18} {present / of_first:.2f} times the first lake   (bar 1.5)")
    symbol = (first or symbols)[N_SYMBOLS // 2]
    earlier = [str(number) for number in range(n_runs(root) - 1, 0, -1)]
    for run in earlier:
        print(f"warm, at run {run}")
        _, past = warm(root, run, first or symbols)
        print(f"  {'':18} {past / present:.2f} times the last run   (bar 2)")
    for at in (None, *earlier):
        print(f"cold, at {'the last run' if at is None else f'run {at}'}")
        cold(root, symbol, at)
    print("most memory of one `callers`")
    memory(root, symbol)
    return symbols, present


def n_runs(root: Path) -> int:
    return int(codelake.open(root).sql("SELECT count(*) AS n FROM runs").rows[0]["n"])


def built(folders: list[Path], root: Path) -> Path:
    command = [*COMMAND, "build", *map(str, folders), "--lake", str(root), "--quiet"]
    for excluded in ("nothing/", "contrib/gis/"):
        subprocess.run([*command, "--exclude", excluded], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*COMMAND, "maintain", "--lake", str(root)], check=True, stdout=subprocess.DEVNULL)
    return root


def main(lakes: list[str]) -> None:
    first: list[str] = []
    of_first = 0.0
    sources = None if lakes else downloaded()
    for names in [[lake] for lake in lakes] or SETS:
        with tempfile.TemporaryDirectory() as folder:
            root = (
                Path(names[0]) if sources is None else built([sources / name for name in names], Path(folder) / "lake")
            )
            symbols, present = measure(root, first, of_first)
            first, of_first = first or symbols, of_first or present


if __name__ == "__main__":
    os.environ["PYTHONWARNINGS"] = "ignore"
    # Compiled modules are kept, as for a user: of deltalake they were when it was installed.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main(sys.argv[1:])
