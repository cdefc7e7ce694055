"""Callers and callees against ground truths that others wrote, in the format of PyCG's micro-benchmark: any folder
below PATH with sources and a `callgraph.json`, from caller to callees. The kernel runs in this process, without Spark.

CALLER_OF counts from a confidence of 0.5 on. A caller is the innermost function, lambda, class body or module. The
callee of a class is its `__init__`; a class that has none is no callee in this format, and its edges are not scored.
Builtins are `<builtin>.len`, their methods `<**PyStr**>.join`.

    python benchmarks/accuracy.py PATH [-v]

Printed: precision and recall by category and in all; with -v each edge that is missing or wrong.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from link import SURE, Row, known, module_of, sources, unit

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.graph import LINKED
from codelake.graph.link.kernel import link

TRUTH = "callgraph.json"
Pairs = set[tuple[str, str]]


def expected(folder: Path) -> Pairs:
    graph = json.loads((folder / TRUTH).read_text())
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


def found(folder: Path) -> Pairs:
    files = sources(folder, folder)
    rows = with_lists(link(unit(files), known()), LINKED).to_pylist()
    classes = {one for row in rows for one in _classes(row)}
    edges = (edge for row in rows for edge in row["edges"] if edge["kind"] == "CALLER_OF")
    return {
        (_name(edge["src"]), _name(edge["dst"]))
        for edge in edges
        if edge["confidence"] >= SURE and edge["dst"] not in classes
    }


def _classes(row: Row) -> list[str]:
    """Ids of the classes of a file: each comes first in its own order."""
    return [one["mro"][0] for one in row["classes"]]


def _name(of: str) -> str:
    """An id as the format writes it."""
    if of.startswith("::"):
        name = of.removeprefix("::")
        owner, _, last = name.removeprefix("builtins.").rpartition(".")
        if not name.startswith("builtins."):
            return name
        return f"<**Py{owner.capitalize()}**>.{last}" if owner else f"<builtin>.{last}"
    file, _, label = of.partition("#")
    module = module_of(file.partition(":")[2])
    label = ".".join(part for part in label.split(".") if not part.startswith("<") or "lambda" in part)
    label = re.sub(r"~\d+", "", label)  # the format knows no second of a name
    return module if not label else f"{module}.{label}"


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "-"


def main() -> None:
    root = Path(sys.argv[1])
    is_verbose = "-v" in sys.argv[2:]
    folders = sorted(file.parent for file in root.rglob(TRUTH))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for folder in folders:
        category = folder.relative_to(root).parts[0] if folder != root else root.name
        wanted, given = expected(folder), found(folder)
        for name in (category, "all"):
            for place, pairs in enumerate((wanted & given, wanted, given)):
                counts[name][place] += len(pairs)
        if is_verbose:
            for word, pairs in (("missing", wanted - given), ("wrong", given - wanted)):
                for caller, callee in sorted(pairs):
                    print(f"{folder.relative_to(root)}: {word} {caller} -> {callee}")
    for name in [*sorted(set(counts) - {"all"}), "all"]:
        right, wanted_n, given_n = counts[name]
        print(f"{name:20} precision {ratio(right, given_n):24} recall {ratio(right, wanted_n)}")
    print(f"{len(folders)} folders")


if __name__ == "__main__":
    main()
