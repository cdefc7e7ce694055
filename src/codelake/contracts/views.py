"""Facts that people ask for by name and that are in the graph already: views, in SQL that Spark and DataFusion both
run. A view names tables of the lake, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    name: str
    meaning: str
    columns: tuple[str, ...]
    sql: str


_PLACE = ("repo", "path", "start_byte", "end_byte", "start_line", "end_line")


def _nodes(name: str, meaning: str, where: str, renamed: dict[str, str]) -> View:
    """Nodes of some kinds. `renamed` is from the view's columns to those of cpg_nodes."""
    columns = (*renamed, *_PLACE)
    selected = ", ".join((*(f"n.{old} AS {new}" for new, old in renamed.items()), *(f"n.{c} AS {c}" for c in _PLACE)))
    return View(name, meaning, columns, f"SELECT {selected} FROM cpg_nodes n WHERE {where}")


def _edges(name: str, meaning: str, where: str, columns: tuple[str, ...]) -> View:
    return View(name, meaning, columns, f"SELECT {', '.join(columns)} FROM cpg_edges WHERE {where}")


_NAMED = {"name": "name", "qualified_name": "qualified_name"}

VIEWS = (
    View(
        "parent_of",
        "PARENT_OF as edges: the tree of all nodes.",
        ("src", "dst", "kind", "repo", "path"),
        "SELECT parent_id AS src, node_id AS dst, 'PARENT_OF' AS kind, repo, path FROM cpg_nodes "
        "WHERE parent_id IS NOT NULL",
    ),
    _nodes("modules", "Modules.", "n.kind = 'module'", {"module_id": "node_id", **_NAMED, "file_id": "parent_id"}),
    _nodes(
        "definitions",
        "Classes, functions and lambdas.",
        "n.kind IN ('class', 'function', 'lambda')",
        {"definition_id": "node_id", "kind": "kind", **_NAMED, "parent_id": "parent_id"},
    ),
    View(
        "parameters",
        "Parameters, in the order of their positions.",
        ("parameter_id", "definition_id", "name", "kind", "position", "repo", "path"),
        "SELECT n.node_id AS parameter_id, e.src AS definition_id, n.name AS name, k.value_string AS kind, "
        "p.value_int AS position, n.repo AS repo, n.path AS path FROM cpg_nodes n "
        "JOIN cpg_edges e ON e.dst = n.node_id AND e.kind = 'DECLARES_PARAMETER' "
        "LEFT JOIN cpg_props k ON k.entity_id = n.node_id AND k.key = 'kind' "
        "LEFT JOIN cpg_props p ON p.entity_id = n.node_id AND p.key = 'position' WHERE n.kind = 'parameter'",
    ),
    _edges(
        "references",
        "Where variables, parameters and definitions are read, written, deleted or named.",
        "kind IN ('READS', 'WRITES', 'DELETES') OR (kind = 'RESOLVES_TO' AND start_byte IS NOT NULL)",
        ("src", "kind", "dst", "repo", "path", "start_byte", "end_byte", "confidence"),
    ),
    View(
        "bindings",
        "Names as scopes know them, and what they mean.",
        ("binding_id", "name", "kind", "target", "repo", "path"),
        "SELECT n.node_id AS binding_id, n.name AS name, n.subkind AS kind, e.dst AS target, n.repo AS repo, "
        "n.path AS path FROM cpg_nodes n LEFT JOIN cpg_edges e ON e.src = n.node_id AND e.kind = 'RESOLVES_TO' "
        "WHERE n.kind = 'binding'",
    ),
    View(
        "scopes",
        "Scopes, and the scopes they lie in.",
        ("scope_id", "name", "kind", "opened_by", "parent_scope", "repo", "path"),
        "SELECT n.node_id AS scope_id, n.name AS name, n.subkind AS kind, n.parent_id AS opened_by, "
        "e.dst AS parent_scope, n.repo AS repo, n.path AS path FROM cpg_nodes n "
        "LEFT JOIN cpg_edges e ON e.src = n.node_id AND e.kind = 'SCOPE_PARENT' WHERE n.kind = 'scope'",
    ),
    _edges(
        "imports",
        "What import aliases and modules import.",
        "kind = 'IMPORTS'",
        ("src", "dst", "repo", "path", "start_byte", "end_byte", "method", "confidence"),
    ),
    _nodes(
        "types",
        "Types: of the classes of the lake, and of external symbols.",
        "n.kind = 'type'",
        {"type_id": "node_id", **_NAMED, "class_id": "parent_id"},
    ),
    _nodes(
        "cfg_blocks",
        "Blocks of code, and exits: kind is entry, code, exit (returns) or raise.",
        "n.kind IN ('block', 'exit')",
        {"block_id": "node_id", "kind": "subkind", "scope_node": "parent_id"},
    ),
    _edges(
        "cfg_edges",
        "From block to block.",
        "kind IN ('FLOWS_NEXT', 'FLOWS_TRUE', 'FLOWS_FALSE', 'FLOWS_EXCEPTION')",
        ("src", "dst", "kind", "repo", "path"),
    ),
    _edges(
        "def_use",
        "What binds a name, and where that may still hold.",
        "kind = 'REACHES'",
        ("src", "dst", "repo", "path"),
    ),
)
