"""The graph: nodes, edges, properties, what makes them quick to look up, and what linking found."""

from __future__ import annotations

from codelake.contracts.kinds import REASONS
from codelake.contracts.semantic import DIGEST, EDGE_ID, END_BYTE, NODE_ID, START_BYTE
from codelake.contracts.table import Check, Column, Layout, Table, Upkeep
from codelake.contracts.vectors import DENSE, PACKED, Fields, parsed

_REPO = Column("repo", "string", "name of the repository; empty for what is outside of the lake")
_PATH = Column("path", "string", "path in the repository; empty for what no single file holds")
_START = Column("start_byte", "int", "first byte of its place", START_BYTE, nullable=True)
_END = Column("end_byte", "int", "byte after its last", END_BYTE, nullable=True)
_HOW = (
    Column(
        "origin",
        "string",
        "the evidence it follows from: syntax, names, control, flow, annotation or guess; scip or pyrefly where "
        "another tool claims it",
    ),
    Column("method", "string", "how it was resolved"),
    Column("confidence", "float", "from 0 to 1"),
)
_SPAN = ("start_byte", "end_byte")
_PREFIXES = DENSE | {"parquet.writer.version": "PARQUET_2_0"}
"""Texts without a dictionary are then stored as what they add to the one before: ids take a fifth less room."""
_FILE_ROWS = 50_000
"""Rows lie by repository and path. To find those of one file, or of a node in it, Delta skips all other files; of the
one that is left every row is read."""
_RANGE_ROWS = 10_000
"""Rows lie by target: each task writes several files, and each of them has a range of targets. Of one target a file a
task is read. It is read as a whole once any of those files has a deletion vector: deltalake drops no rows then while
it decodes. So files are small."""

_FEW_VECTORS = Upkeep(vector_files=5)
"""Of tables that questions look up: a file with a deletion vector is read as a whole."""

_EDGES = (
    "kind string, node int, src string, dst string, origin string, method string, confidence float, score float, n int"
)
_CALLS = "call int, caller string, target string, n_targets int, confidence float, method string, reason string"
LINKED: dict[str, Fields] = {"edges": parsed(_EDGES), "calls": parsed(_CALLS)}
"""By packed column of `links`, the fields of the things in it."""

LINKS = Table(
    name="links",
    meaning="One row per file: what linking found of it, nested. From this and evidence the graph is rendered.",
    columns=(
        _REPO,
        _PATH,
        Column("digest", "string", "digest of the content; NULL where none was read", DIGEST, nullable=True),
        Column(
            "edges",
            "binary",
            f"packed {_EDGES}: edges with the node (by its ordinal in the evidence; -1: none) that is the source "
            "and the place, the source's id where it is another, the target's id, how sure; where there are n > 1 "
            "candidates, its rank among them",
        ),
        Column(
            "calls",
            "binary",
            f"packed {_CALLS}: call sites by their place in the evidence's `calls`",
        ),
        Column(
            "classes",
            "array<struct<definition:int,bases:array<string>,mro:array<string>,problem:string>>",
            "classes by their place in the evidence's `definitions`: ids of bases and of the method resolution order",
        ),
        Column("externals", "array<string>", "ids of what it uses of the outside, and of types of that, sorted"),
        Column(
            "disagreements",
            "array<struct<kind:string,origin:string,start_byte:int,end_byte:int,own:string,claimed:string,"
            "verdict:string>>",
            "where other tools claim something else: the kind of edge, who claims, the place, the id that codelake "
            "found (NULL: none) and the one that is claimed; verdict is taken, kept (codelake's) or unknown (what is "
            "claimed is not in the lake)",
        ),
        Column("found_digest", "bigint", "hash of edges, calls, classes and disagreements"),
        Column("module", "string", "the file's module as it was linked", nullable=True),
        Column("link_digest", "string", "the evidence's, as it was linked; NULL where none was read", nullable=True),
        Column("claims_digest", "string", "hash of what other tools claim of it, as it was linked", nullable=True),
        Column("made_by", "string", "fingerprint of the stage that linked it"),
    ),
    key=("repo", "path"),
    key_scope="source",
    replace_by=("repo", "path"),
    # An edit writes anew what lies in a file with its own.
    layout=Layout(stats=("repo", "path"), file_rows=200),
    properties=PACKED,
)

CPG_NODES = Table(
    name="cpg_nodes",
    meaning="One row per node of the graph.",
    columns=(
        Column("node_id", "string", "id of the node", NODE_ID),
        Column("kind", "string", "what it is, see graph-schema.md; other syntax nodes: their grammar's kind"),
        _REPO,
        _PATH,
        _START,
        _END,
        Column("start_line", "int", "line of its first byte, from 1", nullable=True),
        Column("end_line", "int", "line of its last", nullable=True),
        Column("name", "string", "its name; operator of an operation, type of a literal", nullable=True),
        Column("qualified_name", "string", "module, dot, nested names", nullable=True),
        Column("parent_id", "string", "the node that owns it; NULL for a repository", NODE_ID, nullable=True),
        Column(
            "subkind",
            "string",
            "which of its kind: the grammar's kind of syntax, the kind of a scope, binding, block or type expression",
            nullable=True,
        ),
        Column("props", "map<string,string>", "its properties, values as text; NULL if it has none", nullable=True),
    ),
    key=("node_id",),
    key_scope="source",
    replace_by=("repo", "path"),
    layout=Layout(
        stats=("node_id", "repo", "path", "qualified_name"),
        spread=("kind", "name"),
        file_rows=_FILE_ROWS,
        no_dictionary=("node_id", "parent_id", "qualified_name", *_SPAN, "start_line", "end_line"),
        without_vectors=True,
    ),
    properties=_PREFIXES,
    upkeep=_FEW_VECTORS,
)

