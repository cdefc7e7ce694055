"""DOT, for Graphviz."""

from __future__ import annotations

from pathlib import Path

from codelake.query.export.part import Part


def write(out: Path, part: Part) -> None:
    with out.open("w", encoding="utf-8") as file:
        file.write("digraph codelake {\n  node [shape=box];\n")
        for row in part.nodes():
            label = row["qualified_name"] or row["name"] or row["kind"]
            file.write(f"  {_quoted(row['node_id'])} [label={_quoted(label)}, kind={_quoted(row['kind'])}];\n")
        for row in part.edges():
            file.write(f"  {_quoted(row['src'])} -> {_quoted(row['dst'])} [label={_quoted(row['kind'])}];\n")
        file.write("}\n")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
