"""Which files a filter can touch, compared with what Delta on Spark reads of the same real tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from codelake.delta.log import Log
from codelake.delta.report import ScanReport, scan_report
from codelake.delta.store import Store
from codelake.errors import QueryRefused

# Ten rows a file. n is NULL in all of the first file, in half of the second, in none of the others.
_KINDS = """
    cast(id as int) i, id * 10000000000 l, cast(id % 100 as short) h, id / 4.0D d, cast(id / 8.0D as float) f,
    cast(id * 1.25 as decimal(10, 2)) m,
    concat(chr(cast(97 + id div 10 as int)), 'bc', id) s,
    concat(repeat(chr(cast(97 + id div 20 as int)), 40), id) t,
    date_add(date'2024-01-01', cast(id as int)) dt,
    timestamp'2024-01-01 00:00:00.123456' + make_interval(0, 0, 0, 0, cast(id as int)) ts,
    timestamp_ntz'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, cast(id as int)) tn,
    id % 2 = 0 b, if(id < 10, null, id % 3 = 0) nb,
    cast(if(id < 10 or (id < 20 and id % 2 = 0), null, id) as int) n,
    if(id < 10, null, string(id)) ns,
    cast(id as int) k,
    case when id < 10 then double('NaN') when id < 20 then double('Infinity') else id end x,
    if(id < 10, null, named_struct('x', cast(id as int), 'y', named_struct('z', string(id)))) st,
    array(id) xs, map('a', id) mp, cast(string(id) as binary) bin, cast(id as int) `odd name`
"""


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("skipping")
    make_tables(spark, root)
    return root


def make_tables(spark: SparkSession, root: Path) -> None:
    ten_a_file = spark.range(0, 60, 1, 6)
    spark.sql(
        f"create table delta.`{root}/kinds` (i int, l bigint, h smallint, d double, f float, "
        "m decimal(10, 2), s string, t string, dt date, ts timestamp, tn timestamp_ntz, b boolean, "
        "nb boolean, n int, ns string, k int not null, x double, st struct<x: int, y: struct<z: string>>, "
        "xs array<bigint>, mp map<string, bigint>, bin binary, `odd name` int) using delta "
        "tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    _append(ten_a_file.selectExpr(*_columns(_KINDS)), root / "kinds")

    spark.sql(
        f"create table delta.`{root}/gone` (i int, n int, s string) using delta "
        "tblproperties ('delta.enableDeletionVectors' = 'true')"
    )
    gone = "cast(id as int) i", "cast(if(id < 20, null, id) as int) n", "string(id) s"
    _append(ten_a_file.selectExpr(*gone), root / "gone")
    spark.sql(f"delete from delta.`{root}/gone` where i in (5, 15, 55, 56) or i between 30 and 38")

    parts = spark.range(0, 24, 1, 2).selectExpr(
        "cast(id as int) i",
        "cast(if(id % 2 = 0, null, id) as int) n",
        "cast(if(id % 4 = 3, null, id % 4) as int) p",
        "if(id % 3 = 2, null, concat('q', id % 3)) q",
        "date_add(date'2024-01-01', cast(id % 2 as int)) pd",
    )
    parts.write.format("delta").partitionBy("p", "q", "pd").save(str(root / "parts"))

    rows = spark.range(0, 20, 1, 2).selectExpr("cast(id as int) i", "cast(id as int) j")
    _append(rows, root / "bare")
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    _append(rows.coalesce(1), root / "bare")
    spark.conf.unset("spark.databricks.delta.stats.collect")
    spark.sql(f"alter table delta.`{root}/bare` add columns (late int)")
    _append(spark.range(0, 20, 1, 2).selectExpr("int(id) i", "int(id) j", "int(id) late"), root / "bare")

    spark.sql(
        f"create table delta.`{root}/few` (i int, j int, st struct<x: int, y: int, z: struct<w: string>>) "
        "using delta tblproperties ('delta.dataSkippingStatsColumns' = 'i,st.x,st.z')"
    )
    few = (
        "cast(id as int) i",
        "cast(id as int) j",
        "named_struct('x', int(id), 'y', int(id), 'z', named_struct('w', 'b')) st",
    )
    _append(ten_a_file.selectExpr(*few), root / "few")


def _columns(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _append(rows: DataFrame, path: Path) -> None:
    rows.write.format("delta").mode("append").save(str(path))


def files_read(rows: DataFrame) -> int:
    """The scan's own count. It is made when files are listed, so the rows need not be read."""
    execution = rows._jdf.queryExecution()  # type: ignore[operator]
    execution.toRdd()
    leaves = execution.executedPlan().collectLeaves()
    total = 0
    for at in range(leaves.size()):
        metrics = leaves.apply(at).metrics()
        if metrics.contains("numFiles"):  # a filter that is never true leaves no scan
            total += metrics.apply("numFiles").value()
    return total


