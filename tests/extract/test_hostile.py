"""Whatever a file is, there is exactly one row for it, always the same, and no exception."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codelake.contracts.evidence import FIELDS
from codelake.extract.batches import Batch
from codelake.extract.content import Evidence, evidence_of
from tests.extract.hostile import by_hand, files
from tests.extract.packages import sources_of
from tests.extract.test_flow import examples

N_FILES = 10_000
SECONDS = 10.0
"""Of CPU time. Most take milliseconds, those of a megabyte a second or two."""
KINDS = {kind for kind, *_ in examples()}
_SPANS = [
    (column, list(fields).index("start_byte"), list(fields).index("end_byte"))
    for column, fields in FIELDS.items()
    if "start_byte" in fields
]


def faults(raw: bytes, found: Evidence) -> list[str]:
    wrong = []
    for column, start, end in _SPANS:
        rows = found.columns.get(column)
        if rows and len(rows[start]):
            starts, ends = np.asarray(rows[start]), np.asarray(rows[end])
            if starts.min() < 0 or ends.max() > len(raw) or (ends < starts).any():
                wrong.append(f"{column}: spans beyond the file, or that end before they start")
    if found.status != "skipped":
        wrong += [*_faults_of_facts(found), *_faults_of_labels(found)]
    if found.status not in ("parsed", "recovered", "skipped"):
        wrong.append(f"status {found.status}")
    if (found.reason is None) != (found.status == "parsed"):
        wrong.append(f"{found.status} because of {found.reason}")
    return wrong


def _faults_of_facts(found: Evidence) -> Iterator[str]:
    kinds, scopes, dsts, srcs, keys = found.columns["facts"]
    n_nodes, n_symbols, n_scopes = (len(found.columns[column][0]) for column in ("nodes", "symbols", "scopes"))
    slots = {*dsts, *srcs}
    if slots and not (-n_symbols <= min(slots) and max(slots) < n_nodes):
        yield "facts of slots that are not there"
    if scopes and (list(scopes) != sorted(scopes) or scopes[0] < 0 or scopes[-1] >= n_scopes):
        yield "facts out of the order of scopes"
    if not set(kinds) <= KINDS:
        yield f"kinds of facts that are not described: {set(kinds) - KINDS}"
    items = {key for kind, key in zip(kinds, keys, strict=True) if kind in ("load_item", "store_item", "element")}
    if any(key[0] == "-" and not key[1:].isdigit() for key in items):
        yield "a negative key that is no number"


def _faults_of_labels(found: Evidence) -> Iterator[str]:
    """A node is named by its label or, without one, by its kind and place."""
    kinds, _, _, _, starts, ends, _, _, labels = found.columns["nodes"]
    places = zip(kinds, np.asarray(starts).tolist(), np.asarray(ends).tolist(), strict=True)
    names = [place if label is None else label for place, label in zip(places, labels, strict=True)]
    if len(set(names)) < len(names):
        yield "two nodes of one name"


def plain(found: Evidence) -> Any:
    """Without arrays of NumPy, which do not compare."""
    columns = {name: [list(values) for values in rows] for name, rows in found.columns.items()}
    return found.status, found.reason, found.encoding, found.n_lines, columns


def check(given: Iterable[tuple[str, bytes]], *, twice_every: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    batch = Batch()
    for i, (name, raw) in enumerate(given):
        if len(batch) == 50:
            assert batch.record_batch().num_rows == 50, f"before {name}"
            batch = Batch()
        started = time.process_time()
        found = evidence_of(raw)
        spent = time.process_time() - started
        assert spent < SECONDS, f"{name}: {spent:.1f} s"
        assert faults(raw, found) == [], name
        if i % twice_every == 0:
            assert plain(evidence_of(raw)) == plain(found), f"{name}: not the same twice"
        counts[found.status] += 1
        batch.add("0" * 64, found)
    assert batch.record_batch().num_rows == len(batch)
    return counts


def test_a_sample_of_hostile_files_has_a_row_each() -> None:
    counts = check(islice(files(1, N_FILES), 0, None, 13), twice_every=5)
    assert counts.total() > 750
    assert min(counts["parsed"], counts["recovered"], counts["skipped"]) > 5


def test_files_are_the_same_for_the_same_seed() -> None:
    n = sum(1 for _ in by_hand()) + 50
    assert list(islice(files(3, n), n - 50, None)) == list(islice(files(3, n), n - 50, None))
    assert list(islice(files(3, n), n - 50, None)) != list(islice(files(4, n), n - 50, None))


def digest_of_a_sample() -> str:
    """Of the evidence of hostile and of ordinary files, as it is written."""
    raws = [raw for _, raw in islice(files(8, N_FILES), 0, None, 61) if len(raw) < 30_000]
    raws += [file.read_bytes() for file in sources_of("stdlib", Path())[::61] if file.stat().st_size < 40_000]
    batch = Batch()
    for raw in raws:
        batch.add("0" * 64, evidence_of(raw))
    return hashlib.sha256(batch.record_batch().serialize()).hexdigest()


@pytest.mark.slow
def test_evidence_is_the_same_in_every_process() -> None:
    """Sets of text are in another order there."""
    program = "from tests.extract.test_hostile import digest_of_a_sample; print(digest_of_a_sample())"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_all_hostile_files_have_a_row_each(seed: int) -> None:
    counts = check(files(seed, N_FILES), twice_every=1)
    print(f"seed {seed}: {dict(counts)}")
    assert counts.total() == N_FILES
