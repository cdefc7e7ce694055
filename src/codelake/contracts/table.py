"""A table, declared once. Schema, creation, drift report, conformance, gates, merge keys, the typed
record and the page in docs/tables.md are all derived from this declaration; none of them is written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from codelake.contracts.semantic import END_BYTE, START_BYTE, Semantic
from codelake.contracts.types import parse_type
from codelake.errors import UsageError

if TYPE_CHECKING:
    import msgspec

Action = Literal["fail", "drop", "warn"]
SchemaMode = Literal["strict", "merge", "overwrite"]


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    meaning: str
    semantic: Semantic | None = None
    nullable: bool = False
    default: str | None = None
    """SQL for the value that rows of older versions have, which were written without this column."""
    was: tuple[str, ...] = ()
    """Names this column had in older versions."""

    def __post_init__(self) -> None:
        stored = str(parse_type(self.type))
        if self.semantic and stored != self.semantic.type:
            raise UsageError(f"column {self.name}, a {self.semantic.name}", expected=self.semantic.type, found=stored)


@dataclass(frozen=True)
class Check:
    """SQL that every row satisfies. A NULL result counts as broken unless `null` says it passes."""

    name: str
    expression: str
    action: Action = "fail"
    null: Literal["broken", "passes"] = "broken"

    @property
    def sql(self) -> str:
        """The expression with NULL decided, so that it is true or false and never neither."""
        return f"coalesce(({self.expression}), {'true' if self.null == 'passes' else 'false'})"


@dataclass(frozen=True)
class Reference:
    """Values of `columns` must be found in `to_columns` of another table; a NULL refers to nothing."""

    columns: tuple[str, ...]
    table: str
    to_columns: tuple[str, ...]
    action: Action = "fail"

    @property
    def name(self) -> str:
        return f"{','.join(self.columns)} -> {self.table}({','.join(self.to_columns)})"


@dataclass(frozen=True)
class Layout:
    """How rows lie in files. Every field maps to something that Delta on Spark honours; see delta/layout.py."""

    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    zorder_by: tuple[str, ...] = ()
    sort_by: tuple[str, ...] = ()
    """Rows are sorted by these within each file, and the table says so."""
    together_by: tuple[str, ...] = ()
    """Rows that are written at once are sorted by these, so that a file, and a page of it, is a range. Not promised: a
    file that an edit wrote anew holds several such runs."""
    stats: tuple[str, ...] | None = None
    """Columns with minimum, maximum and null count per file; None leaves Delta's first 32."""
    spread: tuple[str, ...] = ()
    """Columns whose values lie in every file: their statistics would tell no file from another."""
    bloom: tuple[str, ...] = ()
    no_dictionary: tuple[str, ...] = ()
    file_bytes: int | None = None
    """Files are packed towards this size on write."""
    file_rows: int | None = None
    """No file that Spark writes holds more rows than this; deltalake goes by bytes, and comes close."""
    row_group_bytes: int | None = None
    compression: str = "zstd"
    without_vectors: bool = field(default=False, repr=False)
    """On a local disk a build leaves no file with a deletion vector: rows are looked up by deltalake, which decodes
    every row of the files that it reads once one of them has a vector. Not in fingerprints: the rows are the same."""

    @property
    def order(self) -> tuple[str, ...]:
        """What rows are sorted by when they are written."""
        return self.sort_by or self.together_by


@dataclass(frozen=True)
class Upkeep:
    """From when on `codelake maintain` looks after a table; see delta/maintenance/due.py."""

    small_bytes: int = 16 << 20
    """A file below this is small."""
    small_files: int = 25
    """So many small files are made into few."""
    vector_files: int = 25
    """So many files with deletion vectors are written without."""
    deleted_share: float = 0.1
    deleted_rows: int = 10_000
    """So many of the stored rows, and so large a part of them, are deleted by vectors: files are written without."""
    checkpoint_entries: int = 10
    """So many entries since the last checkpoint ask for another: a reader replays each of them, 0.3 ms apiece."""
    cleanup_entries: int = 100
    """So many files of the log that are past the retention are deleted."""
    vacuum_files: int = 25
    """So many files that no kept version needs are deleted."""


