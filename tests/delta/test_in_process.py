"""Rows that this process holds: what deltalake writes of them is what Spark writes."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from codelake.contracts import TABLES, Check, Column, Layout, Table
from codelake.contracts.arrow import arrow_schema, arrow_table
from codelake.contracts.types import parse_type
from codelake.delta import in_process
from codelake.delta.changes import changes
from codelake.delta.create import create_table
from codelake.delta.lake import Lake
from codelake.delta.report import scan_report
from codelake.delta.write import commit
from codelake.errors import Conflict, ContractBroken, Damaged
from tests.delta.things import new_run, stored

HELD = Table(
    name="held",
    meaning="Things that this process holds.",
    columns=(
        Column("repo", "string", "the first of what a replace names"),
        Column("path", "string", "the second"),
        Column("size", "int", "a number", nullable=True),
        Column("tags", "array<struct<name:string,n:int>>", "nested", nullable=True),
        Column("props", "map<string,string>", "a map", nullable=True),
    ),
    key=("repo", "path"),
    key_scope="write",
    replace_by=("repo", "path"),
    checks=(Check("size_positive", "size > 0", null="passes"),),
    layout=Layout(together_by=("path",), stats=("repo", "path"), no_dictionary=("path", "tags.list.element.name")),
)
BY_SPARK = replace(HELD, name="by_spark")
ODD = ["plain.py", "it's.py", 'a "b".py', "back\\slash.py", "percent%_.py", "é\u2028ü.py", "-- no comment", "`tick`"]
Held = tuple[str | None, str, int | None]


def loose(table: Table) -> Table:
    """Takes NULL anywhere."""
    columns = tuple(replace(column, nullable=True) for column in table.columns)
    return replace(table, columns=columns, key=(), replace_by=())


def held(*rows: Held) -> pa.Table:
    dicts = [
        {"repo": repo, "path": path, "size": n, "tags": [{"name": path, "n": n}], "props": {"n": str(n)}}
        for repo, path, n in rows
    ]
    return arrow_table(loose(HELD), dicts)


def both(lake: Lake, rows: pa.Table, **options: Any) -> None:
    """The same to two tables: from here to one, and through Spark to the other."""
    commit(new_run(lake), HELD, rows, **options)
    commit(new_run(lake), BY_SPARK, lake.session.createDataFrame(rows.combine_chunks()), **options)


def engine_of(lake: Lake, name: str) -> str:
    log = lake.log(name)
    made = log.commit(log.version)
    assert made is not None
    return str(made.info["engineInfo"]).partition(":")[0].partition("/")[0]


def feed(lake: Lake, table: Table, version: int) -> list[tuple[Any, ...]]:
    found = changes(new_run(lake), table, after=version - 1, until=version).select("repo", "path", "_change_type")
    return sorted(tuple(row) for row in found.collect())


@pytest.fixture
def twins(lake: Lake) -> Lake:
    for table in (HELD, BY_SPARK):
        create_table(lake, table)
    return lake


def test_both_engines_write_the_same_rows_feeds_and_statistics(twins: Lake) -> None:
    both(twins, held(*(("a", path, 1) for path in ODD), *(("b", path, None) for path in ODD)), mode="append")
    both(twins, held(*(("a", path, 3) for path in ODD[1:4])), mode="replace", replacing=[("a", p) for p in ODD[:5]])
    both(twins, held(("b", "other.py", 4)), mode="replace", replacing=[("b",)])
    both(twins, held(), mode="replace", replacing=[("a", ODD[1]), ("c", "nowhere.py")])
    assert (engine_of(twins, "held"), engine_of(twins, "by_spark")) == ("delta-rs", "Apache-Spark")
    for version in range(1, 5):
        assert stored(twins, HELD, version) == stored(twins, BY_SPARK, version) != []
        assert feed(twins, HELD, version) == feed(twins, BY_SPARK, version) != []
        here, there = (twins.log(name).commit(version) for name in ("held", "by_spark"))
        assert here and there and here.own["mode"] == there.own["mode"] and here.own["pins"] == there.own["pins"]
    left = [("a", path, 3) for path in ODD[2:4]] + [("a", path, 1) for path in ODD[5:]] + [("b", "other.py", 4)]
    assert sorted(row[:3] for row in stored(twins, HELD)) == sorted(left)
    for path in ODD[5:]:
        quoted = path.replace("'", "''")
        assert scan_report(twins.log("held"), f"repo = 'a' AND path = '{quoted}'").n_candidates == 1
    assert scan_report(twins.log("held"), "repo = 'c'").n_candidates == 0


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([("a", "x", -1), ("a", "y", 1)], {"mode": "append"}),
        ([(None, "x", 1)], {"mode": "append"}),
        ([("a", "x", 1), ("a", "x", 2)], {"mode": "append"}),
        ([("a", "x", 1), ("a", "elsewhere", 2)], {"mode": "replace", "replacing": [("a", "x")]}),
        ([("a", "x", -5)], {"mode": "replace", "replacing": [("a", "x")]}),
    ],
    ids=["check", "null", "key", "outside of what is replaced", "check in a replace"],
)
def test_both_engines_refuse_with_the_same_words(twins: Lake, rows: list[Held], options: dict[str, Any]) -> None:
    both(twins, held(("a", "x", 7)), mode="append")
    said = []
    for table, given in ((HELD, held(*rows)), (BY_SPARK, twins.session.createDataFrame(held(*rows)))):
        run = new_run(twins)
        with pytest.raises(ContractBroken) as caught:
            commit(run, table, given, **options)
        said.append(str(caught.value).replace(table.name, "T"))
        assert run.rows["quality"], "the rows that broke the rule"
        assert [row[:3] for row in stored(twins, table)] == [("a", "x", 7)] and twins.log(table.name).version == 1
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "changes_of",
    [
        {"layout": Layout(sort_by=("path",))},
        {"layout": Layout(partition_by=("repo",))},
        {"layout": Layout(bloom=("path",))},
        {"key_scope": "table"},
        {"checks": (Check("size_positive", "size > 0", null="passes"), Check("few", "size < 9", action="warn"))},
        {"features": ("rowTracking",)},
        {"schema_mode": "merge"},
        {"checks": (Check("size_positive", "size * 2 > size", null="passes"),)},
    ],
    ids=["sorted", "partitioned", "bloom", "key of the table", "warn", "feature", "schema", "check"],
)
def test_what_deltalake_does_not_keep_is_left_to_spark(lake: Lake, changes_of: dict[str, Any]) -> None:
    table = replace(HELD, **changes_of)
    create_table(lake, table)
    commit(new_run(lake), table, held(("a", "x", 1)), mode="append")
    commit(new_run(lake), table, held(("a", "x", 2)), mode="replace", replacing=[("a", "x")])
    assert engine_of(lake, "held") == "Apache-Spark"
    assert [row[:3] for row in stored(lake, table)] == [("a", "x", 2)]


def test_a_rule_that_somebody_added_to_the_table_is_left_to_spark(twins: Lake) -> None:
    name = twins.sql_name("held")
    twins.session.sql(f"ALTER TABLE {name} ADD CONSTRAINT small CHECK (size < 5)")
    commit(new_run(twins), HELD, held(("a", "x", 1)), mode="append")
    assert engine_of(twins, "held") == "Apache-Spark"
    with pytest.raises(ContractBroken, match="small"):
        commit(new_run(twins), HELD, held(("a", "y", 6)), mode="append")


def test_engines_take_turns(twins: Lake) -> None:
    """On one table, deletion vectors of Spark's among its files."""
    for n in range(3):
        both(twins, held(*(("a", path, 10 * n + 1) for path in ODD)), mode="replace", replacing=[("a",)])
        spark_rows = twins.session.createDataFrame(held(("a", ODD[n], 10 * n + 2)))
        for table in (HELD, BY_SPARK):
            commit(new_run(twins), table, spark_rows, mode="replace", replacing=[("a", ODD[n])])
        both(twins, held(("a", ODD[n + 1], 10 * n + 3)), mode="replace", replacing=[("a", ODD[n + 1])])
        assert stored(twins, HELD) == stored(twins, BY_SPARK)
        log = twins.log("held")
        checksum = log.checksum(log.version)
        assert log.n_rows == len(ODD) and checksum and checksum.n_vectors == log.deletion_vectors.num_rows


