"""Faults are planted for real: an extractor that does what the content tells it to."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.evidence import FIELDS
from codelake.extract import guard
from codelake.extract.content import Evidence, evidence_of
from codelake.extract.guard import Content, Limits, guarded

ROOT = Path(__file__).parents[2]
LIMITS = Limits(seconds=60, memory=300 << 20)
"""Time enough on a busy machine: what is not about time does not end for want of it."""
SHORT = Limits(seconds=0.5, memory=300 << 20)
GOOD = [f"def f{n}(x):\n    return x + {n}\n".encode() for n in range(9)]
FAULTS = {
    b"crash": ("extractor crashed", "ended by the signal SIGSEGV"),
    b"abort": ("extractor crashed", "ended by the signal SIGABRT"),
    b"leave": ("extractor crashed", "ended with exit code 0 and without a result"),
    b"raise": ("extractor failed", "ZeroDivisionError: integer division or modulo by zero (test_guard.py, line "),
    b"system exit": ("extractor failed", "SystemExit: 3 (test_guard.py, line "),
    b"hoard": ("out of memory", "more than 300 MB of memory are needed"),
    b"kill": ("out of memory", "killed, as the system does when memory runs out"),
    b"loop": ("took too long", "more than"),
    b"sleep": ("took too long", "more than 2 seconds"),
}


def faulty(raw: bytes) -> Evidence:
    match raw:
        case b"crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case b"abort":
            os.abort()
        case b"leave":
            os._exit(0)
        case b"raise":
            raw[1 // 0]
        case b"system exit":
            sys.exit(3)
        case b"hoard":
            hoard()
        case b"kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case b"loop":
            while True:
                pass
        case b"sleep":
            time.sleep(1000)
    return evidence_of(raw)


def hoard() -> NoReturn:
    found = []
    while True:
        found.append(bytearray(10 << 20))


def contents(*raw: bytes) -> list[Content]:
    return [(hashlib.sha256(each).hexdigest(), pa.py_buffer(each)) for each in raw]


def rows(*raw: bytes, limits: Limits = LIMITS) -> list[dict[str, Any]]:
    batches = list(guarded(contents(*raw), limits=limits, extract=faulty))
    return with_lists(pa.Table.from_batches(batches), FIELDS).to_pylist()


EXPECTED = {row["digest"]: row for row in rows(*GOOD)}


def test_without_faults_there_is_a_row_for_each_in_their_order() -> None:
    found = rows(*GOOD)
    assert [row["digest"] for row in found] == [digest for digest, _ in contents(*GOOD)]
    assert {row["status"] for row in found} == {"parsed"} and all(row["nodes"] for row in found)


def test_nothing_to_do() -> None:
    assert list(guarded([], limits=LIMITS)) == []


@pytest.mark.parametrize("fault", FAULTS, ids=bytes.decode)
def test_a_fault_costs_its_own_content_and_no_other(fault: bytes) -> None:
    found = rows(*GOOD[:3], fault, *GOOD[3:], limits=SHORT if fault in (b"loop", b"sleep") else LIMITS)
    assert [row["digest"] for row in found] == [digest for digest, _ in contents(*GOOD[:3], fault, *GOOD[3:])]
    bad = found.pop(3)
    reason, message = FAULTS[fault]
    assert (bad["status"], bad["reason"], bad["nodes"]) == ("skipped", reason, [])
    [problem] = bad["problems"]
    assert problem["kind"] == reason and problem["message"].startswith(message)
    assert (problem["start_byte"], problem["end_byte"]) == (0, len(fault))
    assert found == [EXPECTED[row["digest"]] for row in found]


def test_many_faults_at_once_and_the_same_rows_in_one_part_or_four() -> None:
    quick = [fault for fault in FAULTS if fault not in (b"loop", b"sleep")]
    raw = [each for pair in zip(quick, GOOD, strict=False) for each in pair]
    whole = rows(*raw)
    assert [row["status"] for row in whole] == ["skipped", "parsed"] * len(quick)
    assert [row for start in range(4) for row in rows(*raw[start::4])] == [
        row for start in range(4) for row in whole[start::4]
    ]


def test_what_was_sent_before_a_fault_is_not_extracted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BATCH_BYTES", 1)
    log = tmp_path / "log"

    def logged(raw: bytes) -> Evidence:
        with log.open("ab") as file:
            file.write(raw[:5] + b"|")
        return faulty(raw)

    found = list(guarded(contents(GOOD[0], GOOD[1], b"crash", GOOD[2]), limits=LIMITS, extract=logged))
    assert [batch.num_rows for batch in found] == [1, 1, 1, 1]
    # A content that ends a child which had done others is tried alone before it is given up.
    assert log.read_bytes() == b"def f|def f|crash|crash|def f|"


def test_a_content_is_not_blamed_for_what_others_left_behind() -> None:
    left: list[bytearray] = []

    def hoards(raw: bytes) -> Evidence:
        left.append(bytearray(80 << 20))
        return evidence_of(raw)

    found = pa.Table.from_batches(list(guarded(contents(*GOOD), limits=LIMITS, extract=hoards)))
    assert set(found.column("status").to_pylist()) == {"parsed"} and found.num_rows == len(GOOD)
    assert left == []


def unpackable(raw: bytes) -> Evidence:
    """Arrow refuses a lone surrogate, and only when the batch is made."""
    found = evidence_of(raw)
    return replace(found, reason="\ud800") if raw.startswith(b"bad") else found


def test_a_content_that_spoils_its_batch_costs_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def logged(raw: bytes) -> Evidence:
        with log.open("ab") as file:
            file.write(b"|")
        return unpackable(raw)

    many = [b"x = %d" % n for n in range(64)]
    raw = [b"bad = 1", *many[:40], b"bad = 2", *many[40:]]
    found = pa.Table.from_batches(list(guarded(contents(*raw), limits=LIMITS, extract=logged))).to_pylist()
    assert [row["digest"] for row in found] == [digest for digest, _ in contents(*raw)]
    assert [row["status"] == "skipped" for row in found] == [each.startswith(b"bad") for each in raw]
    assert {row["reason"] for row in found if row["status"] == "skipped"} == {"extractor failed"}
    # The batch is halved until the culprits are alone: not once for each content in it.
    assert len(log.read_bytes()) < 6 * len(raw)


def test_rows_larger_than_spark_can_hold_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_BATCH_BYTES", 1 << 20)
    long = b"def %s(%s): pass" % (b"f" * 20_000, b", ".join(b"a%d" % n for n in range(100)))
    found = rows(*GOOD[:3], long, *GOOD[3:])
    bad = found.pop(3)
    assert (bad["status"], bad["reason"]) == ("skipped", "too large")
    assert bad["problems"][0]["message"].endswith("MB of evidence are more than 1")
    assert found == [EXPECTED[row["digest"]] for row in found]


def test_a_batch_larger_than_the_pipe() -> None:
    large = b"".join(b"x_%d = [%d, %d]\n" % (n, n, n) for n in range(10_000))
    [found] = rows(large, limits=Limits())
    assert (found["status"], found["n_lines"]) == ("parsed", 10_000)


def children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition: Any, seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_a_child_ends_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BATCH_BYTES", 1)
    before = set(children(os.getpid()))
    found = guarded(contents(GOOD[0], b"sleep"), limits=LIMITS, extract=faulty)
    next(found)
    [child] = set(children(os.getpid())) - before
    found.close()
    assert not alive(child)


def test_a_child_dies_with_its_parent() -> None:
    program = (
        "from tests.extract.test_guard import *\n"
        "list(guarded(contents(b'sleep'), limits=Limits(seconds=600), extract=faulty))"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    assert until(lambda: children(parent.pid))
    [child] = children(parent.pid)
    parent.kill()
    parent.wait()
    assert until(lambda: not alive(child))
