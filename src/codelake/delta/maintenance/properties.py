"""A table's properties and features, changed by hand. The contract still decides: what it says comes back with the
next build, and what it says otherwise is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codelake.contracts.table import Table
from codelake.delta.create import drop_feature, set_properties
from codelake.delta.features import check_enable, properties_for, protocol_of, switched_on
from codelake.delta.lake import Lake
from codelake.delta.layout import table_properties
from codelake.delta.maintenance.operation import Maintained, maintained
from codelake.delta.properties import check_properties
from codelake.delta.run import Run
from codelake.errors import NotFound, Refused


def change_properties(run: Run, table: Table, properties: Mapping[str, str], *, dry_run: bool = False) -> Maintained:
    """A property that switches a feature on is as good as `enable`, and refused as that would be."""
    check_properties(table, properties)
    _refuse_otherwise(table, properties)
    there = protocol_of(*run.lake.log(table.name).protocol).features
    check_enable(feature for feature in switched_on(properties) if feature not in there)
    with maintained(run, table.name, "set", dry_run=dry_run, options=properties) as done:
        stored = run.lake.log(table.name).properties
        new = {name: value for name, value in properties.items() if stored.get(name) != value}
        done.metrics["n_properties"] = len(new)
        if new and not dry_run:
            set_properties(run.lake, table.name, new)
    return done


def enable(run: Run, table: Table, feature: str, *, allow: tuple[str, ...] = (), dry_run: bool = False) -> Maintained:
    """A feature that locks out a promised reader is refused unless `allow` names it."""
    check_enable([feature], allow=allow)
    properties = properties_for([feature])
    _refuse_otherwise(table, properties)
    with maintained(run, table.name, "enable", dry_run=dry_run, options={"feature": feature}) as done:
        there = feature in protocol_of(*run.lake.log(table.name).protocol).features
        stored = run.lake.log(table.name).properties
        done.metrics["n_features"] = 0 if there and properties.items() <= stored.items() else 1
        if done.metrics["n_features"] and not dry_run:
            set_properties(run.lake, table.name, properties)
    return done


def _refuse_otherwise(table: Table, properties: Mapping[str, str]) -> None:
    """What the contract says, if there is one; that a table is not append-only, it says by silence."""
    declared = {"delta.appendOnly": "false"} | table_properties(table) if table.columns else {}
    for name, value in properties.items():
        if declared.get(name, value) != value:
            raise Refused(
                f"table {table.name}, property {name}",
                expected=f"{declared[name]}, as the contract says",
                found=value,
                do="Nothing was changed. Change the contract: the next build brings the table to it.",
            )


def drop(run: Run, table: Table, feature: str, *, truncate_history: bool = False, dry_run: bool = False) -> Maintained:
    there = protocol_of(*run.lake.log(table.name).protocol).features
    if feature not in there:
        raise NotFound(f"table {table.name}", expected=f"one of its features {', '.join(there)}", found=feature)
    if feature in table.features or feature in _implied(table):
        raise Refused(
            f"table {table.name}: drop of the feature {feature}",
            expected="a feature that the contract neither names nor needs",
            found="one that it does",
            do="Nothing was changed. Take it out of the contract first.",
        )
    options = {"feature": feature, "truncate_history": str(truncate_history).lower()}
    with maintained(run, table.name, "drop-feature", dry_run=dry_run, options=options) as done:
        done.metrics["n_features"] = 1
        if not dry_run:
            drop_feature(run.lake, table.name, feature, truncate_history=truncate_history)
    return done


def _implied(table: Table) -> set[str]:
    """Features that checks, NOT NULL and append-only bring."""
    brought = {
        "appendOnly": table.append_only,
        "checkConstraints": any(check.action == "fail" for check in table.all_checks),
        "invariants": not all(column.nullable for column in table.columns),
    }
    return {feature for feature, is_brought in brought.items() if is_brought}


def with_feature(lake: Lake, names: Iterable[str], feature: str) -> list[str]:
    """Those of the tables that have it."""
    there = {name: protocol_of(*lake.log(name).protocol).features for name in names}
    having = [name for name, features in there.items() if feature in features]
    if not having:
        known = sorted({one for features in there.values() for one in features})
        raise NotFound("tables", expected=f"one of their features {', '.join(known)}", found=feature)
    return having