def test_a_version_that_was_written_here_has_a_checksum_too(twins: Lake) -> None:
    for n in range(1, 4):
        commit(new_run(twins), HELD, held(("a", "x", n)), mode="append")
    log = twins.log("held")
    assert log.checksum(3) == (3, log.n_bytes, 0)
    entry = twins.store.path / "held" / "_delta_log" / f"{3:020}.json"
    entry.write_text("".join(line for line in entry.read_text().splitlines(keepends=True) if '"add"' not in line))
    with pytest.raises(Damaged, match="as its checksum says"):
        twins.log("held").files  # noqa: B018 - reading it is what is refused


def without_checksums(lake: Lake, table: Table) -> None:
    """As a writer leaves it that died right after its commit."""
    for path in (lake.store.path / table.name / "_delta_log").glob("*.crc"):
        if path.stem == f"{lake.log(table.name).version:020}":
            path.unlink()


def test_deletion_vectors_of_a_version_without_a_checksum_are_counted(twins: Lake) -> None:
    commit(new_run(twins), HELD, held(("a", "x", 1), ("a", "y", 1)), mode="append")
    commit(new_run(twins), HELD, mode="delete", where="path = 'x'")
    without_checksums(twins, HELD)
    commit(new_run(twins), HELD, held(("a", "z", 1)), mode="append")
    log = twins.log("held")
    checksum = log.checksum(log.version)
    assert engine_of(twins, "held") == "delta-rs" and checksum and checksum.n_vectors == 1


