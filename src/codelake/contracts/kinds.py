"""The kinds of nodes and edges, and the words in which edges say how sure they are. docs/graph-schema.md tells
more of each, with examples that the tests execute.
"""

from __future__ import annotations

from typing import NamedTuple


class NodeKind(NamedTuple):
    name: str
    meaning: str


class EdgeKind(NamedTuple):
    name: str
    meaning: str
    """Reads as: src KIND dst."""
    src: tuple[str, ...]
    dst: tuple[str, ...]
    """Kinds of nodes; none are named where any may be."""
    adjacent: str = ""
    """Whether people ask for it node by node: it is in cpg_edges_by_src (`s`), cpg_edges_by_dst (`d`) or both."""


NODE_KINDS = tuple(
    NodeKind(*one)
    for one in (
        ("repository", "a repository of the lake; the one with the id `::` owns what is outside of the lake"),
        ("package", "a folder that is a package, or holds some"),
        ("file", "a file"),
        ("module", "a file's code"),
        ("class", "a class"),
        ("function", "a function or method"),
        ("lambda", "a lambda"),
        ("parameter", "a parameter of a function or lambda"),
        ("type_parameter", "a type parameter of a class, function or alias"),
        ("decorator", "an expression that decorates a definition"),
        ("variable", "a name that a module, class, function or comprehension binds, other than as a parameter"),
        ("import", "an import statement"),
        ("import_alias", "one name of an import statement"),
        ("reference", "a name that is loaded, stored or deleted"),
        ("attribute", "an attribute that is loaded, stored or deleted"),
        ("subscript", "an item that is loaded, stored or deleted"),
        ("call", "a call"),
        ("argument", "what a call passes"),
        ("literal", "a constant or an f-string"),
        ("comprehension", "a comprehension or generator expression"),
        ("docstring", "the text that documents a module, class or function"),
        ("comment", "a comment"),
        ("scope", "what holds names: of a module, class, function, lambda, comprehension or of type parameters"),
        ("binding", "a name as a scope knows it"),
        ("block", "code that runs from its first step to its last"),
        ("exit", "where a scope's code is left: by its end or a return, or by an exception"),
        ("type_expression", "a part of an annotation"),
        ("type", "what instances of a class are"),
        ("external_symbol", "a thing that no repository of the lake defines, by its dotted name"),
        ("diagnostic", "a problem in a file"),
    )
)
"""Every other syntax node has its grammar's kind: If, BinOp, Return."""

SYNTAX_KINDS = {
    "Module": "module",
    "ClassDef": "class",
    "FunctionDef": "function",
    "AsyncFunctionDef": "function",
    "Lambda": "lambda",
    "arg": "parameter",
    "TypeVar": "type_parameter",
    "TypeVarTuple": "type_parameter",
    "ParamSpec": "type_parameter",
    "Import": "import",
    "ImportFrom": "import",
    "alias": "import_alias",
    "Name": "reference",
    "Attribute": "attribute",
    "Subscript": "subscript",
    "Call": "call",
    "Constant": "literal",
    "JoinedStr": "literal",
    "ListComp": "comprehension",
    "SetComp": "comprehension",
    "DictComp": "comprehension",
    "GeneratorExp": "comprehension",
}
"""From a grammar's kind to the node kind that it is."""

_DEFINITIONS = ("module", "class", "function", "lambda")
_CALLED = ("class", "function", "lambda", "external_symbol")
_HELD = ("variable", "parameter", "type_parameter")
_THINGS = (*_DEFINITIONS, *_HELD, "external_symbol")
_NAMES = ("binding", "reference", "attribute", "type_expression", "decorator")

EDGE_KINDS = tuple(
    EdgeKind(*one)
    for one in (
        ("CONTAINS", "holds", ("repository", "package", "file"), ("package", "file", "module"), "sd"),
        ("PARENT_OF", "is the parent of, in the tree of all nodes", (), ()),
        ("DEFINES", "defines in its body", _DEFINITIONS, ("class", "function", "lambda"), "sd"),
        ("DECLARES_PARAMETER", "has the parameter", ("function", "lambda"), ("parameter",), "sd"),
        ("DECORATED_BY", "is passed through the decorator", ("class", "function"), ("decorator",), "sd"),
        ("DOCUMENTED_BY", "has the docstring", ("module", "class", "function"), ("docstring",), "sd"),
        ("SCOPE_PARENT", "lies in the scope", ("scope",), ("scope",)),
        ("BINDS", "binds the name", ("scope",), ("binding",)),
        ("RESOLVES_TO", "means", _NAMES, _THINGS, "d"),
        ("READS", "loads the value of", (), _HELD, "d"),
        ("WRITES", "stores a value in", (), _HELD, "d"),
        ("DELETES", "deletes", ("reference", "attribute"), _HELD, "d"),
        ("IMPORTS", "imports", ("import_alias", "module"), _THINGS, "sd"),
        ("RE_EXPORTS", "offers under its own name, though another module defines it", ("module",), _THINGS, "sd"),
        ("INHERITS", "has the base class", ("class",), ("class", "external_symbol"), "sd"),
        ("OVERRIDES", "takes the place of", ("function",), ("function",), "sd"),
        ("HAS_METHOD", "has the method", ("class",), ("function",), "sd"),
        ("HAS_ATTRIBUTE", "has the attribute, on itself or its instances", ("class",), ("variable",), "sd"),
        ("CALLS", "calls", ("call", "decorator"), _CALLED, "sd"),
        ("CALLER_OF", "calls, somewhere in its own code", _DEFINITIONS, _CALLED, "sd"),
        ("PASSES_TO", "is passed to", ("argument",), ("parameter",), "d"),
        ("ANNOTATED_WITH", "is annotated with", ("parameter", "function", "variable"), ("type_expression",), "sd"),
        ("HAS_TYPE", "is an instance of", ("parameter", "variable", "reference"), ("type",), "sd"),
        ("RETURNS_TYPE", "returns an instance of", ("function", "lambda"), ("type",), "sd"),
        ("FLOWS_NEXT", "is followed by", ("block",), ("block", "exit")),
        ("FLOWS_TRUE", "is followed, if its condition holds, by", ("block",), ("block", "exit")),
        ("FLOWS_FALSE", "is followed, if its condition does not hold, by", ("block",), ("block", "exit")),
        ("FLOWS_EXCEPTION", "is followed, if it raises, by", ("block",), ("block", "exit")),
        ("REACHES", "binds what may still hold at the use", (), ("reference",)),
        ("REFERENCES_EXTERNAL", "uses", ("module",), ("external_symbol",), "sd"),
        ("HAS_DIAGNOSTIC", "has the problem", ("file",), ("diagnostic",), "sd"),
    )
)

REASONS = {
    "unknown parameter": "the callee comes from a parameter of which no caller is known",
    "unknown receiver": "the callee is an attribute of something unknown",
    "result of external code": "the callee is what external code returned, and no stub says what that is",
    "dynamic": "the callee is computed: by getattr, an index, exec or import at run time",
    "too many": "the candidates are so many that they say nothing",
    "unreachable": "the code never runs, or nothing is ever stored where the callee is read",
}
"""Why a call has no target."""

PROPERTY_TYPES = {
    **dict.fromkeys(("n_bytes", "position", "level"), "int"),
    **dict.fromkeys(("is_async", "is_generator", "has_default", "is_conditional", "is_type_checking"), "bool"),
}
"""Types of the properties of nodes, by key; all others are texts."""
