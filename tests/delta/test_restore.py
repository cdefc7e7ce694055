"""Restore and export: back to what was, by a new version; copies that can be verified."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from codelake.contracts.operations import RUNS
from codelake.delta.digest import embedded_digest, spark_digest
from codelake.delta.export import MANIFEST, export_table, verify_export
from codelake.delta.identity import newest_own_commit
from codelake.delta.lake import Lake
from codelake.delta.maintenance.vacuum import vacuum
from codelake.delta.runs import published_runs
from codelake.delta.write import commit
from codelake.errors import Damaged, NotFound, PinUnavailable, Refused
from codelake.pipeline.restoring import restore_lake, restore_one
from tests.delta.history import CURSORS, NEWEST, PUBLISHED, UNSORTED, age
from tests.delta.things import THINGS, frame, new_run, stored

pytestmark = pytest.mark.slow


def test_a_table_to_a_version_and_forth_again(historic: Lake) -> None:
    then, now = embedded_digest(historic.log("things", version=4)), embedded_digest(historic.log("things"))
    dry = restore_one(historic, THINGS, 4, dry_run=True)
    assert dry.metrics == {"n_files_back": 2, "n_files_gone": 2, "n_rows_back": 6, "n_rows_gone": 3}
    assert historic.log("things").version == NEWEST and len(published_runs(historic)) == 1
    done = restore_one(historic, THINGS, 4)
    assert (done.metrics, done.version) == (dry.metrics, NEWEST + 1)
    assert embedded_digest(historic.log("things")) == then
    own = newest_own_commit(historic.log("things"))
    assert own and own.own["cursors"] == {}, "as far as had been read then"
    last = published_runs(historic)[-1]
    assert (last.pipeline, last.versions["things"], last.versions["unsorted"]) == ("restore", NEWEST + 1, 2)
    assert restore_one(historic, THINGS, NEWEST).version == NEWEST + 2
    assert embedded_digest(historic.log("things")) == now
    forth = newest_own_commit(historic.log("things"))
    assert forth and forth.own["cursors"] == CURSORS
    assert restore_one(historic, THINGS, NEWEST).version == NEWEST + 2, "nothing to do, no version"


def test_the_lake_to_a_run(historic: Lake) -> None:
    then = stored(historic, THINGS, PUBLISHED)
    dry = restore_lake(historic, (UNSORTED, THINGS), "published", dry_run=True)
    assert [one.table for one in dry] == ["unsorted", "things"] and len(published_runs(historic)) == 1
    unsorted, things = restore_lake(historic, (UNSORTED, THINGS), "publ")
    assert (unsorted.version, things.version) == (2, NEWEST + 1), "only what differs"
    assert stored(historic) == then
    last = published_runs(historic)[-1]
    assert {name: last.versions[name] for name in ("things", "unsorted")} == {"things": NEWEST + 1, "unsorted": 2}
    time = last.recorded_at.isoformat()
    assert restore_lake(historic, (UNSORTED, THINGS), time, dry_run=True)[1].metrics["n_files_back"] == 0


def test_nothing_is_taken_back_if_something_is_gone(historic: Lake) -> None:
    commit(new_run(historic), UNSORTED, mode="delete", where="true")
    gone = historic.log("things", version=PUBLISHED).files.column("path").to_pylist()[0]
    (historic.store.path / "things" / gone).unlink()
    with pytest.raises(PinUnavailable, match=f"things, version {PUBLISHED}"):
        restore_lake(historic, (UNSORTED, THINGS), "published")
    assert historic.log("unsorted").version == 3 and len(published_runs(historic)) == 1


def test_what_is_older_than_the_retention_comes_back_if_it_is_there(historic: Lake) -> None:
    """The last published run always is."""
    then = stored(historic, THINGS, PUBLISHED)
    age(historic, "things", 40)
    vacuum(new_run(historic), "things")
    restore_lake(historic, (THINGS,), "published")
    assert stored(historic) == then


def test_restored_rows_are_the_work_of_the_rules_that_made_them(historic: Lake) -> None:
    """A build renders anew what another version of the rules has made, also where that was brought back."""

    def rendered_by() -> str | None:
        newest = newest_own_commit(historic.log("things"), stage="graph")
        assert newest is not None
        return newest.own["fingerprint"]

    def render(fingerprint: str) -> int:
        run = new_run(historic, fingerprint, stage="graph")
        rows = frame(historic, [(99, fingerprint, 1)])
        replacing = [("old",), ("new",)]
        return commit(run, THINGS, rows, mode="replace", replacing=replacing, fingerprint=fingerprint).version

    old, _ = render("old"), render("new")
    assert rendered_by() == "new"
    back = restore_one(historic, THINGS, old)
    assert rendered_by() == "old"
    restore_one(historic, THINGS, PUBLISHED)
    assert rendered_by() is None, "nothing was rendered then"
    restore_one(historic, THINGS, back.version)
    assert rendered_by() == "old"


def test_no_such_version(historic: Lake) -> None:
    with pytest.raises(PinUnavailable, match="a version from 0 to 6"):
        restore_one(historic, THINGS, 99)


def test_no_such_run(historic: Lake) -> None:
    with pytest.raises(NotFound, match="none of them this"):
        restore_lake(historic, (THINGS,), "nobody")
    assert historic.log(RUNS.name).version == 1


@pytest.mark.parametrize("format", ["parquet", "delta"])
def test_an_export_has_the_rows_and_can_be_verified(historic: Lake, tmp_path: Path, format: str) -> None:
    log = historic.log("things", version=PUBLISHED)
    killed = tmp_path / "out.partial" / "part-00000.zstd.parquet"
    killed.parent.mkdir()
    killed.write_bytes(b"PAR1")
    done = export_table(log, tmp_path / "out", format=format)  # type: ignore[arg-type]
    assert not killed.parent.exists(), "what an export left that was killed"
    assert done.n_rows == 9 and done.digest == str(embedded_digest(log))
    assert verify_export(tmp_path / "out") == done
    spark = historic.session.read.format(format).load(str(tmp_path / "out"))
    assert str(spark_digest(spark.drop("_export"))) == done.digest
    if format == "delta":
        assert DeltaTable(tmp_path / "out").version() == 0
    with pytest.raises(Refused, match="a folder that is not there yet"):
        export_table(log, tmp_path / "out")


def test_a_changed_export_is_found(historic: Lake, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export_table(historic.log("things"), out)
    [file] = out.glob("*.parquet")
    raw = file.read_bytes()
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(Damaged, match="sha256"):
        verify_export(out)
    manifest = json.loads((out / MANIFEST).read_text())
    file.write_bytes(raw)
    (out / MANIFEST).write_text(json.dumps(manifest | {"digest": "0-0"}))
    with pytest.raises(Damaged, match="rows with the digest 0-0"):
        verify_export(out)
    for other in ({"files": [{"path": "a"}]}, {"more": 1}):
        (out / MANIFEST).write_text(json.dumps(manifest | other))
        with pytest.raises(Damaged, match="a manifest"):
            verify_export(out)
    (out / MANIFEST).unlink()
    with pytest.raises(NotFound):
        verify_export(out)


def test_a_table_without_rows_is_exported_with_its_columns(historic: Lake, tmp_path: Path) -> None:
    export_table(historic.log("things", version=0), tmp_path / "out")
    [file] = (tmp_path / "out").glob("*.parquet")
    assert pq.read_schema(file).names == list(THINGS.column_names)
    assert verify_export(tmp_path / "out").n_rows == 0