def test_a_checksum_says_nothing_that_came_after_the_one_before(twins: Lake) -> None:
    """Which transactions there were: Delta would take one for another that is over."""
    commit(new_run(twins), HELD, held(("a", "x", 1)), mode="append")
    rows = twins.session.createDataFrame(held(("a", "y", 1)))
    rows.write.format("delta").mode("append").option("txnAppId", "own").option("txnVersion", 7).save(twins.uri("held"))
    without_checksums(twins, HELD)
    commit(new_run(twins), HELD, held(("a", "z", 1)), mode="append")
    log = twins.log("held")
    assert engine_of(twins, "held") == "delta-rs" and log.checksum(log.version) is None
    assert log.transaction_version("own") == 7


def test_a_log_that_was_cleaned_up_and_has_no_checksum(twins: Lake) -> None:
    for n in range(3):
        commit(new_run(twins), HELD, held(("a", f"{n}", 1)), mode="append")
    folder = twins.store.path / "held" / "_delta_log"
    twins.log("held").delta_table.create_checkpoint()
    for path in (*folder.glob("*.crc"), *(folder / f"{version:020}.json" for version in range(3))):
        path.unlink()
    made = commit(new_run(twins), HELD, held(("a", "x", 1)), mode="append")
    assert made.version == 4 and len(stored(twins, HELD)) == 4


def test_checkpoints_come_as_often_as_the_contract_says(lake: Lake) -> None:
    table = replace(HELD, checkpoint_interval=3)
    create_table(lake, table)
    for n in range(4):
        commit(new_run(lake), table, held(("a", f"{n}", 1)), mode="append")
    assert engine_of(lake, "held") == "delta-rs"
    assert lake.log("held").n_entries_since_checkpoint < 3 and len(stored(lake, table)) == 4


def test_files_are_of_about_as_many_rows_as_the_contract_says(lake: Lake) -> None:
    table = replace(HELD, layout=replace(HELD.layout, file_rows=2_000))
    create_table(lake, table)
    commit(new_run(lake), table, held(*(("a", f"{n:05}", n + 1) for n in range(20_000))), mode="append")
    again = held(*(("a", f"{n:05}", n + 2) for n in range(20_000)))
    commit(new_run(lake), table, again, mode="replace", replacing=[("a",)])
    counts = lake.log("held").files.column("num_records").to_pylist()
    assert sum(counts) == 20_000 and len(counts) >= 5 and max(counts) <= 4_000


