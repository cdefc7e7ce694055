"""Bad places: each a clear error, nothing lost, no silently short read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake, open_lake
from codelake.delta.run import pin
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import CodelakeError, Damaged, NotFound, Refused, Unavailable
from tests.delta.things import THINGS, frame, new_run, stored

pytestmark = pytest.mark.slow


@pytest.fixture
def seeded(lake: Lake) -> Lake:
    create_table(lake, THINGS)
    for i in range(3):
        commit(new_run(lake, f"s{i}"), THINGS, frame(lake, [(i, "a", 1)]), mode="append")
    return lake


def entry(lake: Lake, version: int) -> Path:
    return lake.store.path / "things" / "_delta_log" / f"{version:020}.json"


def test_no_lake_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"found nothing.*codelake build"):
        open_lake(Store(str(tmp_path / "nowhere")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="an empty folder"):
        open_lake(Store(str(tmp_path / "empty")))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "notes.txt").write_text("mine")
    with pytest.raises(NotFound, match="a folder that is no lake"):
        open_lake(Store(str(tmp_path / "files")))
    with pytest.raises(Refused, match=r"notes.txt in it"):
        create_lake(Store(str(tmp_path / "files")))
    assert (tmp_path / "files" / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("a file")
    with pytest.raises(Refused, match="found a file"):
        create_lake(Store(str(tmp_path / "file")))


def test_a_lake_in_a_lake_or_in_a_table_is_refused(seeded: Lake) -> None:
    root = seeded.store.path
    for place, found in [(root / "inner", "the lake"), (root / "things" / "inner", "the Delta table")]:
        with pytest.raises(Refused, match=found):
            create_lake(Store(str(place)))
        assert not place.exists()
    with pytest.raises(NotFound, match="a single Delta table"):
        open_lake(Store(str(root / "things")))


def test_not_a_table(lake: Lake) -> None:
    with pytest.raises(NotFound, match=r"table things.*no such folder"):
        pin(new_run(lake), THINGS)
    (lake.store.path / "things").mkdir()
    with pytest.raises(NotFound, match="without a Delta log"):
        pin(new_run(lake), THINGS)
    with pytest.raises(NotFound):
        commit(new_run(lake), THINGS, frame(lake, [(1, "a", 1)]), mode="append")


def _empty(lake: Lake) -> None:
    entry(lake, 3).write_bytes(b"")


def _truncated(lake: Lake) -> None:
    entry(lake, 3).write_bytes(entry(lake, 3).read_bytes()[:100])


def _gap(lake: Lake) -> None:
    entry(lake, 2).unlink()


def _headless(lake: Lake) -> None:
    entry(lake, 0).unlink()


def _no_file(lake: Lake) -> None:
    path = lake.log("things").files.column("path").to_pylist()[0]
    (lake.store.path / "things" / path).unlink()


def _no_last(lake: Lake) -> None:
    entry(lake, 3).unlink()


def _short_file(lake: Lake) -> None:
    path = lake.store.path / "things" / lake.log("things").files.column("path").to_pylist()[0]
    path.write_bytes(path.read_bytes()[:-10])


def _path_to(where: str) -> Callable[[Lake], None]:
    def plant(lake: Lake) -> None:
        actions = [json.loads(line) for line in entry(lake, 3).read_text().splitlines()]
        outside = lake.store.path / "secret.parquet"
        for action in actions:
            if "add" in action:
                shutil.copy(lake.store.path / "things" / action["add"]["path"], outside)
                action["add"]["path"] = where.format(outside=outside)
        entry(lake, 3).write_text("\n".join(map(json.dumps, actions)) + "\n")

    return plant


FAULTS: list[tuple[str, Callable[[Lake], None], str]] = [
    ("empty entry", _empty, "log entry 3.*empty file"),
    ("truncated entry", _truncated, "things"),
    ("gap", _gap, "no entry 2"),
    ("no last entry", _no_last, "log entry 3.*beside its checksum"),
    ("no first entry", _headless, "no checkpoint"),
    ("missing file", _no_file, "no such file"),
    ("short file", _short_file, "bytes"),
    ("dots", _path_to("../secret.parquet"), r"\.\./secret.parquet"),
    ("absolute", _path_to("{outside}"), "below the table's own folder"),
    ("uri", _path_to("file://{outside}"), "below the table's own folder"),
]


@pytest.mark.parametrize(("plant", "words"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_damaged_table_is_named_and_neither_read_nor_written(
    seeded: Lake, plant: Callable[[Lake], None], words: str
) -> None:
    plant(seeded)
    before = sorted(p.name for p in (seeded.store.path / "things" / "_delta_log").glob("*.json"))
    with pytest.raises(Damaged, match=words):
        scan(new_run(seeded), THINGS).collect()
    if "file" not in words and "secret" not in words and "bytes" not in words and "below" not in words:
        with pytest.raises(CodelakeError):
            commit(new_run(seeded), THINGS, frame(seeded, [(9, "z", 1)]), mode="append")
        assert before == sorted(p.name for p in (seeded.store.path / "things" / "_delta_log").glob("*.json"))


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="mounting a small disk needs root")
def test_a_full_disk_leaves_the_table_as_it_was(tmp_path: Path, spark: SparkSession) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
    try:
        lake = create_lake(Store(str(disk / "lake")), spark)
        create_table(lake, THINGS)
        commit(new_run(lake, "s"), THINGS, frame(lake, [(1, "a", 1)]), mode="append")
        (disk / "filler").write_bytes(b"x" * (disk_free(disk) - 40_000))
        big = spark.range(10, 200_000).selectExpr("id", "md5(string(id)) AS owner", "1 AS size")
        with pytest.raises(Unavailable, match=r"room on the disk.*none left|No space"):
            commit(new_run(lake), THINGS, big, mode="append")
        (disk / "filler").unlink()
        assert stored(lake) == [(1, "a", 1)] and lake.log("things").version == 1
        commit(new_run(lake, "again"), THINGS, frame(lake, [(2, "b", 2)]), mode="append")
        assert len(stored(lake)) == 2
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="mounting read-only needs root")
def test_a_read_only_folder_is_read_and_not_written(seeded: Lake, spark: SparkSession) -> None:
    root = str(seeded.store.path)
    subprocess.run(["mount", "--bind", root, root], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
    try:
        with pytest.raises(Unavailable, match="can be written"):
            commit(new_run(seeded), THINGS, frame(seeded, [(9, "z", 1)]), mode="append")
        assert scan(new_run(seeded), THINGS).count() == 3
        with pytest.raises((Unavailable, Refused)):
            create_lake(Store(root + "/other"), spark)
    finally:
        subprocess.run(["umount", root], check=True)
    assert seeded.log("things").version == 3


def disk_free(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize
