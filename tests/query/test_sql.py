"""`codelake sql`: what is refused, what runs, within which limits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from codelake.contracts import TABLES
from codelake.errors import LimitReached, NotFound, QueryRefused, UsageError
from codelake.query.catalogue import CATALOGUE
from codelake.query.engine import Limits
from codelake.query.lake import OpenLake
from codelake.query.sql.run import checked
from tests.query.conftest import Shop
from tests.query.refused import REFUSED

Run = Callable[..., tuple[int, str, str]]


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return found.hexdigest()


def test_what_does_not_only_read_is_refused(shop: Shop, run: Run) -> None:
    before = digest(shop.root / "lake")
    assert len(REFUSED) >= 100
    ran = []
    for text in REFUSED:
        code, out, err = run("sql", "--lake", shop.uri, "--", text)
        if (code, out) != (3, "") or "column" not in err or "Traceback" in err:
            ran.append((text[:80], code, out[:80], err[:200]))
    assert ran == []
    assert digest(shop.root / "lake") == before


@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        ("SELECT nod_id FROM cpg_nodes", "Did you mean node_id?", 7),
        ("SELECT n.nam FROM cpg_nodes n", "Did you mean name?", 9),
        ("SELECT 1 FROM cpg_nodez", "Did you mean cpg_nodes", 14),
        ("SELECT cont(*) FROM calls", "Did you mean count", 7),
        ("SELECT 1 FROM calls; DROP TABLE calls", "one statement is allowed", 19),
        ("SELECT x.b FROM (SELECT 1 AS a) x", "no column b", 9),
    ],
)
def test_the_place_and_the_nearest_names(shop: Shop, text: str, says: str, place: int) -> None:
    with pytest.raises(QueryRefused) as raised:
        shop.open.sql(text)
    assert says in str(raised.value)
    assert raised.value.place == place


def test_the_place_in_another_dialect(shop: Shop) -> None:
    """It is that of the text that was given, not of the one that the engine would get."""
    text = "SELECT list_contains(mro, 'x') AS b, strlen(repo) AS l FROM classes"
    with pytest.raises(QueryRefused, match="no function strlen") as raised:
        shop.open.sql(text, dialect="duckdb")
    assert raised.value.place == text.index("strlen")


def test_programs_get_the_place_and_the_plan(shop: Shop, run: Run) -> None:
    asked = ("--lake", shop.uri, "--json")
    code, out, err = run("sql", "SELECT path,\n  nam FROM files", *asked)
    said = json.loads(err)
    assert (code, out, said["what"], said["line"], said["column"]) == (3, "", "no column nam", 2, 3)
    plans = json.loads(run("sql", "SELECT 1", "--explain", *asked)[1])
    assert [plan["plan_type"] for plan in plans] == ["logical_plan", "physical_plan"]


def test_near_names_are_those_that_need_no_other_run(shop: Shop) -> None:
    with pytest.raises(QueryRefused) as refused:
        shop.open.sql("SELECT 1 FROM cpg_node")
    assert refused.value.do == "Did you mean cpg_nodes?"
    with pytest.raises(NotFound, match="Did you mean cpg_nodes") as missing:
        shop.open.table("cpg_node")
    assert "before_" not in str(missing.value) and "_changes" not in str(missing.value)


WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "JOIN", "ON", "WITH", "AS", "UNION", "CASE", "WHEN", "END"),
    *("(", ")", ",", "*", "'a'", '"b"', "1", "1e400", "--", "/*", "*/", ";", "=", "::", "[", "]", "{", "$$", "\\", "é"),
    *("calls", "cpg_nodes", "kind", "name", "node_id", "count", "unnest", "range", "NULL", "IN", "NOT", "EXISTS", "x"),
    *("INSERT", "DROP", "COPY", "INTO", "LATERAL", "OVER", "PIVOT", "LIMIT", "INTERVAL", "CAST", "DATE", "\0", "\t"),
)
SEED = 20261117


def fuzzed(n: int) -> list[str]:
    """Half are words at random, half are queries with a few changes."""
    chance = random.Random(SEED)
    whole = [
        "SELECT kind, count(*) FROM cpg_nodes WHERE name = 'a' GROUP BY kind ORDER BY 2 DESC LIMIT 3",
        "WITH a AS (SELECT * FROM calls) SELECT x.caller FROM a AS x JOIN files f ON f.path = x.path",
        "SELECT CASE WHEN n_bytes > 1 THEN 'a' ELSE upper(path) END AS x FROM files WHERE repo IN ('a', 'b')",
        "SELECT row_number() OVER (PARTITION BY repo ORDER BY path) FROM files UNION ALL SELECT 1",
    ]
    texts = []
    for place in range(n):
        if place % 2:
            texts.append(" ".join(chance.choices(WORDS, k=chance.randrange(1, 25))))
            continue
        words = chance.choice(whole).split(" ")
        for _ in range(chance.randrange(3)):
            words[chance.randrange(len(words))] = chance.choice(WORDS)
        texts.append(" ".join(words))
    return texts


def test_no_text_breaks_it(shop: Shop) -> None:
    lake = OpenLake(shop.lake.store, limits=Limits(rows=10, seconds=20, memory="200M"))
    before = digest(shop.root / "lake")
    n_ran = 0
    for text in fuzzed(1200):
        try:
            lake.sql(text)
            n_ran += 1
        except (QueryRefused, LimitReached):
            continue
    print(f"seed {SEED}: {n_ran} of 1200 ran")
    assert n_ran > 20
    assert digest(shop.root / "lake") == before


def test_every_name_can_be_asked(shop: Shop) -> None:
    lake = OpenLake(shop.lake.store, since="1")
    found = {name: lake.sql(f'SELECT * FROM "{name}" LIMIT 1').columns for name in CATALOGUE}
    assert found == {name: known.columns for name, known in CATALOGUE.items()}


def test_changes_since_an_earlier_run(shop: Shop) -> None:
    lake = OpenLake(shop.lake.store, since="1")
    found = lake.sql("SELECT path, _change_type FROM files_changes ORDER BY path, _change_type").rows
    assert [(row["path"], row["_change_type"]) for row in found] == [
        ("shop/discount.py", "insert"),
        ("shop/pricing.py", "update_postimage"),
        ("shop/pricing.py", "update_preimage"),
    ]
    assert not OpenLake(shop.lake.store, since="-1").sql("SELECT * FROM cpg_nodes_changes").rows
    with pytest.raises(UsageError, match="--since"):
        shop.open.sql("SELECT * FROM files_changes")


def test_rows_of_other_forms(shop: Shop) -> None:
    answer = shop.open.sql("SELECT kind, count(*) AS n FROM cpg_nodes GROUP BY kind ORDER BY n DESC, kind LIMIT 3")
    first = answer.rows[0]
    assert answer.to_arrow().num_rows == len(answer) == 3
    assert answer.to_pandas().n[0] == first["n"]
    assert answer.to_polars()["n"][0] == first["n"]
    assert answer.to_duckdb().fetchall()[0] == (first["kind"], first["n"])
    assert answer.to_spark(shop.lake.session).first().n == first["n"]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("spark", "SELECT size(mro) AS n FROM classes WHERE qualified_name = 'shop.cart.Gift'"),
        ("duckdb", "SELECT len(mro) AS n FROM classes WHERE qualified_name = 'shop.cart.Gift'"),
        ("postgres", "SELECT cardinality(mro)::int AS n FROM classes WHERE qualified_name = 'shop.cart.Gift'"),
    ],
)
def test_other_dialects_are_translated(shop: Shop, dialect: str, text: str) -> None:
    assert shop.open.sql(text, dialect=dialect).rows[0]["n"] >= 2


def test_lineage_and_fingerprint(shop: Shop) -> None:
    engine = shop.open.engine
    text = (
        "SELECT d.name AS n, e.confidence FROM definitions d "
        "JOIN cpg_edges e ON e.dst = d.definition_id WHERE e.kind = 'X'"
    )
    found = checked(engine, text)
    traced = found.lineage()
    assert traced["columns"] == {"n": ["cpg_nodes.name"], "confidence": ["cpg_edges.confidence"]}
    assert traced["filters"] == ["cpg_edges.kind", "cpg_nodes.kind"]
    assert traced["joins"] == ["cpg_edges.dst", "cpg_nodes.node_id"]
    assert set(traced["tables"]) == {"cpg_edges", "cpg_nodes"}
    same = text.replace("SELECT d.name AS", "select  D.NAME as").replace("WHERE", "-- a comment\nwhere")
    assert checked(engine, same).fingerprint == found.fingerprint
    assert checked(engine, text.replace("'X'", "'Y'")).fingerprint != found.fingerprint


def test_limits(shop: Shop) -> None:
    few = OpenLake(shop.lake.store, limits=Limits(rows=2))
    cut = few.sql("SELECT * FROM cpg_nodes")
    assert (len(cut), cut.is_cut) == (2, True)
    short = OpenLake(shop.lake.store, limits=Limits(seconds=0.2))
    with pytest.raises(LimitReached, match=r"more than 0\.2 seconds"):
        # It runs on, for a second or two.
        short.sql("SELECT count(*) FROM range(1, 20000) a CROSS JOIN range(1, 20000) b WHERE a.value % b.value = 7")
    small = OpenLake(shop.lake.store, limits=Limits(memory="10M"))
    with pytest.raises(LimitReached, match="more memory"):
        small.sql(
            "SELECT count(*) FROM (SELECT DISTINCT a.value * b.value FROM range(1, 3000) a CROSS JOIN range(1, 3000) b)"
        )


def test_every_table_is_in_the_catalogue() -> None:
    assert {table.name for table in TABLES} <= set(CATALOGUE)
