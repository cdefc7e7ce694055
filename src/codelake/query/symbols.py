"""What a person types for a symbol, and the nodes that it means: a qualified name, a unique ending of one, or an id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from shlex import quote

from codelake.delta.reading import text
from codelake.errors import NotFound, UsageError
from codelake.query.answer import label, place
from codelake.query.engine import Asking
from codelake.query.lookups import NODE, nodes, quoted
from codelake.query.rows import Row

KINDS = ("module", "class", "function", "lambda", "variable", "type_parameter", "parameter", "external_symbol")
"""What can be asked for by name."""

# Only these and types have qualified names: to look at the kind of every node as well would take as long again.
EXACT = f"SELECT {NODE} FROM cpg_nodes WHERE qualified_name IN ({{names}})"
NAMES = "SELECT DISTINCT qualified_name FROM cpg_nodes WHERE qualified_name LIKE {pattern}"
LIKE = f"SELECT {NODE} FROM cpg_nodes WHERE qualified_name LIKE {{pattern}}"
NAMED = f"SELECT {NODE} FROM cpg_nodes WHERE name LIKE {{pattern}} AND kind IN ({{kinds}})"
NEAREST = (
    f"SELECT {NODE}, levenshtein(lower(name), {{last}}) - CASE WHEN lower(name) IN ({{swapped}}) THEN 1 ELSE 0 END "
    "AS distance, levenshtein(qualified_name, {name}) AS further "
    "FROM cpg_nodes WHERE kind IN ({kinds}) AND (levenshtein(lower(name), {last}) <= {most} "
    "OR lower(name) IN ({swapped})) ORDER BY distance, further, qualified_name, node_id LIMIT {limit}"
)
SOME = "SELECT {column} FROM cpg_nodes WHERE {column} LIKE {pattern} AND kind IN ({kinds}) LIMIT {limit}"
_FEW = 500
"""Names that are looked up one by one: statistics leave few files of all, of which only the names were read."""
_DEFINITIONS = ("module", "class", "function")
_ID = re.compile(r"[:#]")
_WILD = re.compile(r"[*?]")


def symbol(engine: Asking, asked: str, *, kinds: Sequence[str] = KINDS) -> list[Row]:
    """All nodes of one qualified name: a function that is defined twice, a module that two repositories have."""
    found = named(engine, asked, kinds=kinds)
    names = sorted({label(node) for node in found})
    if len(names) > 1:
        some = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise UsageError(
            f"symbol {asked}", expected="a name that is unique", found=some, do="Name one of them in full."
        )
    if not found:
        raise unknown(engine, asked, kinds=kinds)
    return found


def named(engine: Asking, asked: str, *, kinds: Sequence[str] = KINDS) -> list[Row]:
    """Nodes with that id; with that qualified name; or else those whose names end so."""
    if not asked.strip():
        raise UsageError("symbol", expected="a name or an id", found="an empty text", do="See `codelake find --help`.")
    if _ID.search(asked):
        return list(nodes(engine, [asked]).values())
    exact = engine.ask(EXACT.format(names=text(asked)), "cpg_nodes")
    return _sorted(exact, kinds) or matching(engine, f"*.{asked}", kinds=kinds)


def matching(engine: Asking, pattern: str, *, kinds: Sequence[str] = KINDS) -> list[Row]:
    """Nodes whose qualified name, or name if the pattern has no dot, fits a pattern with * and ?."""
    like = text(_like(pattern))
    # LIKE takes every _ for any character: names are full of them.
    exact = pattern.replace("[", "[[]")
    if "." not in pattern:
        found = engine.ask(NAMED.format(pattern=like, kinds=quoted(kinds)), "cpg_nodes")
        return _sorted([row for row in found if fnmatchcase(row["name"], exact)], kinds)
    names = [row["qualified_name"] for row in engine.ask(NAMES.format(pattern=like), "cpg_nodes")]
    names = [name for name in names if fnmatchcase(name, exact)]
    if len(names) > _FEW:
        found = engine.ask(LIKE.format(pattern=like), "cpg_nodes")
    else:
        found = engine.ask(EXACT.format(names=quoted(names)), "cpg_nodes") if names else []
    return _sorted([row for row in found if fnmatchcase(row["qualified_name"], exact)], kinds)


def is_pattern(asked: str) -> bool:
    return bool(_WILD.search(asked))


def nearest(engine: Asking, asked: str, *, kinds: Sequence[str] = KINDS, limit: int = 5) -> list[Row]:
    """Nodes whose names differ least; of those that are equally near, whose qualified names do. Two letters swapped are
    one difference."""
    last = asked.rpartition(".")[2].lower()
    most = max(1, len(last) // 3)
    filled = {"last": text(last), "swapped": quoted(_swapped(last)), "name": text(asked), "kinds": quoted(kinds)}
    return engine.ask(NEAREST.format(**filled, most=most, limit=limit), "cpg_nodes")


def _swapped(name: str) -> set[str]:
    """What it is with two neighbours swapped."""
    return {name[:n] + name[n + 1] + name[n] + name[n + 2 :] for n in range(len(name) - 1)} - {name} or {""}


def unknown(engine: Asking, asked: str, *, kinds: Sequence[str] = KINDS) -> NotFound:
    closest = nearest(engine, asked, kinds=_DEFINITIONS) or nearest(engine, asked, kinds=kinds)
    near = list(dict.fromkeys(label(node) for node in closest))
    return NotFound(
        f"symbol {asked}",
        expected="a qualified name, a unique ending of one, or an id",
        found="no such symbol in this run",
        do=f"Did you mean {' or '.join(near)}?" if near else _advice(engine, asked, kinds),
    )


def _advice(engine: Asking, asked: str, kinds: Sequence[str]) -> str:
    """A pattern that something fits: names with it in them, what its module or class has, names that begin like it."""
    last, parts = asked.rpartition(".")[2], asked.split(".")
    owners = (".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
    for pattern in (f"*{asked}*", *(f"{owner}.*" for owner in owners), f"{last[:3]}*", f"{last[:1]}*"):
        if _fits_some(engine, pattern, kinds):
            return f"Type `codelake find {quote(pattern)}` for names like it."
    return "Type `codelake find '*'` for the names that there are."


def _fits_some(engine: Asking, pattern: str, kinds: Sequence[str]) -> bool:
    column = "qualified_name" if "." in pattern else "name"
    filled = {"column": column, "pattern": text(_like(pattern)), "kinds": quoted(kinds), "limit": _FEW}
    exact = pattern.replace("[", "[[]")
    return any(fnmatchcase(row[column], exact) for row in engine.ask(SOME.format(**filled), "cpg_nodes"))


def defined(node: Row) -> Row:
    """A node as answers show it."""
    return {
        "node_id": node["node_id"],
        "kind": node["kind"],
        "name": label(node),
        "repo": node["repo"],
        "path": node["path"],
        "line": node["start_line"],
        "place": place(node["path"], node["start_line"]),
        "start_byte": node["start_byte"],
        "end_byte": node["end_byte"],
    }


def looked_up(node_id: str, known: Mapping[str, Row]) -> Row:
    """The same for a node that an edge names: one that is not there is shown by its id."""
    return defined(known.get(node_id) or {**dict.fromkeys(NODE.split(", ")), "node_id": node_id})


def _like(pattern: str) -> str:
    return pattern.replace("*", "%").replace("?", "_")


def _sorted(rows: list[Row], kinds: Sequence[str]) -> list[Row]:
    """What repositories define comes first, then what is outside of them."""
    wanted = (row for row in rows if row["kind"] in kinds)
    return sorted(wanted, key=lambda row: (not row["path"], label(row), row["node_id"]))
