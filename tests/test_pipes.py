"""Processes beside a build: whose they are, and what they answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from codelake.extract.beside import Beside
from codelake.extract.guard import Limits

CONTENTS = pa.schema([("digest", pa.string()), ("content", pa.binary())])
_ASKER = """
import sys, time
from codelake.pipes import Process
process = Process(sys.argv[1])
if sys.argv[1] == "tests.working":
    process.receive()
print(process.pid, flush=True)
time.sleep(600)
"""


def is_there(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("module", ["codelake.extract.beside", "codelake.graph.link.kept.serve", "tests.working"])
def test_a_process_ends_when_the_one_that_asks_it_is_killed_whatever_it_does(module: str) -> None:
    root = str(Path(__file__).parents[1])
    env = os.environ | {"PYTHONPATH": os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])}
    asker = subprocess.Popen([sys.executable, "-c", _ASKER, module], stdout=subprocess.PIPE, text=True, env=env)
    assert asker.stdout
    pid = int(asker.stdout.readline())
    assert is_there(pid)
    asker.kill()
    asker.communicate()
    until = time.monotonic() + 120
    while is_there(pid):
        assert time.monotonic() < until, "it goes on for nobody"
        time.sleep(0.05)


def contents(**texts: str) -> pa.Table:
    rows = [{"digest": name, "content": text.encode()} for name, text in texts.items()]
    return pa.Table.from_pylist(rows, CONTENTS)


@contextmanager
def interrupted_when(it_is_time: Callable[[], bool]) -> Iterator[None]:
    """As by Ctrl-C."""

    def interrupt() -> None:
        while not it_is_time():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    thread.join()


def children() -> set[str]:
    return {
        pid for of_thread in Path("/proc/self/task").iterdir() for pid in (of_thread / "children").read_text().split()
    }


def test_an_answer_that_nobody_waited_for_is_not_taken_for_another() -> None:
    beside, before = Beside(), children()
    with interrupted_when(lambda: children() > before):
        beside.evidence(contents(slow="x = 1\n" * 20_000), limits=Limits())
    found = beside.evidence(contents(other="y = 2\n"), limits=Limits())
    assert found.column("digest").to_pylist() == ["other"]
    again = beside.evidence(contents(more="z = 3\n"), limits=Limits())
    assert again.column("digest").to_pylist() == ["more"]
    beside.end()
    beside.end()