def report(root: Path, table: str, filter: str | None) -> ScanReport:
    return scan_report(_log(root, table), filter)


@cache
def _log(root: Path, table: str) -> Log:
    return Log(Store(str(root)), table)


@cache
def _stored(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.format("delta").load(str(path))


_FILTERS = [
    (path.stem, filter)
    for path in sorted((Path(__file__).parent / "filters").glob("*.sql"))
    for filter in path.read_text().splitlines()
]
"""One filter a line, in a file a table."""


@pytest.mark.slow
@pytest.mark.parametrize(("table", "filter"), _FILTERS)
def test_candidates_are_the_files_that_spark_reads(spark: SparkSession, lake: Path, table: str, filter: str) -> None:
    rows = _stored(spark, lake / table).where(filter)
    assert report(lake, table, filter).n_candidates == files_read(rows)


# random filters ----------------------------------------------------------------------------------

_RANDOM_COLUMNS = """
    cast(if(rand(1) < r, null, id + rand(2) * 30) as int) a,
    cast(if(rand(3) < 0.3, null, id * 3 - 50) as bigint) b,
    if(rand(4) < r, null, round(id / 3 + rand(5) * 5, 1)) c,
    cast(if(rand(6) < 0.2, null, id / 4) as decimal(8, 2)) m,
    if(rand(7) < r, null, concat(chr(int(97 + id / 8)), repeat('x', int(rand(8) * 50)), id % 7)) s,
    if(rand(9) < r, null, date_add(date'2024-01-01', cast(id / 2 as int))) d,
    if(rand(10) < 0.2, null, timestamp'2024-01-01' + make_interval(0, 0, 0, 0, 0, 0, id * 1000.5)) ts,
    if(rand(11) < r, null, rand(12) < 0.5) t,
    if(rand(13) < r, null, named_struct('x', if(rand(14) < 0.2, null, cast(id as int)))) st,
    cast(id as int) k,
    cast(if(id div 12 % 5 = 4, null, id div 12 % 5) as int) p,
    if(id div 12 % 3 = 1, null, concat('q', id div 12 % 3)) q
"""


def make_random_table(spark: SparkSession, path: Path) -> None:
    """Ten files of twelve rows, the first nearly all NULL, in partitions p and q."""
    spark.range(0, 120, 1, 10).selectExpr("id", "if(id < 12, 1.0, id % 24 / 24) r").selectExpr(
        *_columns(_RANDOM_COLUMNS)
    ).write.format("delta").partitionBy("p", "q").save(str(path))


def random_filter(random: Random, depth: int = 3) -> str:
    """SQL text of a condition that Spark accepts."""
    kind = random.random()
    if depth and kind < 0.45:
        left, right = random_filter(random, depth - 1), random_filter(random, depth - 1)
        return f"({left}) {random.choice(['AND', 'OR'])} ({right})"
    if depth and kind < 0.6:
        return f"NOT ({random_filter(random, depth - 1)})"
    if depth and kind < 0.64:
        return f"({random_filter(random, depth - 1)}) IS {random.choice(['', 'NOT '])}NULL"
    column, literals = random.choice(_RANDOM_LITERALS)
    one, other, third = (literal(random) for literal in random.choices(literals, k=3))
    operator = random.choice(["=", "<>", "<", "<=", ">", ">=", "<=>", "="])
    shapes = [
        f"{column} {operator} {one}",
        f"{one} {operator} {column}",
        f"{column} {operator} {one}",
        f"{column} IS {random.choice(['', 'NOT '])}NULL",
        f"{column} {random.choice(['', 'NOT '])}BETWEEN {one} AND {other}",
        f"{column} {random.choice(['', 'NOT '])}IN ({one}, {other}, {third})",
        f"coalesce({column}, {one}) = {other}",
    ]
    if column in ("s", "q"):
        prefix = random.choice("abcdefgq")
        shapes += [
            f"{column} LIKE '{prefix}{random.choice(['%', '%1', 'xx%', '_%', ''])}'",
            f"{column} NOT LIKE '{prefix}%'",
            f"startswith({column}, '{prefix}x')",
            f"upper({column}) = 'Q2'",
        ]
    if column in ("a", "k", "p", "st.x"):
        peer = random.choice(["k", "a", "p"])
        shapes += [f"{column} + 1 {operator} {one}", f"{column} % 3 = 1", f"{column} {operator} {peer}"]
    if column == "ts":
        shapes += [f"cast(ts as date) {operator} date'2024-01-02'"]
    if column == "t":
        shapes = ["t", "t = true", "t <=> false", "t IS TRUE", "t IS NULL", "NOT t"]
    return random.choice(shapes)


_INTS: list[Any] = [
    lambda r: str(r.randint(-20, 150)),
    lambda r: str(r.randint(-20, 150)),
    lambda r: f"{r.randint(0, 100)}.5",
    lambda r: f"{r.randint(0, 100)}L",
    lambda r: r.choice(["NULL", "3000000000", "40.0", "1e1"]),
]
_RANDOM_LITERALS: list[tuple[str, list[Any]]] = [
    ("a", _INTS),
    ("b", _INTS),
    ("c", _INTS),
    ("m", _INTS),
    ("k", _INTS),
    ("st.x", _INTS),
    ("p", [lambda r: str(r.randint(-1, 5)), lambda r: r.choice(["NULL", "1.5", "2L"])]),
    ("q", [lambda r: r.choice(["'q0'", "'q2'", "'a'", "NULL"])]),
    (
        "s",
        [lambda r: f"'{r.choice('abcdefghijklmnop')}{r.choice(['', 'x', 'x' * 40, '3'])}'", lambda r: "NULL"],
    ),
    (
        "d",
        [
            lambda r: f"'2024-0{r.randint(1, 3)}-1{r.randint(0, 9)}'",
            lambda r: "timestamp'2024-01-20 05:00:00'",
        ],
    ),
    (
        "ts",
        [lambda r: f"'2024-01-0{r.randint(1, 2)} 0{r.randint(0, 9)}:00:00.5'", lambda r: "date'2024-01-02'"],
    ),
    ("t", [lambda r: "true"]),
]


@pytest.mark.slow
def test_random_filters_never_lose_a_file_and_prune_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    make_random_table(spark, tmp_path / "random")
    seeded = Random(20240229)
    filters = [random_filter(seeded) for _ in range(100)]
    rows = spark.read.format("delta").load(str(tmp_path / "random"))
    needed = files_that_match(rows, filters)
    for filter in filters:
        found = report(tmp_path, "random", filter)
        lost = needed[filter] - {path.rsplit("/", 1)[-1] for path in found.candidates}
        assert not lost, filter
        assert found.n_candidates == files_read(rows.where(filter)), filter


def files_that_match(rows: DataFrame, filters: list[str]) -> dict[str, set[str]]:
    """Names of the files with a row for which each filter holds, from the rows themselves, in one query."""
    held = [f"coalesce(max({filter}), false) h{at}" for at, filter in enumerate(filters)]
    by_file = rows.selectExpr("*", "_metadata.file_name name").groupBy("name")
    found = by_file.agg(*(F.expr(text.rsplit(" ", 1)[0]).alias(text.rsplit(" ", 1)[1]) for text in held)).collect()
    return {filter: {row.name for row in found if row[f"h{at}"]} for at, filter in enumerate(filters)}


# the report, and what is refused -----------------------------------------------------------------


def test_report_counts_bytes_and_rows_without_deleted_ones(spark: SparkSession, lake: Path) -> None:
    everything = report(lake, "gone", None)
    files = _log(lake, "gone").files
    assert (everything.n_files, everything.n_candidates, everything.n_pruned) == (6, 6, 0)
    assert everything.n_bytes == sum(files.column("size_bytes").to_pylist())
    assert everything.n_rows == _stored(spark, lake / "gone").count() == 60 - 13
    one = report(lake, "gone", "i BETWEEN 52 AND 54")
    assert (one.n_candidates, one.n_pruned, one.n_rows, len(one.candidates)) == (1, 5, 8, 1)
    assert (one.table_name, one.version, one.filter) == ("gone", 2, "i BETWEEN 52 AND 54")
    none = report(lake, "gone", "i > 100")
    assert (none.n_candidates, none.n_bytes, none.n_rows, none.candidates) == (0, 0, 0, ())


def test_report_does_not_guess_rows(lake: Path) -> None:
    assert report(lake, "bare", None).n_rows is None
    assert report(lake, "bare", "late = 5").n_rows is None


@pytest.mark.parametrize(
    ("filter", "place", "words"),
    [
        ("i = 1 AND lll = 2", 10, "no column lll"),
        ("i = 1 AND bim = X'00'", 10, "Did you mean bin?"),
        ("st.x = 1 AND st.w = 2", 16, "no field w"),
        ("st.y.zz = 'a'", 5, "Did you mean z?"),
        ("i = ", 2, "does not parse"),
        ("i = 1 AND\n  (l = 2", 17, "line 2"),
        ("i = 'abc", 4, "inside a string"),
        ("i = 1; drop table x", 5, "one expression"),
        ("i IN (SELECT 1)", 6, "subquery"),
        ("max(i) > 3", 0, "one row"),
        ("", 0, "empty"),
    ],
)
def test_refusals_say_where(lake: Path, filter: str, place: int, words: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        report(lake, "kinds", filter)
    assert refused.value.place == place
    assert refused.value.text == filter
    assert words in str(refused.value)


def test_long_filters_are_no_deeper_than_short_ones(lake: Path) -> None:
    assert report(lake, "kinds", " OR ".join(f"i = {n}" for n in range(2000, 4000))).n_candidates == 0
    assert report(lake, "kinds", " AND ".join(f"i <> {n}" for n in range(2000))).n_candidates == 6
