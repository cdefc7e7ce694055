"""The page docs/tables.md, from the contracts."""

from __future__ import annotations

from collections.abc import Sequence

from codelake.contracts.table import Table

_HEAD = """# Tables

Every table of a lake, as its contract declares it. This page is made from `src/codelake/contracts/` by
`python -m codelake.contracts.docs` and checked by the tests; change the contract, not the page.
"""


def tables_page(tables: Sequence[Table]) -> str:
    return _HEAD + "".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    lines = [f"\n## {table.name}\n\n{table.meaning}\n"]
    lines.append("\n| column | type | | meaning |\n|---|---|---|---|\n")
    for c in table.columns:
        marks = ["" if c.nullable else "not null", c.semantic.name if c.semantic else ""]
        lines.append(f"| {c.name} | `{c.type}` | {', '.join(filter(None, marks))} | {c.meaning} |\n")
    layout = table.layout
    facts = [
        ("Key", ", ".join(table.key) + f" (unique in the {table.key_scope})" if table.key else ""),
        ("Replaced by", ", ".join(table.replace_by)),
        ("Partitioned by", ", ".join(layout.partition_by)),
        ("Clustered by", ", ".join(layout.cluster_by)),
        ("Sorted by, within each file", ", ".join(layout.sort_by)),
        ("Lies together by", ", ".join(layout.together_by)),
        ("Statistics", ", ".join(layout.stats or ())),
        ("Bloom filters", ", ".join(layout.bloom)),
        ("Deletion vectors", "a build on a local disk leaves none" if layout.without_vectors else ""),
        ("Features", ", ".join(table.features)),
        ("Schema mode", table.schema_mode),
        ("Append only", "yes" if table.append_only else ""),
        ("Unbounded", "yes: its change feed can be read as a stream" if table.unbounded else ""),
        ("Retention", f"{table.retention_days} days"),
    ]
    lines.append("\n" + "".join(f"- {name}: {text}\n" for name, text in facts if text))
    for check in table.all_checks:
        lines.append(f"- Check {check.name} ({check.action}): `{check.expression}`\n")
    for reference in table.references:
        lines.append(f"- Reference ({reference.action}): {reference.name}\n")
    return "".join(lines)


if __name__ == "__main__":
    from codelake.contracts import TABLES

    print(tables_page(TABLES), end="")
