"""What an edit costs a unit that is kept linked, over what linking it as a whole costs. In this process, without Spark.

CPU seconds of linking a package, of keeping it linked from then on, and of the p50 of 20 edits of different files, of
the three kinds that `update.py` makes; then whether the links are those of linking anew.

    python benchmarks/kept.py [FOLDER]

Without a folder: Django from PyPI, kept in the cache.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from link import known, sources, unit
from update import EDITS, N_EDITS

from codelake.graph.link.kept.unit import Unit
from codelake.graph.link.kernel import link
from extract import downloaded


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    done = work()
    return time.process_time() - started, done


def digests(rows: pa.Table) -> dict[str, int]:
    return dict(zip(rows.column("path").to_pylist(), rows.column("found_digest").to_pylist(), strict=True))


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else downloaded() / "django"
    files = sources(folder, folder.parent)
    table, stubs = unit(files), known()
    whole, _ = cpu(lambda: link(table, stubs))
    opening, kept = cpu(lambda: Unit(table, stubs))
    paths = sorted(files, key=lambda path: len(files[path]))[-200:]
    seconds, n_anew = [], 0
    for n in range(N_EDITS):
        path, edit = paths[n * 7 % len(paths)], EDITS[n % len(EDITS)]
        files[path] = edit(files[path].decode(), n).encode()
        row = unit({path: files[path]})
        took, found = cpu(partial(kept.update, row))
        seconds.append(took)
        if found is None:
            n_anew, kept = n_anew + 1, Unit(unit(files), stubs)
    p50 = statistics.median(seconds)
    is_same = digests(kept.all_links()) == digests(link(unit(files), stubs))
    print(f"{folder.name}: as a whole {whole:.2f} CPU-s; kept from {opening:.1f} CPU-s on")
    print(f"an edit {p50:.2f} CPU-s, 1/{whole / p50:.0f}; the first {seconds[0]:.2f}, the last {seconds[-1]:.2f}")
    print(f"linked anew after {n_anew} of {N_EDITS} edits; the same as linking anew: {is_same}")


if __name__ == "__main__":
    main()