def test_somebody_who_asks_for_no_lock_is_a_conflict(twins: Lake) -> None:
    log, rows = twins.log("held"), in_process.conformed(held(("a", "x", 1)), loose(HELD))
    write_deltalake(twins.uri("held"), held(("b", "y", 2)).cast(arrow_schema(HELD)), mode="append")
    with pytest.raises(Conflict, match="Plan again"):
        in_process.write(twins, HELD, log, rows, "{}", ())
    assert [row[:3] for row in stored(twins, HELD)] == [("b", "y", 2)]


def test_rows_of_another_shape_are_what_they_are_to_spark(twins: Lake) -> None:
    rows = held(("a", "x", 1))
    for other in (
        rows.drop_columns(["path"]),
        rows.rename_columns(["repo", "path", "n", "tags", "props"]),
        rows.set_column(2, "size", pa.array([1], pa.int64())),
        rows.set_column(1, "path", pa.array([1])),
    ):
        with pytest.raises(ContractBroken, match="another shape"):
            commit(new_run(twins), HELD, other, mode="append")
    assert twins.log("held").version == 0
    both(twins, rows.select(["size", "props", "path", "tags", "repo"]), mode="append")
    assert engine_of(twins, "held") == "delta-rs"
    both(twins, held(("a", "y", 2)).drop_columns(["size"]).cast(_with_large_texts()), mode="append")
    assert stored(twins, HELD) == stored(twins, BY_SPARK) != []


def _with_large_texts() -> pa.Schema:
    """As pandas 3 and Polars have them."""
    fields = (field for field in held().schema if field.name != "size")
    return pa.schema([field.with_type(pa.large_string()) if field.name == "path" else field for field in fields])


def test_null_in_arrow_that_says_it_has_none_is_told_with_its_row(twins: Lake) -> None:
    row = {"repo": "a", "path": None, "size": 1, "tags": [], "props": {}}
    with pytest.raises(ContractBroken, match=r"path is not null.*repo='a'"):
        commit(new_run(twins), HELD, arrow_table(HELD, [row]), mode="append")
    assert twins.log("held").version == 0


MEASURED = Table(
    name="measured",
    meaning="Numbers of every kind.",
    columns=(
        Column("Name", "string", "a name in capitals"),
        Column("share", "double", "with NaN among them", nullable=True),
        Column("price", "decimal(38,10)", "of more digits than a double has", nullable=True),
        Column("n", "int", "a number", nullable=True),
    ),
    checks=(Check("named", "Name <> ''"), Check("few", "7 / n <= 3", null="passes")),
)


def test_a_rule_is_what_it_is_to_spark(lake: Lake) -> None:
    """Of whole numbers deltalake drops the rest, so that three would fit twice into seven."""
    create_table(lake, MEASURED)
    with pytest.raises(ContractBroken, match="few: 1 row"):
        commit(new_run(lake), MEASURED, arrow_table(MEASURED, [{"Name": "a", "n": 2}]), mode="append")
    commit(new_run(lake), MEASURED, arrow_table(MEASURED, [{"Name": "a", "n": 3}]), mode="append")
    assert [row[0] for row in stored(lake, MEASURED)] == ["a"]


def test_no_number_is_missed_for_what_statistics_say(lake: Lake) -> None:
    table = replace(MEASURED, checks=())
    create_table(lake, table)
    price = Decimal("1234567890123456789012345678.0123456789")
    rows = [{"Name": "a", "share": 1.0, "price": Decimal(1)}, {"Name": "b", "share": math.nan, "price": price}]
    commit(new_run(lake), table, arrow_table(table, rows), mode="append")
    assert engine_of(lake, "measured") == "delta-rs"
    by_spark = lake.session.read.format("delta").load(lake.uri("measured"))
    for condition in ("share > 5", "share = double('NaN')", "price > 1234567890123456789012345678"):
        assert [row.Name for row in by_spark.where(condition).collect()] == ["b"], condition
        assert scan_report(lake.log("measured"), condition).n_candidates == 1, condition


