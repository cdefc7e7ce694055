"""How much of a package the linker resolves, and what that costs. The kernel runs in this process, without Spark.

CPU seconds of linking over those of `ast.parse` and `ast.walk` on the same files, in the same run; the most memory; of
the call sites those with a target, the mean number of targets, the reasons of the others; of the attributes those that
are known.

    python benchmarks/link.py [FOLDER...]

Without folders: Django, pandas, sympy and SQLAlchemy from PyPI, kept in the cache.
"""

from __future__ import annotations

import ast
import hashlib
import resource
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from codelake.contracts.arrow_vectors import nested, with_lists
from codelake.contracts.evidence import FIELDS, LINK_INPUT
from codelake.contracts.graph import LINKED
from codelake.extract.batches import Batch
from codelake.extract.content import evidence_of
from codelake.extract.stubs.typeshed import stubs as typeshed
from codelake.graph.link.kernel import link
from codelake.graph.link.stubs import Stubs

SURE = 0.5
"""Edges of less confidence are guesses."""
Row = dict[str, Any]


def unit(files: Mapping[str, bytes], repo: str = "r", *, also: Sequence[str] = ()) -> pa.Table:
    """What the kernel reads of files by path, each the module that its path says; and other columns of evidence."""
    batch, digests = Batch(), []
    for raw in files.values():
        digests.append(hashlib.sha256(raw).hexdigest())
        batch.add(digests[-1], evidence_of(raw))
    columns = {
        "repo": pa.array([repo] * len(files)),
        "path": pa.array(list(files)),
        "module": pa.array([module_of(path) for path in files]),
        "is_own": pa.array([True] * len(files)),
        "digest": pa.array(digests),
    }
    evidence = batch.record_batch()
    return pa.table(columns | {name: evidence.column(name) for name in dict.fromkeys((*LINK_INPUT, *also))})


@cache
def known() -> Stubs:
    """What typeshed says."""
    return Stubs(typeshed())


def module_of(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")


def sources(folder: Path, root: Path) -> dict[str, bytes]:
    """Python files below a folder, by their path from a root."""
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(folder.rglob("*.py"))}


def parsed(files: Mapping[str, bytes]) -> float:
    """CPU seconds of `ast.parse` and `ast.walk`."""
    started = time.process_time()
    for raw in files.values():
        try:
            for _ in ast.walk(ast.parse(raw)):
                pass
        except (SyntaxError, ValueError):
            continue
    return time.process_time() - started


def measure(folder: Path) -> None:
    warnings.simplefilter("ignore")
    files = sources(folder, folder.parent)
    plain = parsed(files)
    table = unit(files, folder.name)
    stubs = known()
    started = time.process_time()
    found = link(table, stubs)
    cost = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = with_lists(found, LINKED).to_pylist()
    print(
        f"{folder.name}: {len(files):,} files; linking {cost:.1f} CPU-s, {cost / plain:.1f} times ast; {memory:,.0f} MB"
    )
    _print_calls(rows)
    _print_attributes(table, rows)


def _print_calls(rows: list[Row]) -> None:
    calls = [call for row in rows for call in row["calls"]]
    edges = [edge for row in rows for edge in row["edges"] if edge["kind"] == "CALLS"]
    n_sure = sum(edge["confidence"] >= SURE for edge in edges)
    n_sites = len({(row["path"], e["node"]) for row in rows for e in row["edges"] if _is_sure_call(e)})
    resolved = sum(call["target"] is not None for call in calls)
    print(f"  calls {len(calls):,}, with a target {resolved / len(calls):.1%}, targets a call {n_sure / n_sites:.2f}")
    reasons = Counter(call["reason"] for call in calls if call["reason"])
    print("  others: " + ", ".join(f"{name} {n / len(calls):.1%}" for name, n in reasons.most_common()))


def _is_sure_call(edge: Row) -> bool:
    return edge["kind"] == "CALLS" and edge["confidence"] >= SURE


def _print_attributes(table: pa.Table, rows: list[Row]) -> None:
    n_known = n = 0
    known = {row["path"]: {e["node"] for e in row["edges"] if e["kind"] == "RESOLVES_TO"} for row in rows}
    facts = nested(table.column("facts").combine_chunks(), FIELDS["facts"]).to_pylist()
    for path, of_file in zip(table.column("path").to_pylist(), facts, strict=True):
        loads = [fact["dst"] for fact in of_file if fact["kind"] == "load_attribute"]
        n += len(loads)
        n_known += sum(node in known[path] for node in loads)
    print(f"  attributes {n:,}, known {n_known / n:.1%}")


def main() -> None:
    folders = [Path(one) for one in sys.argv[1:]]
    if len(folders) == 1:
        measure(folders[0])
        return
    if not folders:
        from extract import downloaded

        folders = [downloaded() / name for name in ("django", "pandas", "sympy", "sqlalchemy")]
    for folder in folders:  # each in a process of its own, whose memory is then its own
        subprocess.run([sys.executable, __file__, str(folder)], check=True)


if __name__ == "__main__":
    main()