CPG_EDGES = Table(
    name="cpg_edges",
    meaning="One row per edge of the graph; PARENT_OF is the column `parent_id` of cpg_nodes.",
    columns=(
        Column("edge_id", "string", "kind, src, dst and place", EDGE_ID),
        Column("kind", "string", "reads as: src KIND dst"),
        Column("src", "string", "id of the node it starts from", NODE_ID),
        Column("dst", "string", "id of the node it leads to", NODE_ID),
        _REPO,
        _PATH,
        _START,
        _END,
        *_HOW,
        Column("score", "float", "rank among the candidates of its group, the best is highest", nullable=True),
        Column("ambiguity_group", "string", "the same for all candidates of one place", nullable=True),
        Column("rule", "string", "the rule that made it"),
    ),
    key=("edge_id",),
    key_scope="source",
    replace_by=("repo", "path"),
    checks=(Check("confidence_is_a_share", "confidence BETWEEN 0 AND 1"),),
    layout=Layout(
        stats=("src", "repo", "path"),
        spread=("kind", "dst"),
        file_rows=_FILE_ROWS,
        no_dictionary=("edge_id", "src", "dst", "ambiguity_group", *_SPAN),
    ),
    unbounded=True,
    properties=_PREFIXES,
)

CPG_EDGES_BY_DST = Table(
    name="cpg_edges_by_dst",
    meaning="One row per node and file: the edges of that file that lead to the node, sorted; only of the kinds that "
    "people ask for node by node, so not of flows, reaches, scopes and bindings.",
    columns=(
        Column("node_id", "string", "id of the node", NODE_ID),
        _REPO,
        _PATH,
        Column(
            "edges",
            "array<struct<kind:string,other:string,start_byte:int,end_byte:int,confidence:float,method:string>>",
            "kind, src, place and how sure",
        ),
    ),
    key=("node_id", "repo", "path"),
    key_scope="source",
    replace_by=("repo", "path"),
    layout=Layout(
        together_by=("node_id",),
        stats=("node_id", "repo", "path"),
        file_rows=_RANGE_ROWS,
        no_dictionary=("node_id", *(f"edges.list.element.{name}" for name in ("other", *_SPAN))),
        without_vectors=True,
    ),
    properties=_PREFIXES,
    # To look up one target among a million edges took 30 times as long with 14 such files.
    upkeep=_FEW_VECTORS,
)

CALLS = Table(
    name="calls",
    meaning="One row per call site: its best target, or the reason why there is none.",
    columns=(
        Column("call_id", "string", "id of the call", NODE_ID),
        _REPO,
        _PATH,
        Column("start_line", "int", "line of the call"),
        Column("caller", "string", "id of the function, class or module whose code calls", NODE_ID),
        Column("callee_text", "string", "what is called, if it is a dotted name", nullable=True),
        Column("target", "string", "id of the best candidate", NODE_ID, nullable=True),
        Column("n_targets", "int", "how many candidates there are"),
        Column("confidence", "float", "of the best", nullable=True),
        Column("method", "string", "how the best was resolved", nullable=True),
        Column("reason", "string", "why there is none", nullable=True),
    ),
    key=("call_id",),
    key_scope="source",
    replace_by=("repo", "path"),
    checks=(
        Check("target_or_reason", "(target IS NULL) = (reason IS NOT NULL)"),
        Check("reason_is_known", f"reason IN ({', '.join(repr(r) for r in REASONS)})", null="passes"),
    ),
    layout=Layout(
        stats=("call_id", "repo", "path", "caller", "target", "callee_text"),
        no_dictionary=("call_id", "caller"),
        without_vectors=True,
    ),
    properties=_PREFIXES,
    upkeep=_FEW_VECTORS,
)

CLASSES = Table(
    name="classes",
    meaning="One row per class: its bases and its method resolution order.",
    columns=(
        Column("class_id", "string", "id of the class", NODE_ID),
        _REPO,
        _PATH,
        Column("qualified_name", "string", "module, dot, nested names"),
        Column("bases", "array<string>", "ids of the bases, as written"),
        Column("mro", "array<string>", "ids, the class itself first; ends where something unknown begins"),
        Column("problem", "string", "why there is no order, if there is none", nullable=True),
    ),
    key=("class_id",),
    key_scope="source",
    replace_by=("repo", "path"),
    layout=Layout(stats=("class_id", "repo", "path", "qualified_name")),
)

EXTERNAL_SYMBOLS = Table(
    name="external_symbols",
    meaning="One row per thing that a repository uses and that no repository of the lake defines.",
    columns=(
        Column("symbol_id", "string", "id of its node", NODE_ID),
        Column("repo", "string", "name of the repository that uses it"),
        Column("name", "string", "dotted name"),
        Column("kind", "string", "builtin, standard_library, distribution or unknown"),
        Column(
            "distribution", "string", "the distribution that brings it, if the repository declares it", nullable=True
        ),
        Column("version", "string", "its version, if the repository tells", nullable=True),
        Column("is_derived", "boolean", "merely a name on the result or an item of something external"),
        Column("has_type", "boolean", "something is known to be an instance of it"),
    ),
    key=("symbol_id", "repo"),
    key_scope="source",
    replace_by=("repo",),
    checks=(Check("kind_is_known", "kind IN ('builtin', 'standard_library', 'distribution', 'unknown')"),),
    layout=Layout(stats=("symbol_id", "repo", "name", "kind", "distribution")),
)

RENDERED = (CPG_NODES, CPG_EDGES, CPG_EDGES_BY_DST, CALLS, CLASSES)
"""What is rendered from files, their evidence and links."""

GRAPH = (LINKS, *RENDERED, EXTERNAL_SYMBOLS)
