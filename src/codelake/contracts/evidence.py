"""What the extractors saw in one content. One row per content and extractor version, one nested column per idea.

Within a row, things are named by their place: a node by its ordinal in `nodes` (preorder), a scope by its
place in `scopes`, and so on. The things of a column are packed (codelake.contracts.vectors): SQL does not look into
them; what they say is asked of the graph.
"""

from __future__ import annotations

from codelake.contracts.semantic import DIGEST
from codelake.contracts.table import Check, Column, Layout, Table
from codelake.contracts.vectors import PACKED, Fields, parsed

FIELDS: dict[str, Fields] = {}
"""By nested column, the fields of the things in it."""


def _nested(name: str, fields: str, meaning: str) -> Column:
    """`fields` is `name type, name type, ...`."""
    FIELDS[name] = parsed(fields)
    return Column(name, "binary", f"packed {fields}: {meaning}")


NESTED = (
    _nested(
        "nodes",
        "kind string, field string, parent int, name string, "
        "start_byte int, end_byte int, start_line int, end_line int, label string",
        "syntax nodes in preorder: kind as Python's grammar has it, field of the parent it stands in, the parent's "
        "ordinal (-1: none), the identifier, operator or type of constant it carries, its place, and the part of its "
        "id behind the file's where that is not its place",
    ),
    _nested(
        "scopes",
        "node int, kind string, name string, qualified_name string, label string, parent int, is_generator boolean, "
        "is_coroutine boolean",
        "scopes in preorder: the node that opens it, kind (module, class, function, lambda, comprehension, type), "
        "name within its parent, names from the module down, the same as no other scope of the file has it, the "
        "parent's ordinal (-1: none)",
    ),
    _nested(
        "symbols",
        "scope int, name string, binding string, target int, is_referenced boolean, is_assigned boolean, "
        "is_parameter boolean, is_imported boolean, is_annotated boolean, is_declared boolean, is_namespace boolean",
        "names of each scope, as symtable has them: binding is local, cell, free, global_explicit or global_implicit; "
        "target is the symbol that it means: itself, one of an enclosing function, one of the module, or NULL where "
        "the file has none (a builtin, or from a star import)",
    ),
    _nested(
        "references",
        "node int, symbol int, context string",
        "where names, attributes and items are loaded, stored or deleted: context is load, store, delete or declare "
        "(annotated without a value); symbol is NULL for attributes and items, and for builtins in annotations that "
        "are kept as text",
    ),
    _nested(
        "definitions",
        "node int, kind string, name string, qualified_name string, ordinal int, scope int, body_scope int, "
        "docstring int",
        "module, class, function, async_function and lambda: the n-th (ordinal, from 0) of its name in its scope, the "
        "scope that it is in and the one that it opens, the node of its docstring",
    ),
    _nested(
        "parameters",
        "definition int, node int, name string, kind string, position int, default int, annotation int",
        "parameters: kind is positional_only, positional, var_positional, keyword_only or var_keyword; default and "
        "annotation are nodes",
    ),
    _nested("decorators", "definition int, node int, position int", "decorators, outermost first"),
    _nested("comments", "start_byte int, end_byte int, line int", "comments, from # to the end of the line"),
    _nested(
        "imports",
        "node int, statement int, scope int, level int, module string, name string, as_name string, "
        "is_conditional boolean, is_type_checking boolean",
        "one a name imported: the alias, its statement, leading dots, the module named, the name taken from it "
        "(NULL: the module itself; * for all), the name given",
    ),
    _nested(
        "calls",
        "node int, scope int, function int, callee string",
        "call sites: the node that is called, and its dotted text where it is one",
    ),
    _nested(
        "arguments",
        "call int, node int, kind string, position int, keyword string",
        "arguments of calls (by their place in `calls`): kind is positional, keyword, star or double_star",
    ),
    _nested(
        "annotations",
        "node int, owner int, scope int, role string",
        "annotations: owner is the parameter, function or assignment; role is parameter, return or variable",
    ),
    _nested(
        "types",
        "annotation int, parent int, kind string, name string, symbol int, start_byte int, end_byte int",
        "type expressions in preorder, texts in quotes parsed too: kind is name, generic, union, literal, list, none, "
        "ellipsis or other; parent is a place in `types` (-1: none); symbol is what the first part of the name means",
    ),
    _nested(
        "blocks",
        "scope int, kind string, start_byte int, end_byte int",
        "basic blocks of each scope's code: kind is entry, code, exit (returns) or raise (leaves by an exception)",
    ),
    _nested(
        "steps",
        "block int, node int",
        "what a block evaluates, in order: simple statements, expressions that decide where control goes with the "
        "operands around them, and what enters, leaves or advances",
    ),
    _nested("flows", "src int, dst int, kind string", "from block to block: next, true, false or exception"),
    _nested(
        "reaches",
        "definition int, use int",
        "which store or parameter may still hold where the name is loaded or deleted in the same scope: places in "
        "`references`",
    ),
    _nested(
        "facts",
        "kind string, scope int, dst int, src int, key string",
        "flow of values between nodes (and symbols: -1 minus their place), by the scope whose code it is, see "
        "docs/flow-facts.md",
    ),
    _nested(
        "problems",
        "kind string, message string, start_byte int, end_byte int",
        "what was wrong with the content, and where",
    ),
)

LINK_INPUT = {
    "scopes": ("node", "kind", "label", "parent", "is_generator", "is_coroutine"),
    "definitions": ("node", "kind", "name", "scope", "body_scope"),
    "parameters": ("definition", "node", "name", "kind"),
    "imports": ("node", "scope", "level", "module", "name", "as_name"),
    "annotations": ("node", "owner", "scope", "role"),
    "types": ("annotation", "parent", "kind", "name", "symbol"),
    "calls": ("node",),
    "facts": ("kind", "scope", "dst", "src", "key"),
}
"""The fields of the nested evidence that linking reads. While they are the same, so is what a file brings into it."""

EVIDENCE = Table(
    name="evidence",
    meaning="One row per content and extractor version: all that was seen in it, nested.",
    columns=(
        Column("digest", "string", "digest of the content", DIGEST),
        Column("extractor_version", "string", "versions of the extractors and of the grammar"),
        Column("status", "string", "parsed, recovered or skipped"),
        Column("reason", "string", "why it is not parsed", nullable=True),
        Column("encoding", "string", "encoding of the text", nullable=True),
        Column("n_lines", "int", "lines of text"),
        Column(
            "link_digest",
            "string",
            "hash of what linking reads of it: an edit that leaves it alone links nothing",
            nullable=True,
        ),
        Column(
            "needs",
            "array<string>",
            "first names of modules that it imports absolutely, sorted; without those of the standard library",
            nullable=True,
        ),
        *NESTED,
    ),
    key=("digest", "extractor_version"),
    key_scope="source",
    checks=(Check("status_is_known", "status IN ('parsed', 'recovered', 'skipped')"),),
    layout=Layout(stats=("digest", "extractor_version", "status")),
    append_only=True,
    properties=PACKED,
)
