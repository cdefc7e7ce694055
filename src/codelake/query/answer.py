"""What a question returns: rows that are the same for people, programs and other engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codelake.query.rows import Row

if TYPE_CHECKING:
    import duckdb
    import ibis
    import pandas
    import polars
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession


SHOWN = 100
"""Rows of a table or of SQL that a notebook shows: all of a large one would stop it."""
LISTED = 20
"""Rows that a Python session shows."""
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""With these in it, a text is shown in another order than it is read in."""
CONTROL = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029, *_DIRECTIONS)}
"""What is in a cell is data: it begins no line, and tells the terminal nothing."""
_IN_LINES = {code: said for code, said in CONTROL.items() if chr(code) not in "\n\t"}


class Converted(ABC):
    """The forms in which other tools take rows. Each loads its own package, and only then."""

    @abstractmethod
    def to_arrow(self) -> pyarrow.Table: ...

    def to_pandas(self) -> pandas.DataFrame:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        import polars

        return polars.DataFrame(self.to_arrow())

    def to_duckdb(self) -> duckdb.DuckDBPyRelation:
        import duckdb

        return duckdb.from_arrow(self.to_arrow())

    def to_ibis(self) -> ibis.Table:
        import ibis

        return ibis.memtable(self.to_arrow())

    def to_spark(self, spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(self.to_arrow().combine_chunks())


@dataclass(frozen=True, repr=False)
class Answer(Converted):
    title: str
    """What it is about, in a line."""
    columns: tuple[str, ...]
    """What people see of a row; `rows` has more."""
    rows: Sequence[Row]
    is_tree: bool = False
    """Rows are in the order of a tree, each below the nearest one before it whose `depth` is less."""
    note: str = ""
    """What the rows do not say: that there are more, that a limit was reached."""
    body: str = ""
    """Text that is shown before the rows: the source of a definition."""
    parts: tuple[Row, ...] = ()
    """What `body` is drawn from, for programs."""
    sql: tuple[str, ...] = field(default=(), compare=False)
    """The texts that were run, in their order."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        """False is the answer "no"."""
        return bool(self.rows or self.body)

    def as_document(self) -> list[Row] | Row:
        """For `--json`: the rows; where there is more than rows, an object with both."""
        return {"definitions": list(self.parts), "edges": list(self.rows)} if self.parts else list(self.rows)

    def to_arrow(self) -> pyarrow.Table:
        import pyarrow as pa

        return pa.Table.from_pylist([dict(row) for row in self.rows])

    def indented(self) -> list[Row]:
        """The rows as people see them: those of a tree below each other."""
        if not self.is_tree:
            return list(self.rows)
        first = self.columns[0]
        return [{**row, first: "  " * (row["depth"] - 1) + str(row[first])} for row in self.rows]

    def __repr__(self) -> str:
        """For Python sessions."""
        rows = listed(self.columns, self.indented()[:LISTED], len(self))
        return "\n".join(filter(None, (self.title, self.body, rows, self.note)))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return drawn(self.title, self.columns, self.rows, body=self.body, note=self.note, is_tree=self.is_tree)


def drawn(
    title: str, columns: Sequence[str], rows: Iterable[Row], *, body: str = "", note: str = "", is_tree: bool = False
) -> str:
    """Rows as HTML. What is in them is text and nothing else."""
    from html import escape

    def cells(row: Row) -> Iterator[str]:
        for place, column in enumerate(columns):
            indent = "&emsp;" * (row["depth"] - 1) if is_tree and place == 0 else ""
            yield f"<td>{indent}{escape(shown(row.get(column)))}</td>"

    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(cells(row))}</tr>" for row in rows)
    source = f"<pre>{escape(body)}</pre>" if body else ""
    after = f"<p>{escape(note)}</p>" if note else ""
    return f"{source}<table><caption>{escape(title)}</caption><tr>{head}</tr>{lines}</table>{after}"


def listed(columns: Sequence[str], first: Sequence[Row], n: int) -> str:
    """The first of n rows as text."""
    more = [f"... {n - len(first):,} more rows"] if n > len(first) else []
    return "\n".join((*aligned(columns, first), *more)) if first else "no rows"


def aligned(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for the columns' names and one for each row."""
    lines = [list(columns), *([cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        yield "  ".join(each.ljust(width) for each, width in zip(line, widths, strict=True)).rstrip()


def cell(value: Any) -> str:
    """A value in one line."""
    text = shown(value)
    return text if text.isprintable() else text.translate(CONTROL)


def in_lines(text: str) -> str:
    """A text of several lines, source among them, that tells the terminal nothing either."""
    return text.translate(_IN_LINES)


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(shown, value)) if isinstance(value, list | tuple) else str(value)


def first(rows: list[Row], limit: int) -> tuple[list[Row], str]:
    """So many rows, and a note if there are more."""
    return rows[:limit], f"{len(rows) - limit:,} more; see --limit" if len(rows) > limit else ""


def place(path: str | None, line: int | None) -> str:
    """As terminals and editors open it."""
    if not path:
        return ""
    return f"{path}:{line}" if line is not None else path


def label(node: Row) -> str:
    """What a node is called: by its names where it has some."""
    return str(node["qualified_name"] or node["node_id"])
