"""Names of a query compared with what there is: tables, columns, functions. The first that is unknown is refused, with
its place and the nearest that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from codelake.delta.expressions import place_of, refuse_name
from codelake.errors import QueryRefused
from codelake.query.catalogue import CATALOGUE, USUAL
from codelake.query.sql.dialect import DataFusion

SCHEMA: dict[str, dict[str, str]] = {
    known.name: dict.fromkeys(known.columns, "UNKNOWN") for known in CATALOGUE.values()
}
_SPECIAL = {"unnest", "cast", "try_cast", "extract", "trim", "substring", "position", "overlay", "exists", "array"}
"""What the engine's grammar has beside the functions of its catalogue."""


def tables_of(text: str, tree: exp.Query) -> tuple[str, ...]:
    """Tables and views that the query reads, sorted."""
    found = set()
    for scope in traverse_scope(tree):
        for source in scope.sources.values():
            if isinstance(source, exp.Table):
                found.add(_table(text, source))
    return tuple(sorted(name for name in found if name))


def _table(text: str, table: exp.Table) -> str:
    if isinstance(table.this, exp.Func):
        return ""  # a table function: `refuse_functions` looks at it
    if not isinstance(table.this, exp.Identifier):
        raise QueryRefused("not a table", text=text, place=place_of(table), expected="the name of a table or view")
    if table.db or table.catalog:
        raise QueryRefused(
            f"no table {table.sql()}",
            text=text,
            place=place_of(table),
            expected="a name without schema or catalogue",
            do="Files and other databases cannot be read from here.",
        )
    name = table.name if table.this.quoted else table.name.lower()
    if name not in CATALOGUE:
        raise refuse_name(text, table.this, sorted(USUAL), "table or view")
    return name


def qualified(text: str, tree: exp.Query) -> exp.Query:
    """The same query, every column with its table. Refuses columns that no table of theirs has."""
    try:
        whole = qualify(
            tree.copy(),
            dialect=DataFusion(),
            schema=dict(SCHEMA),
            validate_qualify_columns=False,
            allow_partial_qualification=True,
            identify=False,
        )
    except OptimizeError as error:
        said = str(error).partition("\n")[0]
        raise QueryRefused(said.rstrip("."), text=text, place=_mentioned(text, said)) from error
    for scope in traverse_scope(whole):
        _refuse_columns(text, scope)
    return whole


def _refuse_columns(text: str, scope: Scope) -> None:
    known: set[str] = set()
    for source in scope.sources.values():
        names = _columns(source)
        if names is None:
            return  # from a function: the engine knows its columns
        known |= names
    if not isinstance(scope.expression, exp.Select):
        return
    unknown = [
        *scope.unqualified_columns,
        *(column for column in scope.columns if column.table in scope.sources and not _has(scope, column)),
        *(() if scope.is_correlated_subquery else scope.external_columns),
    ]
    # A name of the result may be used again, but for the one that stands for itself: qualifying gave every column one.
    aliases = {one.alias for one in scope.expression.selects if one.alias and one.unalias().name != one.alias}
    for column in unknown:
        if column.name not in aliases and isinstance(column.this, exp.Identifier):
            raise refuse_name(text, column.this, sorted(known), "column")


def _has(scope: Scope, column: exp.Column) -> bool:
    names = _columns(scope.sources[column.table])
    return names is None or column.name in names


def _columns(source: exp.Table | Scope) -> set[str] | None:
    """None where they are not known."""
    if isinstance(source, exp.Table):
        return set(SCHEMA[source.name]) if source.name in SCHEMA else None
    if not isinstance(source.expression, exp.Query) or source.expression.is_star:
        return None
    outer = source.expression.parent
    renamed = outer.args.get("alias") if isinstance(outer, exp.Subquery | exp.CTE) else None
    if isinstance(renamed, exp.TableAlias) and renamed.columns:
        return None
    return {one.alias_or_name for one in source.expression.selects}


def refuse_functions(text: str, tree: exp.Expr, known: Mapping[str, set[str]]) -> None:
    """`known` is the engine's own catalogue: names and their kinds."""
    for function in tree.find_all(exp.Func):
        name = _function_name(function)
        if name is None or name in _SPECIAL:
            continue
        is_table = isinstance(function.parent, exp.Table)
        if name not in known or (is_table and "TABLE" not in known[name]):
            wanted = sorted(n for n, kinds in known.items() if not is_table or "TABLE" in kinds)
            word = "table function" if is_table else "function"
            mark = exp.to_identifier(name)
            mark.meta["start"] = function.meta.get("start") or _mentioned(text, f"'{name}'") or place_of(function)
            refused = refuse_name(text, mark, wanted, word)
            refused.expected = refused.expected if is_table else "one of the engine's"
            raise refused


def _function_name(function: exp.Func) -> str | None:
    if isinstance(function, exp.Anonymous):
        return str(function.name).lower()
    if isinstance(function, exp.AnonymousAggFunc | exp.ParameterizedAgg):
        return str(function.name or function.this).lower()
    return None  # of the grammar: operators, casts, CASE


def _mentioned(text: str, said: str) -> int:
    """The place of the first name that an error quotes."""
    if found := re.search(r"'([^']+)'", said):
        return max(text.lower().find(found[1].lower()), 0)
    return 0
