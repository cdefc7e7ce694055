"""Callers and callees against what really ran: the test suites of packages from PyPI, and the migrations, queries and
admin pages of a small Django project, under a profiler (`traced.py`). The kernel runs in this process, without Spark.

Of the pairs of a package's own functions of which one really called the other: how many are CALLER_OF edges (of any
kind; and of the explicit ones, whose callee is no special method but `__init__` or `__call__`). Of the call sites that
ran and have targets: at how many the one that ran is among them; what `str(x)` or `list(x)` makes Python call in turn
is no target of theirs. Edges count from a confidence of 0.5 on. What is
missing is listed by reason. Packages that are kept aside are printed apart: nothing was mended by looking at them.

    python benchmarks/dynamic.py [-v] [NAME...]

Packages, tests and traces are kept in the cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from link import SURE, Row, known, sources, unit

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.graph import LINKED
from codelake.extract.content import evidence_of
from codelake.graph.link.kernel import link
from codelake.settings import load

HERE = Path(__file__).parent
PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:asyncio")


class Package(NamedTuple):
    name: str
    version: str
    folder: str
    """Of the package, where it is installed."""
    command: tuple[str, ...]
    copied: tuple[str, ...] = ("tests",)
    """What its tests need of its source distribution."""
    is_aside: bool = False


PACKAGES = (
    Package("click", "8.1.8", "click", (*PYTEST, "tests")),
    Package("jinja2", "3.1.6", "jinja2", (*PYTEST, "tests", "--ignore-glob=tests/test_async*")),
    Package("marshmallow", "3.26.1", "marshmallow", (*PYTEST, "tests", "--ignore=tests/mypy_test_cases")),
    Package("sqlparse", "0.5.3", "sqlparse", (*PYTEST, "tests")),
    Package("attrs", "25.3.0", "attr", (*PYTEST, "tests", "-k", "not mypy"), ("tests", "conftest.py")),
    Package(
        "pyparsing",
        "3.2.3",
        "pyparsing",
        (*PYTEST, "tests/test_simple_unit.py", "tests/test_unit.py"),
        ("tests", "examples"),
    ),
    Package(
        "tornado",
        "6.5.2",
        "tornado",
        (
            "unittest",
            "-q",
            *(
                f"tornado.test.{name}_test"
                for name in (
                    "web",
                    "httpclient",
                    "gen",
                    "ioloop",
                    "template",
                    "routing",
                    "options",
                    "websocket",
                    "iostream",
                )
            ),
        ),
        (),
    ),
    Package("networkx", "3.5", "networkx", (*PYTEST, "--pyargs", "networkx.classes", "networkx.readwrite"), ()),
    Package("Django", "5.2.8", "django", ("django_project",), ()),
    Package("lark", "1.2.2", "lark", (*PYTEST, "tests", "--ignore=tests/test_nearley"), is_aside=True),
    Package(
        "werkzeug",
        "3.1.3",
        "werkzeug",
        (*PYTEST, "tests", "--timeout=60", "--ignore=tests/test_serving.py", "--ignore=tests/live_apps"),
        is_aside=True,
    ),
)
NEEDED = ("pytest==8.4.2", "hypothesis", "simplejson", "ephemeral-port-reserve", "pytest-timeout")
"""By the tests."""


# what ran ----------------------------------------------------------------------------------------


def traced(package: Package, cache: Path) -> Path:
    """The trace of a package's tests, made once."""
    out = cache / f"{package.name}-{package.version}.jsonl"
    if out.exists():
        return out
    installed = _installed(cache)
    work = cache / "work" / package.name
    work.mkdir(parents=True, exist_ok=True)
    if package.copied:
        _unpack(package, cache, work)
    run = [sys.executable, HERE / "traced.py", out, installed / package.folder, *package.command]
    environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{HERE}"}
    done = subprocess.run(run, cwd=work, env=environment, capture_output=True, text=True, check=False)
    last = (done.stdout.strip() or done.stderr.strip() or "nothing printed").splitlines()[-1]
    print(f"{package.name}: {last}", file=sys.stderr)
    return out