@dataclass(frozen=True)
class Table:
    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    key_scope: Literal["table", "write", "source"] = "table"
    """Where a key is unique: `table` also compares with the rows that are there, `write` only rows written
    together, for ids that are unique by construction (the cost of the first grows with the table). `source`
    compares nothing: rows too large to be shuffled for it, from a source that has each key once."""
    replace_by: tuple[str, ...] = ()
    """Columns whose values name what a `replace` rewrites: all rows with those values, and no others."""
    checks: tuple[Check, ...] = ()
    references: tuple[Reference, ...] = ()
    layout: Layout = field(default_factory=Layout)
    features: tuple[str, ...] = ("deletionVectors", "changeDataFeed")
    """Delta features by their canonical names, beyond those that checks and NOT NULL bring."""
    schema_mode: SchemaMode = "strict"
    retention_days: int = 30
    checkpoint_interval: int = 1000
    """Commits between checkpoints. Few, because a checkpoint is a slow commit; maintenance makes them on purpose."""
    upkeep: Upkeep = field(default_factory=Upkeep)
    append_only: bool = False
    unbounded: bool = False
    """Its change feed may be read as a stream that has no end; see delta/stream.py."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Further Delta or Parquet table properties; delta/layout.py knows which there are."""

    def __post_init__(self) -> None:
        names = self.column_names
        if len(set(names)) != len(names):
            raise UsageError(f"contract {self.name}", expected="each column once", found=", ".join(names))
        mentioned = {
            "key": self.key,
            "replace_by": self.replace_by,
            "partition_by": self.layout.partition_by,
            "cluster_by": self.layout.cluster_by,
            "zorder_by": self.layout.zorder_by,
            "sort_by": self.layout.sort_by,
            "together_by": self.layout.together_by,
            "stats": self.layout.stats or (),
            "bloom": self.layout.bloom,
            "no_dictionary": self.layout.no_dictionary,
            "references": tuple(c for r in self.references for c in r.columns),
        }
        for where, used in mentioned.items():
            for name in used:
                if name.split(".")[0] not in names:
                    raise UsageError(
                        f"contract {self.name}, {where}", expected=f"one of {', '.join(names)}", found=name
                    )
        if unknowable := [n for n in self.key + self.replace_by if self.column(n).nullable]:
            raise UsageError(
                f"contract {self.name}",
                expected="key and replace_by columns that are never NULL",
                found=unknowable[0],
            )
        if self.layout.partition_by and self.layout.cluster_by:
            raise UsageError(
                f"contract {self.name}",
                expected="partition_by or cluster_by",
                found="both",
                do="Delta clusters only tables without partitions.",
            )
        if self.unbounded and "changeDataFeed" not in self.features:
            raise UsageError(f"contract {self.name}, unbounded", expected="the feature changeDataFeed", found="none")
        if self.layout.sort_by and self.layout.together_by:
            raise UsageError(f"contract {self.name}", expected="sort_by or together_by", found="both")
        if self.append_only and self.layout.order:
            raise UsageError(
                f"contract {self.name}",
                expected="append_only or sort_by",
                found="both",
                do="The files of an append-only table are compacted by Delta's OPTIMIZE, which keeps no order.",
            )
        if self.layout.row_group_bytes and self.layout.row_group_bytes < 1 << 10:
            raise UsageError(
                f"contract {self.name}, row_group_bytes",
                expected="1024 or more",
                found=self.layout.row_group_bytes,
            )

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def column(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise UsageError(f"contract {self.name}", expected=f"one of {', '.join(self.column_names)}", found=name)

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The declared checks, and those that follow from the columns' semantic types."""
        semantic = tuple(
            Check(
                name=f"{c.name}_is_{c.semantic.name.replace(' ', '_')}",
                expression=c.semantic.check.format(column=f"`{c.name}`"),
                null="passes" if c.nullable else "broken",
            )
            for c in self.columns
            if c.semantic and c.semantic.check
        )
        starts = [c for c in self.columns if c.semantic is START_BYTE]
        ends = [c for c in self.columns if c.semantic is END_BYTE]
        spans = tuple(
            Check(
                name=f"{start.name}_before_{end.name}",
                expression=f"`{start.name}` <= `{end.name}`",
                null="passes" if start.nullable or end.nullable else "broken",
            )
            for start, end in zip(starts, ends, strict=True)
        )
        return self.checks + semantic + spans

    @property
    def record(self) -> type[msgspec.Struct]:
        """A typed record with one field a column, for rows that Python makes or reads."""
        import msgspec  # questions need contracts, and none of their records

        fields: list[tuple[str, object, object]] = []
        for c in sorted(self.columns, key=lambda c: c.nullable):
            python = parse_type(c.type).python
            if c.nullable:
                fields.append((c.name, python | None, None))
            else:
                fields.append((c.name, python, msgspec.NODEFAULT))
        return msgspec.defstruct(
            "".join(part.capitalize() for part in self.name.split("_")) + "Row",
            fields,
            frozen=True,
            kw_only=True,
            module=__name__,
        )
