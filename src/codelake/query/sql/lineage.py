"""Where the columns of a query come from, from its syntax tree; views are looked through, down to what is stored."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope, traverse_scope

from codelake.query.catalogue import CATALOGUE
from codelake.query.sql.dialect import DataFusion
from codelake.query.sql.names import qualified


def lineage(tree: exp.Query) -> dict[str, Any]:
    """`columns`: of each column of the result, the stored columns that its values are made of. `tables`: all columns
    that are read. `filters` and `joins`: those that decide which rows there are."""
    whole = qualified("", without_views(tree))
    root = build_scope(whole)
    assert root is not None  # noqa: S101 - a query has a scope
    read: dict[str, set[str]] = {}
    filters: set[str] = set()
    joins: set[str] = set()
    for scope in traverse_scope(whole):
        for column in scope.columns:
            stored = stored_columns(scope, column)
            for one in stored:
                table, _, name = one.partition(".")
                read.setdefault(table, set()).add(name)
            clause = column.find_ancestor(exp.Join, exp.Where, exp.Having, exp.Select)
            if isinstance(clause, exp.Join):
                joins |= stored
            elif isinstance(clause, exp.Where | exp.Having):
                filters |= stored
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and source.name in CATALOGUE:
                read.setdefault(source.name, set())
    return {
        "tables": {name: sorted(columns) for name, columns in sorted(read.items())},
        "columns": {name: sorted(found) for name, found in _outputs(root)},
        "filters": sorted(filters),
        "joins": sorted(joins),
    }


def without_views(tree: exp.Query) -> exp.Query:
    views = {known.name: known.sql for known in CATALOGUE.values() if known.sql}
    expanded = tree.copy()
    while used := [
        table for table in expanded.find_all(exp.Table) if table.name.lower() in views and not _is_cte(table)
    ]:
        for table in used:
            name = table.name.lower()
            [inner] = DataFusion().parse(views[name])
            table.replace(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(table.alias or name))))
    return expanded


def _is_cte(table: exp.Table) -> bool:
    above = table.parent
    while above is not None:
        if isinstance(above, exp.Query) and any(cte.alias == table.name for cte in above.ctes):
            return True
        above = above.parent
    return False


def _outputs(scope: Scope) -> list[tuple[str, set[str]]]:
    if scope.set_operation_scopes:
        sides = [_outputs(one) for one in scope.set_operation_scopes]
        return [(name, found | other) for (name, found), (_, other) in zip(sides[0], sides[1], strict=False)]
    if not isinstance(scope.expression, exp.Select):
        return []
    found = []
    for one in scope.expression.selects:
        columns = [column for column in one.find_all(exp.Column) if column in scope.columns]
        found.append((one.alias_or_name, set().union(*(stored_columns(scope, column) for column in columns))))
    return found


def stored_columns(scope: Scope, column: exp.Column) -> set[str]:
    """`table.column` of what is stored; nothing where it is not known."""
    source = scope.sources.get(column.table)
    if isinstance(source, exp.Table):
        return {f"{source.name}.{column.name}"} if source.name in CATALOGUE else set()
    if not isinstance(source, Scope):
        return set()
    return next((found for name, found in _outputs(source) if name == column.name), set())
