"""Which files a filter can touch, compared with what Delta on Spark reads of the same real tables."""

from __future__ import annotations

import random
from pathlib import Path
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

_ON_KINDS = """
i = 5
i = -5
5 = i
i = 5.0
i = 5.5
i <> 5
i != 5.5
i > 25
25 < i
i >= 29.5
i < 10
i <= 10
NOT i < 10
i > 100
i = 3000000000
i < 3000000000
i > -3000000000
i <=> 5
NOT i <=> 5
i <=> NULL
i = NULL
NOT (i = NULL)
i = NULL OR i = 15
i = '15'
i > '15'
i IN (1, 2)
i IN (1, 55)
i IN (1, 55, NULL)
i NOT IN (1, 55)
i NOT IN (1, NULL)
i IN (1)
i IN (NULL)
i IN (1.5, 2)
i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13)
i IN (5L, 3000000000L)
i BETWEEN 12 AND 18
i NOT BETWEEN 5 AND 55
i > 10 AND i < 15
i < 5 OR i > 55
NOT (i < 5 OR i > 12)
NOT (i >= 5 AND i <= 55)
i > 3 + 4 * 10
i + 1 = 5
abs(i) = 5
-i = -5
cast(i as bigint) = 5
cast(i as double) > 35.5
cast(i as string) = '5'
cast(i as long) IN (1L, 2L)
i = l
i = 5 AND n = i
i = k AND k = 15
i = i
i < i
i = 5 AND i = 7
i > 5 AND rand() < 2
true
false
1 = 1
1 = 0
i IS NULL
i IS NOT NULL
k = 15
k IS NULL
k IS NOT NULL
`odd name` = 15
I = 15
l = 50000000000
l > 5
l = 5
l > 250000000000.5
l > 2.5e11
h = 15
h > 15
h > 40000
h IN (1, 40000)
d = 2.5
d > 2.5
d > 2
d = 1e1
d BETWEEN 1 AND 2
d = '2.5'
f = 2.5
f > 2.6
f > 2.6D
f = 1.5f
m = 12.5
m = 12.345
m > 12.345
m < 12
m = 12.50
m > 1e1
m IN (1.25, 2.5)
m > 99999999999
s = 'abc5'
s > 'c'
s >= 'cbc20'
s < 'b'
s LIKE 'abc%'
s LIKE 'abc'
s LIKE '%5'
s LIKE '%bc%'
s LIKE 'a%5'
s LIKE 'a_c%'
s LIKE 'a%%'
s LIKE '%'
s LIKE 'a\\\\_%'
s LIKE 'a!%%' ESCAPE '!'
s NOT LIKE 'abc%'
s LIKE NULL
s LIKE ANY ('abc%', 'cbc%')
s LIKE ALL ('abc%', '%5')
s NOT LIKE ANY ('abc%', 'cbc%')
s NOT LIKE ALL ('abc5', 'abc')
s NOT ILIKE 'ABC%'
s ILIKE 'ABC%'
s RLIKE '^abc'
startswith(s, 'cb')
startswith(s, '')
NOT startswith(s, 'cb')
endswith(s, '5')
contains(s, 'bc')
s = 5
s IN ('abc1', 'abc2')
s IN ('abc1', 'fbc55')
upper(s) = 'ABC5'
length(s) > 100
substring(s, 1, 1) = 'a'
s || 'x' = 'abc5x'
s = 'it''s'
t = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5'
t > 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t > 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaz'
t <> 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t LIKE 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%'
t LIKE 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb%'
t < 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t BETWEEN 'b' AND 'bz'
dt = '2024-01-15'
dt = date'2024-01-15'
dt > date'2024-02-20'
dt < '2024-01-05'
'2024-01-05' > dt
dt BETWEEN '2024-01-03' AND '2024-01-08'
dt IN ('2024-01-03', '2024-01-08')
dt = timestamp'2024-01-15 00:00:00'
dt = timestamp'2024-01-15 00:00:01'
dt < timestamp'2024-01-11 12:00:00'
dt >= timestamp'2024-02-09 12:00:00'
dt > to_date('2024-02-20')
year(dt) = 2024
dt = '2024-1-5'
ts = '2024-01-01 09:00:00.123456'
ts > '2024-01-01 09:00:00.123'
ts > '2024-01-01 09:00:00.1235'
ts > '2024-01-01 09:00:00.124'
ts > '2024-01-01 09:00:00.1240001'
ts >= '2024-01-01 09:00:00.124'
ts < timestamp'2024-01-01 10:00:00'
ts < '2024-01-01T10:00:00Z'
ts < '2024-01-01 10:00:00+05:00'
ts > date'2024-01-02'
ts > '2024-01-02'
date(ts) = '2024-01-02'
cast(ts as date) = date'2024-01-02'
cast(ts as date) > date'2024-01-01'
cast(ts as date) <= date'2024-01-01'
to_date(ts) < '2024-01-02'
ts BETWEEN '2024-01-01' AND '2024-01-01 05:00:00'
tn = '2024-01-01 05:00:00'
tn < timestamp_ntz'2024-01-01 10:00:00'
tn < timestamp'2024-01-01 10:00:00'
b
NOT b
b = true
b = false
b IS NOT NULL
b IS TRUE
nb
NOT nb
nb = true
nb <=> true
nb IS TRUE
nb IS NOT TRUE
nb IS NULL
nb IS NOT NULL
nb OR i = 5
n IS NULL
n IS NOT NULL
NOT (n IS NULL)
isnull(n)
isnotnull(n)
n = 15
n <> 15
n <=> 15
NOT (n <=> 15)
n <=> NULL
NOT (n <=> NULL)
n IS DISTINCT FROM 15
n IS NOT DISTINCT FROM 15
n + 1 > 0
n > 0
n IN (15, NULL)
n IN (1, 100)
n IN (1, 100, 50)
n NOT IN (15, 16)
coalesce(n, 5) = 5
n IS NULL AND i > 5
n IS NULL OR i > 55
(n > 5) IS NULL
(n = 5) IS NULL
(n = 5) IS NOT NULL
(n > 5 AND i > 5) IS NULL
(n > 5 OR i > 50) IS NULL
(NOT (n = 5)) IS NULL
startswith(ns, '1') IS NULL
ns IS NULL
ns LIKE '1%'
ns = n
if(n > 5, true, false)
CASE WHEN n > 5 THEN i = 5 ELSE i = 55 END
x = 30
x > 100
x < 100
x = double('NaN')
x > double('Infinity')
x <> 30
isnan(x)
st.x = 15
st.x > 100
st.x IS NULL
st.x IS NOT NULL
st.y.z = '15'
st.y.z LIKE '1%'
ST.Y.Z >= '50'
st IS NULL
st IS NOT NULL
xs[0] = 5
xs IS NOT NULL
mp['a'] = 5
mp.a = 5
size(xs) = 1
exists(xs, e -> e > 5)
bin = X'35'
bin IS NOT NULL
bin IS NULL
_metadata.file_path = 'nowhere'
_metadata.file_path LIKE '%x%' OR i = 5
_metadata.file_size > 0 AND i = 5
(i = 5 AND abs(k) = 1) OR (i = 15 AND abs(k) = 2)
(i = 5 AND l > 0) OR (i = 5 AND n > 0)
(nb AND abs(i) = 5) OR (nb AND abs(i) = 6)
(i < 5 OR abs(k) = 1) AND (i < 25 OR k > 100)
NOT (NOT (i = 5))
NOT (i > 5 AND abs(k) > 3)
i > 5 AND NOT i > 5
i > 5 OR NOT i > 5
i > 1 = true
(i > 30) = (i > 20)
i = 5 OR b
i % 10 = 5
i / 2 > 100
i = cast('15' as int)
i = 15S
i = int(15.7)
""".strip().splitlines()

