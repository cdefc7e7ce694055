"""Properties of nodes, one a row and as one map an entity. What is false or not there is not a property."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import CPG_PROPS, CPG_PROPS_MAP
from codelake.graph.files import listed
from codelake.graph.passes import ONCE, Pass, diagnostic_label, full, label, looped, union


def _props(
    *, texts: dict[str, str] | None = None, numbers: dict[str, str] | None = None, flags: dict[str, str] | None = None
) -> str:
    """An array of properties, from SQL by key; NULL and false ones left out."""
    found = [_one(key, "string", sql, "NULL", "NULL", f"{sql} IS NOT NULL") for key, sql in (texts or {}).items()]
    found += [_one(key, "int", "NULL", sql, "NULL", f"{sql} IS NOT NULL") for key, sql in (numbers or {}).items()]
    found += [_one(key, "bool", "NULL", "NULL", "true", sql) for key, sql in (flags or {}).items()]
    return f"array_compact(array({', '.join(found)}))"


def _one(key: str, kind: str, text: str, number: str, flag: str, where: str) -> str:
    values = f"CAST({text} AS STRING), CAST({number} AS BIGINT), CAST({flag} AS BOOLEAN)"
    return f"if({where}, struct('{key}', '{kind}', {values}), NULL)"


_OF_FILE = _props(
    texts={"encoding": "encoding", "digest": "digest", "status": "status", "module": "module"},
    numbers={"n_bytes": "n_bytes"},
)
_PASSES = (
    Pass(ONCE, {"entity": "file_id", "props": _OF_FILE}),
    Pass(
        "definitions",
        {
            "entity": label("x.node"),
            "props": _props(
                flags={
                    "is_async": "x.kind = 'async_function'",
                    "is_generator": "scopes[x.body_scope].is_generator",
                }
            ),
        },
        where="x.kind = 'async_function' OR scopes[x.body_scope].is_generator",
    ),
    Pass(
        "parameters",
        {
            "entity": label("x.node"),
            "props": _props(
                texts={"kind": "x.kind"},
                numbers={"position": "x.position"},
                flags={"has_default": "x.default IS NOT NULL"},
            ),
        },
    ),
    Pass(
        "imports",
        {
            "entity": label("x.node"),
            "props": _props(
                texts={"module": "x.module", "name": "x.name", "as_name": "x.as_name"},
                numbers={"level": "nullif(x.level, 0)"},
                flags={"is_conditional": "x.is_conditional", "is_type_checking": "x.is_type_checking"},
            ),
        },
    ),
    Pass("problems", {"entity": diagnostic_label("x", "i"), "props": _props(texts={"message": "x.message"})}),
)


def cpg_props(whole: DataFrame, files: DataFrame) -> DataFrame:
    return _as_rows(union((*_entities(whole), _of_unread(files))))


def cpg_props_map(whole: DataFrame, files: DataFrame) -> DataFrame:
    return _as_maps(union((*_entities(whole), _of_unread(files))))


def outside_props(externals: DataFrame) -> DataFrame:
    return _as_rows(_of_outside(externals))


def outside_props_map(externals: DataFrame) -> DataFrame:
    return _as_maps(_of_outside(externals))


def _entities(whole: DataFrame) -> list[DataFrame]:
    return [
        rows.selectExpr("repo", "path", f"{full('entity')} AS entity_id", "props")
        for rows in looped(whole, _PASSES, "repo", "path", "file_id")
    ]


def _of_unread(files: DataFrame) -> DataFrame:
    missing = listed(files).where("digest IS NULL").coalesce(1)
    return missing.selectExpr("repo", "path", "file_id AS entity_id", f"{_OF_FILE} AS props")


def _of_outside(externals: DataFrame) -> DataFrame:
    """Repositories may declare other versions of a distribution: those are all named."""
    one = externals.groupBy("symbol_id").agg(
        F.min("kind").alias("kind"),
        F.array_join(F.sort_array(F.collect_set("distribution")), ", ").alias("distribution"),
        F.array_join(F.sort_array(F.collect_set("version")), ", ").alias("version"),
    )
    texts = {"kind": "kind", "distribution": "nullif(distribution, '')", "version": "nullif(version, '')"}
    return one.selectExpr("'' AS repo", "'' AS path", "symbol_id AS entity_id", f"{_props(texts=texts)} AS props")


def _as_rows(entities: DataFrame) -> DataFrame:
    return (
        entities.selectExpr(
            "entity_id", "inline(props) AS (key, value_type, value_string, value_int, value_bool)", "repo", "path"
        )
        .selectExpr(
            *("entity_id", "key", "value_type", "value_string", "value_int", "CAST(NULL AS DOUBLE) AS value_float"),
            *("value_bool", "CAST(NULL AS STRING) AS value_json", "repo", "path"),
        )
        .select(*CPG_PROPS.column_names)
    )


def _as_maps(entities: DataFrame) -> DataFrame:
    texts = "transform(props, p -> coalesce(p.col3, CAST(p.col4 AS STRING), CAST(p.col5 AS STRING)))"
    return entities.selectExpr("entity_id", f"map_from_arrays(props.col1, {texts}) AS props", "repo", "path").select(
        *CPG_PROPS_MAP.column_names
    )