def test_as_many_repositories_as_there_are_can_be_replaced_at_once(lake: Lake) -> None:
    create_table(lake, HELD)
    commit(new_run(lake), HELD, held(("r1", "x", 1), ("r2", "y", 2)), mode="append")
    replacing = [(f"r{n}", "x") for n in range(10_000)]
    commit(new_run(lake), HELD, held(("r1", "x", 3)), mode="replace", replacing=replacing)
    assert [row[:3] for row in stored(lake, HELD)] == [("r1", "x", 3), ("r2", "y", 2)]


# every table that builds write -------------------------------------------------------------------

_OF_TYPES = {
    "string": "x",
    "binary": b"x",
    "boolean": True,
    "int": 1,
    "bigint": 1,
    "float": 0.5,
    "timestamp": 0,
    "array": [],
    "map": {},
}
_GOOD: dict[str, dict[str, Any]] = {
    "files": {"status": "parsed"},
    "evidence": {"status": "parsed"},
    "claims": {"origin": "scip"},
    "calls": {"target": "x"},
    "external_symbols": {"kind": "builtin"},
}
_BAD: dict[str, list[dict[str, Any]]] = {
    "status_is_known": [{"status": "fine"}],
    "reason_where_not_parsed": [{"status": "parsed", "reason": "none"}, {"status": "skipped"}],
    "origin_is_known": [{"origin": "somebody"}],
    "target_or_reason": [{"target": None}, {"reason": "dynamic"}],
    "reason_is_known": [{"target": None, "reason": "whatever"}],
    "kind_is_known": [{"kind": "none"}],
    "confidence_is_a_share": [{"confidence": 1.5}, {"confidence": -0.1}],
    "name_is_normalised": [{"name": name} for name in ("", "-a", "a-", "a--b", "A", "a_b", "a.b", "é")],
    "start_byte_before_end_byte": [{"start_byte": 5, "end_byte": 4}],
}
_BAD_MEANINGS: dict[str, list[Any]] = {
    "node id": ["", " x", "x "],
    "edge id": ["", " x"],
    "file id": ["", "x "],
    "span start": [-1],
    "span end": [-1],
    "digest": ["", "0" * 63, "0" * 65, "A" * 64, "0" * 63 + "g", "0" * 32 + " " + "0" * 31],
    "run id": [""],
    "table name": [""],
    "table version": [-1],
}


def good_row(table: Table) -> dict[str, Any]:
    row = {}
    for column in table.columns:
        is_digest = column.semantic is not None and column.semantic.name == "digest"
        if not column.nullable or is_digest:
            row[column.name] = "0" * 64 if is_digest else _OF_TYPES[parse_type(column.type).name]
    return row | _GOOD.get(table.name, {})


def bad_rows(table: Table) -> dict[str, list[dict[str, Any]]]:
    """By rule."""
    found: dict[str, list[dict[str, Any]]] = {check.name: _BAD[check.name] for check in table.checks}
    for column in table.columns:
        if column.semantic and column.semantic.check:
            name = f"{column.name}_is_{column.semantic.name.replace(' ', '_')}"
            found[name] = [{column.name: value} for value in _BAD_MEANINGS[column.semantic.name]]
        if not column.nullable:
            found[f"{column.name} is not null"] = [{column.name: None}]
    for check in table.all_checks:
        found.setdefault(check.name, _BAD.get(check.name, []))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_deltalake_keeps_every_rule_of_every_contract(lake: Lake, table: Table) -> None:
    create_table(lake, table)
    plain = {**good_row(table)}
    commit(new_run(lake), table, arrow_table(table, [plain]), mode="append")
    log = lake.log(table.name)
    sorted_only = bool(table.layout.sort_by) and not table.append_only
    assert engine_of(lake, table.name) == ("Apache-Spark" if sorted_only else "delta-rs")
    if sorted_only:
        return
    rules = bad_rows(table)
    assert rules.keys() >= {check.name for check in table.all_checks}
    for rule, changed in rules.items():
        assert changed, rule
        for one in changed:
            rows = in_process.conformed(arrow_table(loose(table), [plain, plain | one]), loose(table))
            with pytest.raises(in_process.RulesBroken):
                in_process.write(lake, replace(table, key=()), log, rows, "{}", ())
    assert lake.log(table.name).version == log.version