_ON_PARTS = """
p = 1
p = 1 AND i = 4
p <> 1
p > 0 AND q = 'q1'
p IN (0, 2)
p IS NULL
p IS NOT NULL
p <=> NULL
p <=> 1
NOT (p <=> 1)
p + 1 = 2
p % 2 = 0
-p = -1
q = 'q1'
q LIKE 'q%'
q LIKE '%1'
q LIKE '%1%'
q LIKE '_1'
q LIKE 'q%1'
q > 'q1'
upper(q) = 'Q1'
lower(q) IN ('q1', 'q2')
substring(q, 2, 1) = '1'
length(q) = 2
q IS NULL
startswith(q, 'q2')
q IN ('q1', NULL)
q NOT IN ('q1', NULL)
pd = '2024-01-01'
pd > date'2024-01-01'
year(pd) = 2024
month(pd) = 2 OR day(pd) = 2
pd < timestamp'2024-01-01 12:00:00'
cast(pd as string) = '2024-01-02'
cast(p as string) = '1'
p = '1'
p = 1.0
p > 0.5
p BETWEEN 1 AND 2
p = 1 OR i = 3
(p = 1 AND i = 4) OR (p = 2 AND i = 5)
(p = 1 AND i < 4) OR (p = 2 AND i > 6)
(p = 1 AND abs(i) = 4) OR (p = 2 AND abs(i) = 5)
NOT (p = 1 OR i = 3)
p = i
p = 1 AND p = 2
i = 4
i > 4 AND q IS NULL
p = 1 AND _metadata.file_size > 0
p > 0 AND abs(i) > 100
p = 1 AND n IS NULL
n = 5 OR q = 'q1'
true
p = 5
pd IN ('2024-01-01', '2024-02-01')
""".strip().splitlines()

