"""What rules ask for by place and evidence has by another order: worked out once a file.

things     by symbol that means itself: what it is
               label        of the variable, parameter or type parameter; NULL for none of them
               is_variable  whether it is one
               store        the node that stores it first, if it is a variable
               definitions  the nodes of the classes and functions that define it
definers   by scope, the node of the nearest module, class, function or lambda whose code it is
entries    by scope, the first of its blocks
annotated  by annotation of a variable, the symbol of that
"""

from __future__ import annotations

from codelake.ids import block_label_sql, place_label_sql, scope_label_sql, variable_label_sql

_PLAIN = 1 << 30
"""Added to the ordinal of one of STORES: it sorts behind the others."""
STORES = "('Name', 'ExceptHandler', 'MatchAs', 'MatchStar', 'MatchMapping')"
"""Kinds of nodes that store a name and are no definition, parameter or import."""
_PARAMETERS = "('arg', 'TypeVar', 'TypeVarTuple', 'ParamSpec')"


def let(name: str, value: str, body: str) -> str:
    """`body`, in which `name` is `value`. Spark would work out a column again wherever a lambda names it."""
    return f"transform(array({value}), {name} -> {body})[0]"


def runs(keys: str, pairs: str) -> str:
    """For each element of the array `keys`, the values of the `pairs` (key, value; not NULL) that have its place as
    their key, sorted. Spark has no index into arrays: so all is sorted, with a NULL where the run of a key begins.
    """
    marks = f"transform({keys}, (x, i) -> named_struct('key', i, 'value', CAST(NULL AS INT)))"
    numbered = "transform(run_sorted, (p, i) -> named_struct('value', p.value, 'i', i))"
    starts = f"transform(filter({numbered}, p -> p.value IS NULL), p -> p.i)"
    end = "coalesce(get(run_starts, k + 1), size(run_sorted))"
    cut = f"transform(slice(run_sorted, b + 2, {end} - b - 1), p -> p.value)"
    return let(
        "run_sorted",
        f"sort_array(concat({pairs}, {marks}))",
        let("run_starts", starts, f"transform(run_starts, (b, k) -> {cut})"),
    )


_STORED = f"""
    transform(
        filter(
            references,
            r -> r.context IN ('store', 'declare') AND symbols[r.symbol].target IS NOT NULL
                AND nodes[r.node].kind <> 'alias'
        ),
        r -> named_struct(
            'key', symbols[r.symbol].target,
            'value', if(nodes[r.node].kind IN {STORES}, {_PLAIN} + r.node, r.node)
        )
    )"""
_PARAMETER = f"run[0] < {_PLAIN} AND nodes[run[0]].kind IN {_PARAMETERS}"
_THINGS = f"""
    transform({runs("symbols", _STORED)}, (run, i) -> CASE
        WHEN size(run) = 0 THEN NULL
        WHEN {_PARAMETER} THEN named_struct(
            'label', concat('#', nodes[run[0]].label),
            'is_variable', false,
            'store', CAST(NULL AS INT),
            'definitions', CAST(NULL AS ARRAY<INT>)
        )
        ELSE named_struct(
            'label', if(run[size(run) - 1] < {_PLAIN}, NULL,
                {variable_label_sql("scopes[symbols[i].scope].label", "symbols[i].name")}),
            'is_variable', run[size(run) - 1] >= {_PLAIN},
            'store', get(filter(run, x -> x >= {_PLAIN}), 0) - {_PLAIN},
            'definitions', if(run[0] >= {_PLAIN}, NULL, filter(run, x -> x < {_PLAIN}))
        )
    END)"""

_UP = "transform(scopes, (s, i) -> if(s.kind IN ('module', 'class', 'function', 'lambda'), i, s.parent))"
# Doubling: after eight rounds, 256 comprehensions within each other are left behind; Python refuses more than 100.
_DEFINERS = f"transform(aggregate(sequence(1, 8), {_UP}, (up, k) -> transform(up, x -> up[x])), x -> scopes[x].node)"

_ENTRIES = """
    transform(
        filter(transform(blocks, (b, i) -> named_struct('key', b.scope, 'value', i, 'kind', b.kind)),
            e -> e.kind = 'entry'),
        e -> named_struct('key', e.key, 'value', e.value)
    )"""

_BLOCK_LABELS = let(
    "entries",
    runs("scopes", _ENTRIES),
    f"""transform(blocks, (b, i) -> {
        block_label_sql("scopes[b.scope].label", "b.kind", "(i - entries[b.scope][0])")
    })""",
)

# Of types in quotes that hold escapes, only the place of the whole is known: all but the first are numbered.
_IS_SAME = "get(types, i - 1).start_byte = t.start_byte AND get(types, i - 1).end_byte = t.end_byte"
_TYPE_LABELS = f"""
    transform(types, (t, i) -> concat(
        {place_label_sql("t.start_byte", "t.end_byte", "'type'")},
        if(coalesce({_IS_SAME}, false), concat('~', i), '')
    ))"""

# The targets of annotated assignments are references, in the same order as the annotations of variables.
_TARGETS = """
    filter(references, r -> r.context IN ('store', 'declare') AND nodes[r.node].field = 'target'
        AND nodes[nodes[r.node].parent].kind = 'AnnAssign')"""
_OF_VARIABLES = """
    filter(transform(annotations, (a, i) -> named_struct('role', a.role, 'owner', a.owner, 'i', i)),
        a -> a.role = 'variable')"""
_MATCHED = f"""
    filter(
        transform({_OF_VARIABLES}, (a, k) -> named_struct('key', a.i, 'value',
            if(get(targets, k).node = a.owner + 1, get(targets, k).symbol, NULL))),
        p -> p.value IS NOT NULL
    )"""
_ANNOTATED = let("targets", _TARGETS, f"transform({runs('annotations', _MATCHED)}, run -> get(run, 0))")

_ATTRIBUTES = """
    array_except(
        transform(
            filter(link_edges, e -> e.kind = 'HAS_ATTRIBUTE' AND startswith(e.dst, concat(file_id, '#'))),
            e -> substring(e.dst, length(file_id) + 1)
        ),
        transform(filter(things, t -> t.is_variable), t -> t.label)
    )"""

_LABELS = """
    transform(nodes, n -> concat('#', coalesce(n.label, concat(n.start_byte, '-', n.end_byte, ':', n.kind))))"""

FIRST = {"things": _THINGS}
THEN = {  # these may name the first
    "labels": _LABELS,
    "scope_labels": f"transform(scopes, s -> {scope_label_sql('s.label')})",
    "block_labels": _BLOCK_LABELS,
    "type_labels": _TYPE_LABELS,
    "definers": _DEFINERS,
    "docstrings": "filter(definitions.docstring, d -> d IS NOT NULL)",
    "externals": "array_distinct(link_edges.dst)",
    "attributes": _ATTRIBUTES,
    "annotated": f"if(exists(annotations, a -> a.role = 'variable'), {_ANNOTATED}, NULL)",
}
