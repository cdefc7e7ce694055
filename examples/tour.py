"""A tour of the control plane, on real Spark and Delta: `python examples/tour.py`.

The lake is left in .codelake-tour, for a look around: `codelake tables --lake .codelake-tour/lake`.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from codelake.cli.main import run as codelake
from codelake.contracts import Check, Column, Table
from codelake.contracts.arrow import arrow_table
from codelake.contracts.operations import COMMITS
from codelake.delta.changes import changes
from codelake.delta.create import create_table
from codelake.delta.lake import Lake, create_lake
from codelake.delta.record import create_operations, record
from codelake.delta.report import scan_report
from codelake.delta.run import Run
from codelake.delta.scan import scan
from codelake.delta.store import Store
from codelake.delta.write import commit
from codelake.errors import ContractBroken
from codelake.session import session, stop
from codelake.settings import load

# A table is declared once. Schema, constraints, gates, drift report and documentation follow from this.
MODULES = Table(
    name="modules",
    meaning="Python modules and how long each is.",
    columns=(
        Column("module", "string", "its dotted name"),
        Column("package", "string", "the package it belongs to"),
        Column("n_lines", "int", "lines of code"),
    ),
    key=("module",),
    replace_by=("package",),
    checks=(Check("has_lines", "n_lines > 0"),),
)
PACKAGES = Table(
    name="packages",
    meaning="Packages, added up from their modules.",
    columns=(Column("package", "string", "its name"), Column("n_lines", "bigint", "lines of its modules")),
    key=("package",),
)


def modules(lake: Lake, *rows: tuple[str, int]) -> DataFrame:
    found = [{"module": name, "package": name.split(".")[0], "n_lines": n} for name, n in rows]
    return lake.session.createDataFrame(arrow_table(MODULES, found))


def tour(lake: Lake) -> None:
    print("\n1. Make two tables from their contracts, and the tables that record what is done to the lake.")
    create_operations(lake)
    create_table(lake, MODULES)
    create_table(lake, PACKAGES)
    print("tables:", ", ".join(lake.table_names()))

    print("\n2. Commit rows. A commit returns the version that it made, and Delta's own metrics.")
    first = Run(lake, "run-1", stage="load", number=1)
    done = commit(first, MODULES, modules(lake, ("json.decoder", 260), ("json.encoder", 340)), mode="append")
    print(f"modules is at version {done.version}, {done.metrics['numOutputRows']} rows were written")
    then = datetime.now(UTC)

    print("\n3. Commit rows that break the contract. The gate refuses, and says which rows broke which rule.")
    try:
        commit(first, MODULES, modules(lake, ("json.tool", -1), ("json.decoder", 260)), mode="append")
    except ContractBroken as error:
        print(error)
    record(first)
    print(f"modules is still at version {lake.log('modules').version}")

    print("\n4. Submit the same run twice, as after a crash. It is committed once.")
    for attempt in ("first", "second"):
        again = Run(lake, "run-2", stage="load", number=2)
        done = commit(again, MODULES, modules(lake, ("ast", 1700)), mode="append", txn=again.txn)
        print(f"{attempt} time: version {done.version}, {'a repeat' if done.is_repeat else 'committed'}")

    print("\n5. Replace what belongs to one package. Readers of older versions see what they saw before.")
    third = Run(lake, "run-3", stage="load", number=3)
    done = commit(third, MODULES, modules(lake, ("json.decoder", 270)), mode="replace", replacing=[("json",)])
    for name, at in {"now": None, "version 1": 1, "when step 2 was done": then}.items():
        print(f"{name}:")
        scan(Run(lake, "reader"), MODULES, at=at).orderBy("module").show()

    print(f"\n6. Read the change feed: what version {done.version} did to the rows.")
    feed = changes(Run(lake, "reader"), MODULES, after=done.version - 1, until=done.version)
    feed.select("_change_type", *MODULES.column_names).orderBy("module", "_change_type").show()

    print("\n7. Ask what a scan will read before it runs. Statistics in the log rule files out.")
    report = scan_report(lake.log("modules"), "module >= 'json'")
    print(f"{report.filter}: {report.n_candidates} of {report.n_files} files, {report.n_pruned} pruned")

    print("\n8. Derive one table from the other, and record the run. What wrote it last, and from what?")
    fourth = Run(lake, "run-4", stage="add up")
    added = scan(fourth, MODULES).groupBy("package").agg(F.sum("n_lines").alias("n_lines"))
    commit(fourth, PACKAGES, added, mode="overwrite")
    record(fourth)
    wrote = scan(Run(lake, "reader"), COMMITS, where="table_name = 'packages'")
    wrote.orderBy(F.desc("version")).select("run_id", "stage", "mode", "version", "pins").show(1, False)

    print("\n9. And without Spark or a JVM, from the logs alone: codelake tables")
    codelake(["tables", "--lake", lake.store.root])


if __name__ == "__main__":
    folder = Path(".codelake-tour")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / ".gitignore").write_text("*\n")
    spark = session(load())
    tour(create_lake(Store(str(folder / "lake")), spark))
    stop(spark)
