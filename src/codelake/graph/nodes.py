"""Nodes: of each file, pass by pass; those around the files, and those outside of the lake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from codelake.contracts.graph import CPG_NODES
from codelake.contracts.kinds import SYNTAX_KINDS
from codelake.graph.folders import folder_nodes
from codelake.graph.passes import (
    ONCE,
    Pass,
    binding_label,
    diagnostic_label,
    full,
    label,
    looped,
    union,
)
from codelake.ids import OUTSIDE, argument_label_sql, type_id_sql

_INT, _TEXT = "CAST(NULL AS INT)", "CAST(NULL AS STRING)"


class Nodes(NamedTuple):
    """A pass that makes nodes. All is SQL."""

    each: str
    kind: str
    label: str
    parent: str
    where: str = "true"
    start: str = _INT
    end: str = _INT
    first: str = _INT
    last: str = _INT
    name: str = _TEXT
    subkind: str = _TEXT
    names: str = _TEXT
    """What stands behind the module's name in the qualified name, as labels spell it."""


# Decorators lie before what they decorate: they belong to what it lies in.
_OWNER = "if(x.field = 'decorator_list', nodes[x.parent].parent, x.parent)"
# A map, because code for a CASE of twenty would be too long for the JVM to compile.
_KINDS = f"map({', '.join(f'{kind!r}, {ours!r}' for kind, ours in SYNTAX_KINDS.items())})"
_SYNTAX_KIND = f"""
    CASE
        WHEN x.field = 'decorator_list' THEN 'decorator'
        WHEN x.name = 'str' AND array_contains(docstrings, i) THEN 'docstring'
        ELSE coalesce({_KINDS}[x.kind], x.kind)
    END"""


def _opener(scope: str) -> str:
    return label(f"scopes[{scope}].node")


PASSES = (
    Nodes(
        ONCE,
        "'file'",
        "file_id",
        "owner_id",
        start="0",
        end="CAST(n_bytes AS INT)",
        name="element_at(split(path, '/'), -1)",
    ),
    Nodes(
        "nodes",
        _SYNTAX_KIND,
        label("i"),
        f"if(x.parent < 0, file_id, {label(_OWNER)})",
        start="x.start_byte",
        end="x.end_byte",
        first="x.start_line",
        last="x.end_line",
        name="if(i = 0, element_at(split(module, '[.]'), -1), x.name)",
        subkind="x.kind",
        names="x.label",
    ),
    Nodes("scopes", "'scope'", "scope_labels[i]", label("x.node"), name="x.name", subkind="x.kind"),
    Nodes("symbols", "'binding'", binding_label("x"), _opener("x.scope"), name="x.name", subkind="x.binding"),
    Nodes(
        "symbols",
        "'variable'",
        "things[i].label",
        _opener("x.scope"),
        where="x.target = i AND things[i].is_variable",
        start="nodes[things[i].store].start_byte",
        end="nodes[things[i].store].end_byte",
        first="nodes[things[i].store].start_line",
        last="nodes[things[i].store].end_line",
        name="x.name",
        subkind="scopes[x.scope].kind",
        names="if(x.scope = 0, x.name, concat(scopes[x.scope].label, '.', x.name))",
    ),
    # Attributes that are only stored on instances: the linker names them, as variables of their class.
    Nodes(
        "attributes",
        "'variable'",
        "x",
        "substring_index(x, ':', 1)",
        name="substring_index(x, ':', -1)",
        subkind="'instance'",
        names="replace(substring(x, 2), ':', '.')",
    ),
    Nodes(
        "blocks",
        "if(x.kind IN ('exit', 'raise'), 'exit', 'block')",
        "block_labels[i]",
        _opener("x.scope"),
        start="x.start_byte",
        end="x.end_byte",
        subkind="x.kind",
    ),
    Nodes(
        "arguments",
        "'argument'",
        argument_label_sql(label("x.node")),
        label("calls[x.call].node"),
        start="nodes[x.node].start_byte",
        end="nodes[x.node].end_byte",
        first="nodes[x.node].start_line",
        last="nodes[x.node].end_line",
        name="x.keyword",
        subkind="x.kind",
    ),
    Nodes(
        "types",
        "'type_expression'",
        "type_labels[i]",
        label("annotations[x.annotation].owner"),
        start="x.start_byte",
        end="x.end_byte",
        name="x.name",
        subkind="x.kind",
    ),
    Nodes(
        "definitions",
        "'type'",
        type_id_sql(label("x.node")),
        label("x.node"),
        where="x.kind = 'class'",
        name="x.name",
        names="nodes[x.node].label",
    ),
    Nodes(
        "comments",
        "'comment'",
        "concat('#', x.start_byte, '-', x.end_byte, ':comment')",
        "'#<module>'",
        start="x.start_byte",
        end="x.end_byte",
        first="x.line",
        last="x.line",
    ),
    Nodes(
        "problems",
        "'diagnostic'",
        diagnostic_label("x", "i"),
        "file_id",
        start="x.start_byte",
        end="x.end_byte",
        name="x.kind",
    ),
)

