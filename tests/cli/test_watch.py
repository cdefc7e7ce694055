from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from tests.cli.conftest import Run
from tests.cli.test_build import below, git
from tests.lakes import PreparedLake

from codelake.delta.lake import open_lake
from codelake.delta.runs import published_runs
from codelake.delta.store import Store

BOOKS = "def count(books):\n    return len(books)\n"
SHOP = "from books import count\n\n\ndef sold(books):\n    return count(books)\n"


class Watch:
    """A running `codelake watch --json`, and the documents that it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            self._lines.put(line)

    def next(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._lines.get(timeout=300))
        return found

    def is_quiet(self) -> bool:
        return self._lines.empty()


@contextmanager
def watching(folder: Path) -> Iterator[Watch]:
    program = "from codelake.cli.main import main; main()"
    command = [sys.executable, "-c", program, "watch", "--json", "--quiet", "--lake", ".codelake"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield Watch(process)
    finally:
        process.kill()
        process.wait()


def changes(update: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(file["change"], file["path"], file["status"]) for file in update["files"]}


def definitions(update: dict[str, Any]) -> set[tuple[str, str]]:
    return {(one["change"], one["qualified_name"]) for one in update["definitions"]}


def test_what_is_wrong_is_said_before_spark_starts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file.py").touch()
    for path, text in {"nowhere": "does not exist", "file.py": "is a file"}.items():
        code, said, messages = run("watch", path)
        assert (code, said) == (2, "") and text in messages
    assert not (tmp_path / ".codelake").exists()


@pytest.mark.slow
def test_a_folder_is_edited_broken_mended_and_the_watch_stopped(prepared_lake: PreparedLake, tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    folder.mkdir()
    prepared_lake(folder / ".codelake")
    (folder / "books.py").write_text(BOOKS)
    (folder / "shop.py").write_text(SHOP)
    (folder / ".gitignore").write_text("made/\n")
    git(folder, "init")
    with watching(folder) as watch:
        first = watch.next()
        assert changes(first) == {("added", "books.py", "parsed"), ("added", "shop.py", "parsed")}
        assert definitions(first) >= {("added", "books.count"), ("added", "shop.sold")}
        assert first["edges"]["added"]["CALLER_OF"] >= 1 and not first["edges"]["removed"]

        # Neither what git ignores nor what the lake itself wrote is built: the next update is of the next edit.
        (folder / "made").mkdir()
        (folder / "made" / "ignored.py").write_text("def ignored(): pass\n")
        time.sleep(1)
        (folder / "books.py").write_text(BOOKS.replace("count", "number"))
        renamed = watch.next()
        assert changes(renamed) == {("changed", "books.py", "parsed")}
        assert definitions(renamed) == {("removed", "books.count"), ("added", "books.number")}
        assert renamed["nodes"]["added"]["function"] == renamed["nodes"]["removed"]["function"] == 1
        assert renamed["edges"]["removed"]["CALLER_OF"] >= 1

        # Broken, renamed and half written at once.
        (folder / "shop.py").write_text("def sold(books:\n    return")
        (folder / "books.py").rename(folder / "texts.py")
        (folder / "half.py").write_bytes(b"def half():\n    x = '")
        broken = watch.next()
        assert changes(broken) == {
            ("changed", "shop.py", "recovered"),
            ("removed", "books.py", "parsed"),
            ("added", "texts.py", "parsed"),
            ("added", "half.py", "recovered"),
        }

        # A table that cannot be read: said, and not the end.
        log = max((folder / ".codelake" / "files" / "_delta_log").glob("*.json"))
        content = log.read_bytes()
        log.write_bytes(content[: len(content) // 2])
        (folder / "half.py").unlink()
        assert watch.next()["error"] == "Damaged"
        log.write_bytes(content)

        (folder / "shop.py").write_text(
            SHOP.replace("books import count", "texts import number as count") + "unknown()\n"
        )
        mended = watch.next()
        assert changes(mended) == {("changed", "shop.py", "parsed"), ("removed", "half.py", "recovered")}
        assert [(one["path"], one["start_line"]) for one in mended["unresolved"]] == [("shop.py", 6)]

        started = set(below(watch.process.pid))
        assert started and watch.is_quiet()
        watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(300) == 0
        deadline = time.monotonic() + 300
        while left := [pid for pid in started if Path(f"/proc/{pid}").exists()]:
            assert time.monotonic() < deadline, f"still there: {left}"
            time.sleep(0.05)
    told = [update["run_id"] for update in (first, renamed, broken, mended)]
    assert [run.run_id for run in published_runs(open_lake(Store(str(folder / ".codelake"))))] == told