def _installed(cache: Path) -> Path:
    folder = cache / "site"
    if not folder.exists():
        wanted = [f"{one.name}=={one.version}" for one in PACKAGES]
        install = ["pip", "install", "--quiet", "--target", str(folder), *wanted, *NEEDED]
        subprocess.run([sys.executable, "-m", *install], check=True)
    return folder


def _unpack(package: Package, cache: Path, work: Path) -> None:
    fetch = ["pip", "download", "--quiet", "--no-deps", "--no-binary", package.name, "--dest", str(cache / "sdists")]
    wanted = f"{package.name}=={package.version}"
    subprocess.run([sys.executable, "-m", *fetch, wanted], check=True)
    archive = next((cache / "sdists").glob(f"{package.name}-{package.version}.*"))
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            _, _, below = member.name.partition("/")
            if below.split("/")[0] in package.copied:
                member.name = below
                tar.extract(member, work, filter="data")


# what the linker says ----------------------------------------------------------------------------


class Functions:
    """The functions and call sites of one file, as a trace names them."""

    def __init__(self, raw: bytes, file: str) -> None:
        self.raw, evidence = raw, evidence_of(raw).columns
        self.starts, self.ends, lines = evidence["nodes"][4], evidence["nodes"][5], evidence["nodes"][6]
        nodes, kinds, names, *_, bodies, _ = evidence["definitions"]
        first = dict(zip(reversed(evidence["decorators"][0]), reversed(evidence["decorators"][1]), strict=True))
        self.by_line: dict[tuple[int, str], list[str]] = defaultdict(list)
        self.spans: list[tuple[int, int, str]] = []
        for place, (node, kind, name, body) in enumerate(zip(nodes, kinds, names, bodies, strict=True)):
            of = f"{file}#{evidence['scopes'][4][body] or '<module>'}"
            self.spans.append((self.starts[node], self.ends[node], of))
            if kind != "class":
                line = 1 if kind == "module" else lines[first.get(place, node)]
                self.by_line[line, {"module": "<module>", "lambda": "<lambda>"}.get(kind, name)].append(of)
        self.calls = {(self.starts[node], self.ends[node]): node for node in evidence["calls"][0]}
        self.lines = [0, 0, *(place + 1 for place, byte in enumerate(raw) if byte == ord("\n"))]

    def function(self, line: int, name: str) -> str | None:
        found = self.by_line.get((line, name.rpartition(".")[2]), [])
        return found[0] if len(found) == 1 else None

    def span(self, place: list[int]) -> tuple[int, int]:
        line, column, end_line, end_column = place
        return self.lines[line] + column, self.lines[end_line] + end_column

    def names(self, place: list[int], callee: str) -> bool:
        """Whether a call may be meant to call this. Profilers do not see that types are called: `str(x)` seems to
        call `__str__` directly. A special method is meant where its name is written."""
        start, end = self.span(place)
        name = callee.rpartition(".")[2].partition("~")[0]
        return is_explicit(callee) or name == "__new__" or name.encode() in self.raw[start:end]

    def around(self, place: list[int]) -> str:
        """The innermost definition."""
        start, end = self.span(place)
        return min((e - s, of) for s, e, of in self.spans if (s <= start and end <= e) or of.endswith("<module>"))[1]


class Linked:
    """What the linker says of a package."""

    def __init__(self, files: dict[str, bytes]) -> None:
        rows = with_lists(link(unit(files), known()), LINKED).to_pylist()
        self.callers: set[tuple[str, str]] = set()
        self.targets: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.orders = {one["mro"][0]: one["mro"] for row in rows for one in row["classes"]}
        self.reasons: dict[tuple[str, int], str] = {}
        for row in rows:
            for edge in row["edges"]:
                self._add(row, edge)

    def _add(self, row: Row, edge: Row) -> None:
        if edge["kind"] == "CALLER_OF" and edge["confidence"] >= SURE:
            self.callers.add((edge["src"], edge["dst"]))
        elif edge["kind"] == "CALLS" and edge["confidence"] >= SURE:
            self.targets[row["path"], edge["node"]].add(edge["dst"])

    def calls(self, target: str, callee: str) -> bool:
        """Whether a target is what ran, or a class that is made by it."""
        owner, _, name = callee.rpartition(".")
        return target == callee or (
            name.partition("~")[0] in ("__init__", "__new__", "__call__") and owner in self.orders.get(target, ())
        )


