"""Which columns of a table need statistics in every file, from what is really looked up: a filter on a column without
them reads every file. The texts are those of questions and builds, by whom they were asked; `docs/statistics.md` is the
decision that was made from them, with its reasons, and the tests compare it with the contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from codelake.contracts.table import Table
from codelake.query.published import BEFORE
from codelake.query.sql.dialect import DataFusion
from codelake.query.sql.lineage import stored_columns, without_views
from codelake.query.sql.names import qualified
from codelake.query.sql.parsing import parsed

MOST = 5
"""Columns with statistics in a table, beyond those it is laid out by: each makes every commit larger."""
_LAID_OUT = "rows are laid out by it"
_REPLACED = "a commit finds the rows that it replaces by it"

Decision = dict[str, tuple[str, ...]]
"""Columns with the reasons for each."""


def looked_up(text: str) -> set[str]:
    """`table.column` of what is compared with values. What only joins, or is compared with a bound, prunes no file."""
    found: set[str] = set()
    for scope in traverse_scope(qualified("", without_views(parsed(text, DataFusion())))):
        for column in scope.columns:
            clause = column.find_ancestor(exp.Join, exp.Where, exp.Having, exp.Select)
            if isinstance(column.parent, exp.EQ | exp.In | exp.Like) and isinstance(clause, exp.Where):
                found |= stored_columns(scope, column)
    return {one.removeprefix(BEFORE) for one in found}


def decided(table: Table, texts: Mapping[str, Iterable[str]]) -> Decision:
    """`texts` by who asked them. Layout and replaced rows come first, then what is looked up most often."""
    who: dict[str, set[str]] = {}
    often: Counter[str] = Counter()
    for asker, asked in texts.items():
        for one in (one for text in set(asked) for one in looked_up(text)):
            name, _, column = one.partition(".")
            if name == table.name:
                often[column] += 1
                who.setdefault(column, set()).add(asker)
    layout = table.layout
    laid_out = (*layout.partition_by, *layout.cluster_by, *layout.zorder_by, *layout.order)
    reasons: dict[str, list[str]] = {column: [_LAID_OUT] for column in laid_out}
    for column in table.replace_by:
        reasons.setdefault(column, []).append(_REPLACED)
    for column, _ in sorted(often.items(), key=lambda pair: (-pair[1], pair[0])):
        if column in layout.spread:
            continue
        if column in reasons or len(reasons) < MOST:
            reasons.setdefault(column, []).append(f"looked up by {', '.join(sorted(who[column]))}")
    return {column: tuple(reasons[column]) for column in table.column_names if column in reasons}


def page(decisions: Mapping[str, Decision]) -> str:
    rows = [
        f"| `{table}` | `{column}` | {'; '.join(reasons)} |"
        for table, decision in decisions.items()
        for column, reasons in decision.items()
    ]
    head = ("| table | column | why |", "|---|---|---|")
    return "\n".join(("# Statistics", "", _INTRODUCTION, "", *head, *rows, ""))


_INTRODUCTION = f"""Files have the least and the greatest value of these columns, so that a look-up reads few of them.
The columns follow from the SQL of questions and builds: what is compared with values there, at most {MOST} a table,
after what the table is laid out and replaced by; not what has all its values in every file, such as `kind`.
Contracts may declare more, for SQL of users. The tests compare this page with the texts that are really asked, and
with the contracts."""
