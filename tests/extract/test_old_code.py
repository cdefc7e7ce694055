"""Code of the years of Python 2: it has a tree, and hardly anything in it is an error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from codelake.extract.content import Evidence, evidence_of
from tests.extract.hostile import OLD as EVERYTHING_OLD
from tests.extract.sdists import OLD, sources_of_old


def counted(raw: bytes, found: Evidence) -> Counter[str]:
    counts = Counter(["files", found.status])
    if found.status == "recovered":
        kinds, _, parents, _, starts, ends, *_ = found.columns["nodes"]
        inner = set(parents)
        errors = [i for i, kind in enumerate(kinds) if kind == "Error"]
        counts["bytes of recovered files"] += len(raw)
        counts["error regions"] += len(errors)
        counts["files with error regions"] += bool(errors)
        counts["bytes in error leaves"] += sum(int(ends[i] - starts[i]) for i in errors if i not in inner)
    return counts


def test_what_only_python_2_has_is_understood() -> None:
    raw = EVERYTHING_OLD.encode("latin-1")
    found = evidence_of(raw)
    assert found.status == "recovered"
    assert counted(raw, found)["error regions"] == 0
    assert found.columns["problems"][1] == [found.reason]  # CPython's, and no other


@pytest.mark.soak
def test_packages_of_the_years_of_python_2(tmp_path: Path) -> None:
    total: Counter[str] = Counter()
    for package in OLD:
        folder = tmp_path / package
        folder.mkdir()
        counts: Counter[str] = Counter()
        for file in sources_of_old(package, folder):
            raw = file.read_bytes()
            counts += counted(raw, evidence_of(raw))
        print(f"{package}: {dict(counts)}")
        total += counts
    share = total["bytes in error leaves"] / max(total["bytes of recovered files"], 1)
    print(f"{dict(total)}; {share:.4%} of bytes in error leaves")
    assert total["recovered"] > 500
    assert total["skipped"] <= 0.01 * total["files"]
    assert total["files"] == total["parsed"] + total["recovered"] + total["skipped"]
    assert share < 0.001