# one against the other ---------------------------------------------------------------------------


class Score:
    def __init__(self) -> None:
        self.pairs = [0, 0]
        self.explicit = [0, 0]
        self.sites = [0, 0]
        self.reasons: Counter[str] = Counter()

    def add(self, other: Score) -> None:
        for mine, its in ((self.pairs, other.pairs), (self.explicit, other.explicit), (self.sites, other.sites)):
            mine[0] += its[0]
            mine[1] += its[1]
        self.reasons += other.reasons

    def print(self, name: str) -> None:
        parts = (("edges", self.pairs), ("explicit", self.explicit), ("sites", self.sites))
        text = "  ".join(f"{word} {right / max(n, 1):.1%} of {n:,}" for word, (right, n) in parts)
        print(f"{name:12} {text}")


def is_explicit(callee: str) -> bool:
    name = callee.rpartition(".")[2].partition("~")[0]
    return name in ("__init__", "__call__") or not (name.startswith("__") and name.endswith("__"))


def compared(trace: Path, package: Path, is_verbose: bool) -> Score:
    files = {p: raw for p, raw in sources(package, package.parent).items() if not {"test", "tests"} & set(p.split("/"))}
    linked = Linked(files)
    known = {str(package.parent.resolve() / path): Functions(raw, f"r:{path}") for path, raw in files.items()}
    ran: dict[tuple[str, str], list[tuple[str, int | None, bool]]] = defaultdict(list)
    for text in trace.read_text().splitlines():
        (path, line, name, place), (callee_path, callee_line, callee_name), is_direct = json.loads(text)
        if path not in known or callee_path not in known:
            continue
        of = known[path]
        is_comprehension = name.endswith(("comp>", "<genexpr>"))
        caller = of.around(place) if is_comprehension else of.function(line, name)
        callee = known[callee_path].function(callee_line, callee_name)
        if caller is not None and callee is not None:
            file = str(Path(path).relative_to(package.parent.resolve()))
            ran[caller, callee].append((file, of.calls.get(of.span(place)), is_direct and of.names(place, callee)))
    score = Score()
    for (caller, callee), places in sorted(ran.items()):
        is_found = (caller, callee) in linked.callers
        score.pairs[0] += is_found
        score.pairs[1] += 1
        score.explicit[0] += is_found and is_explicit(callee)
        score.explicit[1] += is_explicit(callee)
        reason = _compare_sites(linked, callee, places, score)
        if not is_found:
            score.reasons[reason] += 1
            if is_verbose:
                print(f"  {reason}: {caller} -> {callee}")
    return score


def _compare_sites(linked: Linked, callee: str, places: list[tuple[str, int | None, bool]], score: Score) -> str:
    """Counts the call sites of a pair, and says why the pair may be missing."""
    reason = "special method" if not is_explicit(callee) else "not written as a call"
    for file, node, is_direct in set(places):
        if not is_direct:
            reason = "called by a builtin" if is_explicit(callee) else reason
        elif node is not None:
            targets = linked.targets.get((file, node), set())
            if targets:
                is_right = any(linked.calls(target, callee) for target in targets)
                score.sites[0] += is_right
                score.sites[1] += 1
                reason = reason if is_right else "site has other targets"
            else:
                reason = "site has no target"
    return reason


def main() -> None:
    wanted = [one for one in sys.argv[1:] if not one.startswith("-")]
    cache = load().cache_dir / "benchmark-traces"
    cache.mkdir(parents=True, exist_ok=True)
    total = Score()
    for is_aside in (False, True):
        for package in PACKAGES:
            if package.is_aside != is_aside or (wanted and package.name not in wanted):
                continue
            trace = traced(package, cache)
            score = compared(trace, _installed(cache) / package.folder, "-v" in sys.argv[1:])
            score.print(package.name)
            if not is_aside:
                total.add(score)
        if not is_aside and not wanted:
            total.print("all")
            missing = sum(total.reasons.values())
            print("missing: " + ", ".join(f"{name} {n / missing:.0%}" for name, n in total.reasons.most_common()))
            print("kept aside:")


if __name__ == "__main__":
    main()
