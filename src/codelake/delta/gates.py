"""What rows must satisfy before they are committed.

Nothing here runs a job of its own while all is well. Rules that fail are part of the write's own plan: a
row that breaks one ends the job before Delta commits. Rules that drop or warn are counted by the same job.
Only when a rule was broken are the rows looked at again, to say which they were.

A check whose action is `fail` is also a constraint of the Delta table, so that other writers are bound by
it and the engine enforces it; it is put into the plan only where the table lacks it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from codelake.contracts.operations import QUALITY
from codelake.contracts.table import Action, Reference, Table
from codelake.delta.create import sql_text
from codelake.delta.drift import CONSTRAINT, same_expression
from codelake.delta.log import Log
from codelake.delta.run import Run

SAMPLE = 5
_MARK = "codelake gate: "


@dataclass(frozen=True)
class Rule:
    name: str
    action: Action
    broken: str
    """SQL that is true for a row that breaks the rule, and never NULL."""
    in_plan: bool
    """False where Delta itself enforces it."""


@dataclass(frozen=True)
class Violation:
    rule: str
    action: Action
    n: int
    sample: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        rows = "; ".join(", ".join(f"{k}={v!r}" for k, v in row.items()) for row in self.sample)
        return f"{self.rule}: {self.n} row(s), such as [{rows}]"


@dataclass
class Gated:
    """Rows with their rules, ready to be written."""

    table: Table
    marked: DataFrame
    """The rows with the columns that rules need."""
    rules: tuple[Rule, ...]
    columns: tuple[str, ...]
    observation: Observation | None = field(default=None)

    def rows(self, *, counting: bool) -> DataFrame:
        """The plan to write: refuses and drops as it runs, and counts if the write runs in the rows' own session."""
        kept = self.marked
        loud = [r for r in self.rules if r.action == "fail" and r.in_plan]
        if loud:
            cases = " ".join(f"WHEN {r.broken} THEN raise_error({sql_text(_MARK + r.name)})" for r in loud)
            kept = kept.where(f"CASE {cases} ELSE true END")
        counted = [r for r in self.rules if r.action != "fail"]
        if counted and counting:
            self.observation = Observation()
            metrics = (F.expr(f"count_if({r.broken})").alias(f"rule_{i}") for i, r in enumerate(counted))
            kept = kept.observe(self.observation, *metrics)
        for rule in counted:
            if rule.action == "drop":
                kept = kept.where(f"NOT ({rule.broken})")
        return kept if kept.columns == list(self.columns) else kept.select(*map(_quoted, self.columns))

    def counts(self) -> dict[str, int]:
        """Rows that were dropped or warned of, per rule. Only after the rows were written."""
        counted = [r for r in self.rules if r.action != "fail"]
        if self.observation is None:
            return {v.rule: v.n for v in self.violations([r.name for r in counted])}
        seen = self.observation.get
        return {r.name: int(seen[f"rule_{i}"]) for i, r in enumerate(counted) if seen[f"rule_{i}"]}

    def violations(self, names: Sequence[str] | None = None) -> list[Violation]:
        """Which rows broke which rule; runs jobs. All rules, or those named."""
        rules = [r for r in self.rules if names is None or r.name in names]
        if not rules:
            return []
        totals = self.marked.selectExpr(*(f"count_if({r.broken})" for r in rules)).collect()[0]
        shown = self.table.key or self.columns
        found = []
        for i, rule in enumerate(rules):
            if totals[i]:
                sample = self.marked.where(rule.broken).select(*map(_quoted, shown)).limit(SAMPLE)
                rows = tuple(row.asDict() for row in sample.collect())
                found.append(Violation(rule.name, rule.action, int(totals[i]), rows))
        return found


