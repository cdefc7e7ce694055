"""Nodes of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts.arrow import arrow_schema
from codelake.contracts.graph import CPG_NODES
from codelake.contracts.kinds import SYNTAX_KINDS
from codelake.graph.render.arrays import Places, at, is_any, join, pick, same
from codelake.graph.render.files import Owners
from codelake.graph.render.labels import argument_labels, full_ids, is_exit, place_labels, type_ids
from codelake.graph.render.names import Named
from codelake.ids import MODULE

SCHEMA = arrow_schema(CPG_NODES)


class Nodes(NamedTuple):
    """Nodes of one sort. What is None is NULL in all of them."""

    file: Places
    """The file of each."""
    kind: Any
    """A word, or one for each."""
    label: Any
    parent: Any
    """Labels, or ids of what is not in the file."""
    start: Any = None
    end: Any = None
    first: Any = None
    last: Any = None
    name: Any = None
    subkind: Any = None
    qualified: Any = None


def nodes(files: Named) -> Iterator[pa.RecordBatch]:
    for find in (_files, _syntax, _scopes, _bindings, _variables, _attributes, _blocks, _arguments, _types):
        yield rendered(files, find(files))
    for find in (_classes, _comments, _problems):
        yield rendered(files, find(files))


def rendered(owners: Owners, found: Nodes) -> pa.RecordBatch:
    """As rows of the table."""
    file_id = pick(owners.file_id, found.file)
    columns = {
        "node_id": full_ids(file_id, found.label),
        "kind": found.kind,
        "repo": pick(owners.repo, found.file),
        "path": pick(owners.path, found.file),
        "start_byte": found.start,
        "end_byte": found.end,
        "start_line": found.first,
        "end_line": found.last,
        "name": found.name,
        "qualified_name": found.qualified,
        "parent_id": full_ids(file_id, found.parent) if found.parent is not None else None,
        "subkind": found.subkind,
        "props": None,
    }
    return batch(SCHEMA, len(found.file), columns)


def batch(schema: pa.Schema, n: int, columns: dict[str, Any]) -> pa.RecordBatch:
    """Columns in the order of the schema; a plain value stands for n of it."""
    arrays = [
        columns[f.name] if isinstance(columns[f.name], pa.Array) else same(columns[f.name], n, f.type) for f in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _qualified(files: Named, file: Places, names: Any) -> Any:
    """The module's name, a dot, and `names`, which are as labels spell them. Labels of places begin with a digit,
    which comes before `:`, and give none."""
    named = pc.if_else(pc.less(names, ":"), pa.scalar(None, pa.string()), names)
    plain = pc.replace_substring_regex(named, "~[0-9]+", "") if _has(named, "~") else named
    for mark, instead in (("(", "."), ("[", "."), (")", ""), ("]", "")):
        plain = pc.replace_substring(plain, mark, instead)
    module = pick(files.module, file)
    return pc.if_else(pc.equal(named, "<module>"), module, join(module, ".", plain))


def _has(texts: Any, mark: str) -> bool:
    return bool(pc.any(pc.match_substring(texts, mark)).as_py())


def _files(files: Named) -> Nodes:
    names = pa.array([path.rpartition("/")[2] for path in files.path.to_pylist()], pa.string())
    n_bytes = files.rows.column("n_bytes").cast(pa.int32())
    return Nodes(files.all, "file", files.file_id, files.owner_id, start=0, end=n_bytes, name=names)


def _syntax(files: Named) -> Nodes:
    x = files.nodes
    is_decorator = is_any(x.field, ["decorator_list"])
    # Decorators lie before what they decorate: they belong to what it lies in.
    owner = np.where(is_decorator, at(x.parent, x.parent), x.parent)
    is_docstring = np.zeros(len(x), dtype=np.bool_)
    documents = files.definitions.docstring
    is_docstring[documents[documents >= 0]] = True
    is_docstring &= is_any(x.name, ["str"])
    known, ours = pa.array(list(SYNTAX_KINDS)), pa.array(list(SYNTAX_KINDS.values()))
    plain = pc.coalesce(ours.take(pc.index_in(x.kind, value_set=known)), x.kind)
    kind = pc.if_else(pa.array(is_decorator), "decorator", pc.if_else(pa.array(is_docstring), "docstring", plain))
    is_module = x.number == 0
    last_names = pa.array([module.rpartition(".")[2] for module in files.module.to_pylist()], pa.string())
    return Nodes(
        x.file,
        kind,
        files.labels,
        pc.if_else(pa.array(x.parent < 0), pick(files.file_id, x.file), files.label(owner)),
        *(x.start_byte, x.end_byte, x.start_line, x.end_line),
        name=pc.if_else(pa.array(is_module), pick(last_names, x.file), x.name),
        subkind=x.kind,
        qualified=_qualified(files, x.file, x.label),
    )


def _scopes(files: Named) -> Nodes:
    x = files.scopes
    return Nodes(x.file, "scope", files.scope_labels, files.label(x.node), name=x.name, subkind=x.kind)


def _opener(files: Named, scope: Places) -> Any:
    return files.label(at(files.scopes.node, scope))


def _bindings(files: Named) -> Nodes:
    x = files.symbols
    parent = _opener(files, x.scope)
    return Nodes(x.file, "binding", files.binding_labels, parent, name=x.name, subkind=x.binding)


def _variables(files: Named) -> Nodes:
    x, things = files.symbols, files.things
    found = np.flatnonzero((x.target == np.arange(len(x))) & things.is_variable)
    file, scope, store, name = x.file[found], x.scope[found], things.store[found], pick(x.name, found)
    in_module = pa.array(scope == files.scopes.begin[file])
    nested = join(pick(files.scopes.label, scope), ".", name)
    return Nodes(
        file,
        "variable",
        pick(things.label, found),
        _opener(files, scope),
        *_place(files, store),
        name=name,
        subkind=pick(files.scopes.kind, scope),
        qualified=_qualified(files, file, pc.if_else(in_module, name, nested)),
    )


def _place(files: Named, nodes: Places) -> tuple[Any, Any, Any, Any]:
    x = files.nodes
    return pick(x.start_byte, nodes), pick(x.end_byte, nodes), pick(x.start_line, nodes), pick(x.end_line, nodes)


def _attributes(files: Named) -> Nodes:
    file, label, store = files.attributes
    parts = [one.split(":") for one in label.to_pylist()]
    names = pa.array([one[1:].replace(":", ".") for one in label.to_pylist()], pa.string())
    return Nodes(
        file,
        "variable",
        label,
        pa.array([first for first, *_ in parts], pa.string()),
        *_place(files, store),
        name=pa.array([last for *_, last in parts], pa.string()),
        subkind="instance",
        qualified=_qualified(files, file, names),
    )


def _blocks(files: Named) -> Nodes:
    x = files.blocks
    kind = pc.if_else(pa.array(is_exit(x.kind)), "exit", "block")
    return Nodes(x.file, kind, files.block_labels, _opener(files, x.scope), x.start_byte, x.end_byte, subkind=x.kind)


def _arguments(files: Named) -> Nodes:
    x = files.arguments
    return Nodes(
        x.file,
        "argument",
        argument_labels(files.label(x.node)),
        files.label(at(files.calls.node, x.call)),
        *_place(files, x.node),
        name=x.keyword,
        subkind=x.kind,
    )


def _types(files: Named) -> Nodes:
    x = files.types
    parent = files.label(at(files.annotations.owner, x.annotation))
    return Nodes(
        x.file,
        "type_expression",
        files.type_labels,
        parent,
        x.start_byte,
        x.end_byte,
        name=x.name,
        subkind=x.kind,
    )


def _classes(files: Named) -> Nodes:
    x = files.definitions
    found = np.flatnonzero(is_any(x.kind, ["class"]))
    file, label = x.file[found], files.label(x.node[found])
    names = pick(files.nodes.label, x.node[found])
    return Nodes(
        file, "type", type_ids(label), label, name=pick(x.name, found), qualified=_qualified(files, file, names)
    )


def _comments(files: Named) -> Nodes:
    x = files.comments
    label = place_labels(x.start_byte, x.end_byte, "comment")
    return Nodes(x.file, "comment", label, same(MODULE, len(x), pa.string()), x.start_byte, x.end_byte, x.line, x.line)


def _problems(files: Named) -> Nodes:
    x = files.problems
    owner = pick(files.file_id, x.file)
    return Nodes(x.file, "diagnostic", files.problem_labels, owner, x.start_byte, x.end_byte, name=x.kind)
