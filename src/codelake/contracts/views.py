"""Facts that people ask for by name and that are in the graph already: views, in SQL that Spark and DataFusion both
run, or in the words of each where they share none. A view names tables of the lake, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from codelake.contracts.kinds import EDGE_KINDS, PROPERTY_TYPES


class View(NamedTuple):
    name: str
    meaning: str
    columns: tuple[str, ...]
    sql: str
    """For Spark; and for DataFusion, unless `embedded` says otherwise."""
    embedded: str | None = None

    @property
    def embedded_sql(self) -> str:
        return self.embedded or self.sql


_PLACE = ("repo", "path", "start_byte", "end_byte", "start_line", "end_line")


def _nodes(name: str, meaning: str, where: str, renamed: dict[str, str]) -> View:
    """Nodes of some kinds. `renamed` is from the view's columns to those of cpg_nodes."""
    columns = (*renamed, *_PLACE)
    selected = ", ".join((*(f"n.{old} AS {new}" for new, old in renamed.items()), *(f"n.{c} AS {c}" for c in _PLACE)))
    return View(name, meaning, columns, f"SELECT {selected} FROM cpg_nodes n WHERE {where}")


def _edges(name: str, meaning: str, where: str, columns: tuple[str, ...]) -> View:
    return View(name, meaning, columns, f"SELECT {', '.join(columns)} FROM cpg_edges WHERE {where}")


def _props() -> View:
    """One row per property. The engines have other words for the entries of a map, and that is all they differ in."""

    def of(sort: str) -> str:
        return ", ".join(f"'{key}'" for key, type_ in PROPERTY_TYPES.items() if type_ == sort)

    value_type = f"CASE WHEN key IN ({of('int')}) THEN 'int' WHEN key IN ({of('bool')}) THEN 'bool' ELSE 'string' END"
    outer = (
        f"SELECT entity_id, key, {value_type} AS value_type, "
        f"CASE WHEN key NOT IN ({of('int')}, {of('bool')}) THEN value END AS value_string, "
        f"CASE WHEN key IN ({of('int')}) THEN CAST(value AS BIGINT) END AS value_int, "
        f"CAST(NULL AS DOUBLE) AS value_float, CASE WHEN key IN ({of('bool')}) THEN value = 'true' END AS value_bool, "
        "CAST(NULL AS STRING) AS value_json, repo, path FROM"
    )
    entity, known = "node_id AS entity_id, repo, path", "FROM cpg_nodes WHERE props IS NOT NULL"
    return View(
        "cpg_props",
        "Properties of nodes, one a row.",
        (
            *("entity_id", "key", "value_type", "value_string", "value_int", "value_float", "value_bool"),
            *("value_json", "repo", "path"),
        ),
        f"{outer} (SELECT {entity}, explode(props) AS (key, value) {known}) AS entries",
        f"{outer} (SELECT entity_id, repo, path, entry['key'] AS key, entry['value'] AS value FROM "
        f"(SELECT {entity}, unnest(map_entries(props)) AS entry {known}) AS e) AS entries",
    )


def _by_src() -> View:
    """Edges are sorted by file, and the id of a source begins with that of its file: what has been written is already
    in this order, so that nothing need be stored twice."""
    kinds = ", ".join(f"'{kind.name}'" for kind in EDGE_KINDS if "s" in kind.adjacent)
    fields = {"kind": "kind", "other": "dst", **dict.fromkeys(("start_byte", "end_byte", "confidence", "method"))}
    columns = {name: column or name for name, column in fields.items()}
    asked = f"FROM cpg_edges WHERE kind IN ({kinds}) AND NOT contains(src, '@scope:') GROUP BY src, repo, path"
    struct = ", ".join(f"'{name}', {column}" for name, column in columns.items())
    order = ", ".join(f"{column} ASC NULLS FIRST" for column in columns.values())
    return View(
        "cpg_edges_by_src",
        "One row per node and file: the edges of that file that start from the node, sorted; of the kinds that people "
        "ask for node by node.",
        ("node_id", "repo", "path", "edges"),
        f"SELECT src AS node_id, repo, path, array_sort(collect_list(named_struct({struct}))) AS edges {asked}",
        f"SELECT src AS node_id, repo, path, array_agg(named_struct({struct}) ORDER BY {order}) AS edges {asked}",
    )


def _disagreements() -> View:
    columns = ("kind", "origin", "start_byte", "end_byte", "own", "claimed", "verdict")
    outer = f"SELECT repo, path, {', '.join(f'd[{name!r}] AS {name}' for name in columns)} FROM"
    spark = outer.replace("['", ".").replace("']", "")
    return View(
        "disagreements",
        "Places of which another tool (origin) claims something else than codelake found (own; NULL: nothing). verdict "
        "is taken, kept (codelake's) or unknown (what is claimed is not in the lake).",
        ("repo", "path", *columns),
        f"{spark} (SELECT repo, path, explode(disagreements) AS d FROM links) AS l",
        f"{outer} (SELECT repo, path, unnest(disagreements) AS d FROM links) AS l",
    )


_NAMED = {"name": "name", "qualified_name": "qualified_name"}

VIEWS = (
    _props(),
    View(
        "cpg_props_map",
        "One row per node that has properties: all of them as one map, values as text.",
        ("entity_id", "props", "repo", "path"),
        "SELECT node_id AS entity_id, props, repo, path FROM cpg_nodes WHERE props IS NOT NULL",
    ),
    _by_src(),
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
        "SELECT n.node_id AS parameter_id, e.src AS definition_id, n.name AS name, n.props['kind'] AS kind, "
        "CAST(n.props['position'] AS BIGINT) AS position, n.repo AS repo, n.path AS path FROM cpg_nodes n "
        "JOIN cpg_edges e ON e.dst = n.node_id AND e.kind = 'DECLARES_PARAMETER' WHERE n.kind = 'parameter'",
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
    View(
        "types",
        "What variables, attributes and parameters hold and functions return, as annotations say or as was inferred: "
        "one row for each type that is possible. role is variable, attribute, parameter or return. A variable that is "
        "stored more than once has rows for each store: node_id and start_line are then those of the store.",
        (
            *("node_id", "role", "name", "type", "type_id", "class_id", "origin", "method", "confidence", "score"),
            *("repo", "path", "start_line"),
        ),
        "SELECT e.src AS node_id, CASE WHEN e.kind = 'RETURNS_TYPE' THEN 'return' WHEN n.kind = 'parameter' "
        "THEN 'parameter' WHEN p.node_id IS NOT NULL THEN 'attribute' ELSE 'variable' END AS role, n.name AS name, "
        "coalesce(t.qualified_name, t.name) AS type, e.dst AS type_id, t.parent_id AS class_id, e.origin AS origin, "
        "e.method AS method, e.confidence AS confidence, e.score AS score, n.repo AS repo, n.path AS path, "
        "n.start_line AS start_line FROM cpg_edges e JOIN cpg_nodes n ON n.node_id = e.src "
        "JOIN cpg_nodes t ON t.node_id = e.dst AND t.kind = 'type' "
        "LEFT JOIN cpg_nodes p ON p.node_id = n.parent_id AND p.kind = 'class' AND n.kind = 'variable' "
        "WHERE e.kind IN ('HAS_TYPE', 'RETURNS_TYPE') AND e.method <> 'stores'",
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
    _disagreements(),
)