def gated(
    rows: DataFrame,
    table: Table,
    log: Log,
    *,
    others: DataFrame | None,
    referred: Mapping[str, DataFrame],
    within: str | None = None,
) -> Gated:
    """The rows with every rule of the contract and of the table itself.

    `others` are the rows that stay in the table beside the new ones, where the key must be unique across
    both; `referred` holds the rows of the tables that references point to; `within` is the condition that
    a replace rewrites, outside of which no row may be written.
    """
    columns = tuple(rows.columns)
    rules = [*_null_rules(table, log), *_check_rules(table, log)]
    if within is not None:
        name = f"{', '.join(table.replace_by)} is among what is replaced"
        rules.append(Rule(name, "fail", f"coalesce(NOT ({within}), false)", in_plan=False))
    marked = rows
    if table.key and table.key_scope != "source":
        key = ", ".join(map(_quoted, table.key))
        marked = marked.selectExpr("*", f"count(1) OVER (PARTITION BY {key}) AS _same_key")
        broken = "_same_key > 1"
        if others is not None:
            there = others.select(*map(_quoted, table.key)).dropDuplicates().withColumn("_there", F.lit(True))
            marked = marked.join(there, on=list(table.key), how="left")
            broken = "(_same_key > 1 OR _there IS NOT NULL)"
        rules.append(Rule(f"key ({', '.join(table.key)}) is unique", "fail", broken, in_plan=True))
    for i, reference in enumerate(table.references):
        marked, rule = _referring(marked, reference, referred[reference.table], f"_refers_{i}")
        rules.append(rule)
    return Gated(table, marked, tuple(rules), columns)


def _null_rules(table: Table, log: Log) -> list[Rule]:
    """NOT NULL of the contract and of the table: the stricter of the two holds."""
    stored = {f["name"]: not f["nullable"] for f in log.fields}
    rules = []
    for column in table.columns:
        by_table = stored.get(column.name, False)
        if by_table or not column.nullable:
            broken = f"{_quoted(column.name)} IS NULL"
            rules.append(Rule(f"{column.name} is not null", "fail", broken, in_plan=not by_table))
    return rules


def _check_rules(table: Table, log: Log) -> list[Rule]:
    stored = {
        name.removeprefix(CONSTRAINT): text for name, text in log.properties.items() if name.startswith(CONSTRAINT)
    }
    rules = []
    for check in table.all_checks:
        in_plan = check.action != "fail" or not same_expression(stored.get(check.name), check.sql)
        rules.append(Rule(check.name, check.action, f"NOT {check.sql}", in_plan=in_plan))
    declared = {check.name: check.sql for check in table.all_checks}
    for name, text in stored.items():
        if name not in declared or not same_expression(text, declared[name]):
            broken = f"NOT coalesce(({text}), false)"
            rules.append(Rule(f"{name} (the table's own)", "fail", broken, in_plan=False))
    return rules


def _referring(marked: DataFrame, reference: Reference, to: DataFrame, flag: str) -> tuple[DataFrame, Rule]:
    aliases = [f"{flag}_{c}" for c in reference.to_columns]
    there = to.select(
        *(F.col(f"`{c}`").alias(a) for c, a in zip(reference.to_columns, aliases, strict=True))
    ).dropDuplicates()
    there = there.withColumn(flag, F.lit(True))
    same = reduce(
        lambda left, right: left & right,
        (F.col(f"`{c}`") == F.col(a) for c, a in zip(reference.columns, aliases, strict=True)),
    )
    joined = marked.join(there, on=same, how="left")
    refers = " AND ".join(f"{_quoted(c)} IS NOT NULL" for c in reference.columns)
    return joined, Rule(reference.name, reference.action, f"({refers} AND {flag} IS NULL)", in_plan=True)


def _quoted(name: str) -> str:
    return f"`{name}`"


def note_violations(run: Run, table: Table, violations: Sequence[Violation]) -> None:
    """Rows for the quality table: one for each row of the sample, one that counts the rest."""
    for violation in violations:
        about = {"table_name": table.name, "rule": violation.rule, "action": violation.action}
        for row in violation.sample:
            entity = json.dumps(row, default=str, sort_keys=True)
            run.note(QUALITY, **about, entity_id=entity, issue=f"breaks {violation.rule}", n=1)
        if rest := violation.n - len(violation.sample):
            issue = f"breaks {violation.rule}, rows beyond the sample"
            run.note(QUALITY, **about, entity_id=None, issue=issue, n=rest)


def gate_that_refused(text: str) -> bool:
    return _MARK in text