_MADE = tuple(name for name in Nodes._fields if name not in ("each", "where"))

# Labels of places begin with a digit, which comes before `:`.
_PLAIN = "translate(if(instr(names, '~') > 0, regexp_replace(names, '~[0-9]+', ''), names), '([)]', '..')"
_QUALIFIED = f"""
    CASE
        WHEN names IS NULL OR names < ':' THEN NULL
        WHEN names = '<module>' THEN module
        ELSE concat(module, '.', {_PLAIN})
    END"""


def cpg_nodes(whole: DataFrame, files: DataFrame) -> DataFrame:
    """`whole` are whole files; `files` are all of their repositories."""
    around = folder_nodes(files).withColumns(_nothing("qualified_name", "subkind"))
    return union(_nodes(whole)).unionByName(around.select(*CPG_NODES.column_names))


def _nodes(whole: DataFrame) -> Iterator[DataFrame]:
    passes = [Pass(one.each, {name: getattr(one, name) for name in _MADE}, one.where) for one in PASSES]
    for rows in looped(whole, passes, "repo", "path", "file_id", "module"):
        yield rows.selectExpr(
            f"{full('label')} AS node_id",
            *("kind", "repo", "path", "start AS start_byte", "end AS end_byte"),
            *("first AS start_line", "last AS end_line", "name"),
            f"{_QUALIFIED} AS qualified_name",
            f"{full('parent')} AS parent_id",
            "subkind",
        )


def outside_nodes(externals: DataFrame) -> DataFrame:
    """Nodes of what is outside, made of the external symbols of all repositories: each once in the lake."""
    symbols = externals.groupBy("symbol_id", "name").agg(F.max("has_type").alias("has_type"))
    last = "element_at(split(name, '[.]'), -1) AS name"
    rows = union(
        (
            externals.sparkSession.range(1).selectExpr(
                f"'{OUTSIDE}' AS node_id",
                *("'repository' AS kind", "'outside' AS name", f"{_TEXT} AS qualified_name", f"{_TEXT} AS parent_id"),
            ),
            symbols.selectExpr(
                *("symbol_id AS node_id", "'external_symbol' AS kind", last, "name AS qualified_name"),
                f"'{OUTSIDE}' AS parent_id",
            ),
            symbols.where("has_type").selectExpr(
                f"{type_id_sql('symbol_id')} AS node_id",
                *("'type' AS kind", last, "name AS qualified_name", "symbol_id AS parent_id"),
            ),
        )
    )
    own = {"repo": F.lit(""), "path": F.lit(""), **_nothing("subkind")}
    return rows.coalesce(1).withColumns(own).select(*CPG_NODES.column_names)


def _nothing(*texts: str) -> dict[str, Column]:
    places = ("start_byte", "end_byte", "start_line", "end_line")
    return {**{c: F.lit(None).cast("int") for c in places}, **{c: F.lit(None).cast("string") for c in texts}}
