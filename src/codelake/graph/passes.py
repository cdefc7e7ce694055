"""A pass: one nested column of every file, element by element.

Spark compiles passes to a loop that reads the columns of the row in place: `explode`, what follows from the element,
and a filter, with nothing in between that would make rows of whole columns. An interpreted lambda over the same array
takes ten times as long. Several passes are compiled to one loop (`looped`): to plan and compile a loop of its own for
each costs more than a middling repository takes to run.

An expression may name the columns of a file's row (`codelake.graph.files`), `x`, the element, and `i`, its place.
Ids within the file are written as labels, with `#` in front; every other as it is (`full`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame

from codelake.ids import place_label_sql

ONCE = "array(0)"
"""A pass over this makes one row a file."""
_AT_ONCE = 850
"""Letters of SQL in a loop. More, and its code grows beyond what the JVM compiles (8,000 bytes a method)."""

_LITERAL = re.compile(r"'[^']*'|true|false|CAST\([0-9A-Z]+ AS [A-Z]+\)|[0-9]+")


class Pass(NamedTuple):
    """What is made of each element of an array. All is SQL; the columns are the same in all passes of a loop."""

    each: str
    columns: Mapping[str, str]
    where: str = "true"
    within: str | None = None
    """An array that follows from the element, and is gone through too: `y` is its element, `k` the place of that."""


def looped(rows: DataFrame, passes: Iterable[Pass], *kept: str) -> Iterator[DataFrame]:
    """What the passes make, with the columns of the file that are `kept`; a DataFrame a loop."""
    together: list[Pass] = []
    length = 0
    for one in sorted(passes, key=lambda one: one.each):
        text = sum(len(sql) for sql in (one.where, *one.columns.values()) if not _LITERAL.fullmatch(sql))
        if together and length + text > _AT_ONCE:
            yield _loop(rows, together, kept)
            together, length = [], 0
        together.append(one)
        length += text
    if together:
        yield _loop(rows, together, kept)


def _loop(rows: DataFrame, passes: Sequence[Pass], kept: Sequence[str]) -> DataFrame:
    sizes = ", ".join(f"size({one.each})" for one in passes)
    found = rows.selectExpr("*", f"posexplode(array({sizes})) AS (p, n)").where("n > 0")
    found = found.selectExpr("*", "explode(sequence(0, n - 1)) AS i").where(_choice(passes, [o.where for o in passes]))
    if any(one.within for one in passes):
        within = _choice(passes, [one.within or "array(0)" for one in passes])
        found = found.selectExpr("*", f"posexplode({within}) AS (k, y)")
    columns = {name: _choice(passes, [one.columns[name] for one in passes]) for name in passes[0].columns}
    return found.selectExpr(*kept, *(f"{sql} AS {name}" for name, sql in columns.items()))


def _choice(passes: Sequence[Pass], texts: Sequence[str]) -> str:
    """The expression of the pass that is on."""
    if len(set(texts)) == 1 and not re.search(r"\bx\b", texts[0]):
        return texts[0]
    if len(texts) > 1 and all(map(_LITERAL.fullmatch, texts)):
        return f"array({', '.join(texts)})[p]"
    elements = [re.sub(r"\bx\b", f"{one.each}[i]", text) for one, text in zip(passes, texts, strict=True)]
    if len(elements) == 1:
        return elements[0]
    cases = " ".join(f"WHEN {number} THEN {text}" for number, text in enumerate(elements[:-1]))
    return f"CASE p {cases} ELSE {elements[-1]} END"


def union(parts: Iterable[DataFrame]) -> DataFrame:
    """All of them. They are made of the same rows, so that partitions that belong together stay together."""
    return reduce(DataFrame.unionAll, parts)


def label(node: str) -> str:
    """Of the node with this ordinal."""
    return f"labels[{node}]"


def binding_label(symbol: str) -> str:
    """`symbol` is the struct."""
    return f"concat(scope_labels[{symbol}.scope], ':', {symbol}.name)"


def diagnostic_label(problem: str, place: str) -> str:
    plain = place_label_sql(f"{problem}.start_byte", f"{problem}.end_byte", "'diagnostic'")
    return f"concat({plain}, ':', {place})"


def full(text: str) -> str:
    """The id that a label or an id stands for."""
    return f"if(startswith({text}, '#'), concat(file_id, {text}), {text})"


def short(text: str) -> str:
    """The label instead of an id in the row's file."""
    return f"if(startswith({text}, concat(file_id, '#')), substring({text}, length(file_id) + 1), {text})"