_ON_BARE = """
i = 5
i > 100
i IS NULL
i IS NOT NULL
j = 5
i = 5 AND j = 5
i = 5 AND late = 5
late = 5
late IS NULL
i = 5 OR late = 5
i IN (1, 2)
abs(i) = 5
""".strip().splitlines()

_ON_FEW = """
i = 5
j = 5
i = 5 AND j = 5
i = 5 OR j = 5
j IS NULL
st.x = 5
st.y = 5
st.x = 5 AND st.y = 5
i = 5 AND st.z.w = 'a'
st.z.w = 'a'
""".strip().splitlines()


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("skipping")
    make_tables(spark, root)
    return root


def make_tables(spark: SparkSession, root: Path) -> None:
    ten_a_file = spark.range(0, 60, 1, 6)
    spark.sql(
        f"create table delta.`{root}/kinds` (i int, l bigint, h smallint, d double, f float, m decimal(10, 2), "
        "s string, t string, dt date, ts timestamp, tn timestamp_ntz, b boolean, nb boolean, n int, ns string, "
        "k int not null, x double, st struct<x: int, y: struct<z: string>>, xs array<bigint>, "
        "mp map<string, bigint>, bin binary, `odd name` int) using delta "
        "tblproperties ('delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name')"
    )
    _append(ten_a_file.selectExpr(*_columns(_KINDS)), root / "kinds")
    spark.sql(f"delete from delta.`{root}/kinds` where i in (5, 55, 56) or n = 15")

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
    few = "cast(id as int) i", "cast(id as int) j", "named_struct('x', int(id), 'y', int(id), 'z', named_struct('w', 'b')) st"
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
    return scan_report(Log(Store(str(root)), table), filter)


_FILTERS = [
    (table, filter)
    for table, filters in (("kinds", _ON_KINDS), ("parts", _ON_PARTS), ("bare", _ON_BARE), ("few", _ON_FEW))
    for filter in filters
]


@pytest.mark.parametrize(("table", "filter"), _FILTERS)
def test_candidates_are_the_files_that_spark_reads(
    spark: SparkSession, lake: Path, table: str, filter: str
) -> None:
    rows = spark.read.format("delta").load(str(lake / table)).where(filter)
    assert report(lake, table, filter).n_candidates == files_read(rows)


# random filters ----------------------------------------------------------------------------------

_RANDOM_COLUMNS = """
    cast(if(rand(1) < r, null, id + rand(2) * 30) as int) a,
    cast(if(rand(3) < 0.3, null, id * 3 - 50) as bigint) b,
    if(rand(4) < r, null, round(id / 3 + rand(5) * 5, 1)) c,
    cast(if(rand(6) < 0.2, null, id / 4) as decimal(8, 2)) m,
    if(rand(7) < r, null, concat(chr(cast(97 + id / 8 as int)), repeat('x', cast(rand(8) * 50 as int)), id % 7)) s,
    if(rand(9) < r, null, date_add(date'2024-01-01', cast(id / 2 as int))) d,
    if(rand(10) < 0.2, null, timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id * 1000.5)) ts,
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


def random_filter(random: random.Random, depth: int = 3) -> str:
    """SQL text of a condition that Spark accepts."""
    kind = random.random()
    if depth and kind < 0.45:
        joined = f"({random_filter(random, depth - 1)}) {random.choice(['AND', 'OR'])} ({random_filter(random, depth - 1)})"
        return joined
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
            f"{column} {random.choice(['', 'NOT '])}LIKE '{prefix}{random.choice(['%', '%1', 'xx%', '_%', ''])}'",
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
    ("s", [lambda r: f"'{r.choice('abcdefghijklmnop')}{r.choice(['', 'x', 'x' * 40, '3'])}'", lambda r: "NULL"]),
    ("d", [lambda r: f"'2024-0{r.randint(1, 3)}-1{r.randint(0, 9)}'", lambda r: "timestamp'2024-01-20 05:00:00'"]),
    ("ts", [lambda r: f"'2024-01-0{r.randint(1, 2)} 0{r.randint(0, 9)}:00:00.5'", lambda r: "date'2024-01-02'"]),
    ("t", [lambda r: "true"]),
]


def test_random_filters_never_lose_a_file_and_prune_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    make_random_table(spark, tmp_path / "random")
    seeded = random.Random(20240229)
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
