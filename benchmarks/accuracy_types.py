"""Types against ground truths that others wrote, in the format of TypeEvalPy: any file `NAME_gt.json` below PATH,
beside its sources. The kernel runs in this process, without Spark.

A fact is about a place, by line and column: what the function returns that is named there, the parameter, or what is
stored there in a variable, an attribute or an item (`n`, `self.n`, `d['a'][0]`). It is exact if its types are those,
and no others, to which HAS_TYPE and RETURNS_TYPE lead from a confidence of 0.5 on; `some`, if one of them is. What can
be called and is no class goes by `callable`, as in this format.

    python benchmarks/accuracy_types.py PATH [-v]

Printed: shares by category and by kind of fact; with -v each fact that is not exact.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from accuracy import ratio
from link import SURE, Row, known, module_of, sources, unit

from codelake.contracts.arrow_vectors import nested, with_lists
from codelake.contracts.evidence import FIELDS
from codelake.contracts.graph import LINKED
from codelake.graph.link.kernel import link

TRUTH = "_gt.json"
KINDS = ("return", "parameter", "variable", "attribute", "item")
_NAMED = ("nodes", "references", "symbols", "scopes")
_CALLABLE = ("FunctionType", "MethodType", "BuiltinMethodType", "BuiltinFunctionType", "partial")
_NAMES = {"NoneType": "Nonetype", "GeneratorType": "generator", "CodeType": "code"}


class Folder:
    """What codelake finds in a folder."""

    def __init__(self, folder: Path) -> None:
        files = sources(folder, folder)
        table = unit(files, also=_NAMED)
        self.types: dict[tuple[str, int | str], set[str]] = defaultdict(set)
        """By path, and node or label: ids of types."""
        self.places: dict[tuple[str, int, int, str], list[int | str]] = {}
        """By path, line, column and name: who may have types, the most telling first."""
        for row in with_lists(link(table, known()), LINKED).to_pylist():
            for edge in row["edges"]:
                if edge["kind"] in ("HAS_TYPE", "RETURNS_TYPE") and edge["confidence"] >= SURE:
                    of = edge["node"] if edge["src"] is None else edge["src"].partition("#")[2]
                    self.types[row["path"], of].add(edge["dst"])
        columns = {name: nested(table.column(name).combine_chunks(), FIELDS[name]).to_pylist() for name in _NAMED}
        for number, (path, raw) in enumerate(files.items()):
            self._place(path, raw, *(columns[name][number] for name in _NAMED))

    def _place(self, path: str, raw: bytes, nodes: list[Row], references: list[Row], *names: list[Row]) -> None:
        symbols, scopes = names
        starts = [0, *(at + 1 for at, one in enumerate(raw) if one == ord("\n"))]
        of_node = {one["node"]: symbols[one["symbol"]] for one in references if one["symbol"] is not None}
        for at, node in enumerate(nodes):
            if node["name"] is None:
                continue
            column = node["start_byte"] - starts[node["start_line"] - 1] + 1
            of: list[int | str] = [at] if node["label"] is None else [node["label"]]
            if at in of_node:
                label = scopes[of_node[at]["scope"]]["label"]
                of.append(f"{label if of_node[at]['scope'] else ''}:{node['name']}")
            if node["kind"] in ("FunctionDef", "AsyncFunctionDef"):
                column += len("def " if node["kind"] == "FunctionDef" else "async def ")
            self.places[path, node["start_line"], column, node["name"]] = of

    def found(self, fact: Row) -> set[str]:
        file, name = fact["file"], fact.get("parameter") or fact.get("variable")
        if name is None:
            name = fact["function"].rpartition(".")[2]
        elif kind_of(fact) == "attribute":
            owner, _, name = name.rpartition(".")
            label = f"{fact['function'].rpartition('.')[0] if owner == 'self' else owner}:{name}"
            return {_name(one, file) for one in self.types[file, label]}
        # Where the place has no such name, as in some generated truths, it is looked up by the scope.
        by_scope = [f"{fact.get('function', '')}:{name}"] if "variable" in fact else []
        every = self.places.get((file, fact["line_number"], fact["col_offset"], name), by_scope)
        found = next((types for one in every if (types := self.types.get((file, one)))), set())
        return {_name(one, file) for one in found}


def kind_of(fact: Row) -> str:
    if "parameter" in fact:
        return "parameter"
    if "variable" not in fact:
        return "return"
    if "[" in fact["variable"]:
        return "item"
    return "attribute" if "." in fact["variable"] else "variable"


def _name(of: str, file: str) -> str:
    """The id of a type as the format writes it."""
    if of.startswith("::"):
        name = of.removeprefix("::").removesuffix("@type")
        module, _, last = name.rpartition(".")
        if last in _CALLABLE:
            return "callable"
        return _NAMES.get(last, last) if module in ("builtins", "types") else name
    path, _, label = of.partition(":")[2].removesuffix("@type").partition("#")
    return label if path == file else f"{module_of(path)}.{label}"


def main() -> None:
    root = Path(sys.argv[1])
    is_verbose = "-v" in sys.argv[2:]
    truths = sorted(root.rglob(f"*{TRUTH}"))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for truth in truths:
        folder, category = Folder(truth.parent), truth.relative_to(root).parts[-3]
        for fact in json.loads(truth.read_text()):
            wanted = {one.lower() for one in fact["type"]}
            given = {one.lower() for one in folder.found(fact)}
            for name in (category, kind_of(fact), "all"):
                counts[name][0] += wanted == given
                counts[name][1] += bool(wanted & given)
                counts[name][2] += 1
            if is_verbose and wanted != given:
                place = f"{truth.parent.relative_to(root)}/{fact['file']}:{fact['line_number']}:{fact['col_offset']}"
                what = f"{fact.get('function', '')} {fact.get('parameter') or fact.get('variable') or ''}"
                print(f"{place}: {kind_of(fact)} {what}: {sorted(wanted)} not {sorted(given)}")
    for name in [*sorted(set(counts) - {*KINDS, "all"}), *KINDS, "all"]:
        exact, some, n = counts[name]
        print(f"{name:26} exact {ratio(exact, n):24} some {ratio(some, n)}")
    print(f"{len(truths)} files")


if __name__ == "__main__":
    main()
