"""Linking and rendering in this process, for what is small: the way to Spark's workers and back would take longer than
the work itself. The functions that work are those that the workers call; what they read comes from deltalake's engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from codelake.contracts import EVIDENCE
from codelake.contracts.arrow import arrow_schema
from codelake.contracts.evidence import LINK_INPUT
from codelake.contracts.graph import EXTERNAL_SYMBOLS, LINKED, LINKS, RENDERED
from codelake.contracts.sources import FILES
from codelake.contracts.table import Table
from codelake.delta.embedded import among, ask, text
from codelake.delta.run import Run
from codelake.graph.files import LISTED, OF_LINKS
from codelake.graph.link.kernel import link
from codelake.graph.link.results import NOTHING, SCHEMA
from codelake.graph.link.stubs import Stubs
from codelake.graph.render.files import NESTED
from codelake.graph.render.outside import OF_SYMBOLS
from codelake.graph.render.packing import unpacked
from codelake.graph.render.render import render_around, render_files, render_outside
from codelake.pipeline.claims import claims_of_files
from codelake.pipeline.lookup import PRESENT, at
from codelake.pipeline.open_units import Stamps
from codelake.pipeline.work import Place, Places

LINKED_HERE = 8 << 20
"""Source bytes of a repository, with those that it needs, up to which it is linked here: half a gigabyte of memory."""
RENDERED_HERE = 1 << 20
"""Source bytes of files that are rendered here."""

_EVIDENCE = f"(SELECT * FROM evidence WHERE {PRESENT})"


def linked(run: Run, unit: str, repos: Collection[str], stubs: Stubs, made_by: str) -> pa.Table:
    """The links of a repository's files; it sees those of `repos`, itself among them."""
    rows = rows_to_link(run, unit, repos)
    return stamped(pa.concat_tables([link(linkable(rows), stubs), _unread(rows)]), stamps(rows), made_by)


def rows_to_link(run: Run, unit: str, repos: Collection[str], places: Collection[Place] | None = None) -> pa.Table:
    """What linking reads of the files of `repos`, or only of those in some places; without evidence where a file was
    not read."""
    columns = ", ".join(f"e.{name} AS {name}" for name in LINK_INPUT)
    claims = claims_of_files(run)
    return ask(
        run,
        (FILES, EVIDENCE, *claims.tables),
        f"""SELECT f.repo AS repo, f.path AS path, f.module AS module, f.digest AS digest,
            f.repo = {text(unit)} AS is_own, e.link_digest AS link_digest, {claims.digest} AS claims_digest,
            {", ".join((columns, *claims.columns))}
        FROM (SELECT * FROM files WHERE {among("repo", repos) if places is None else at(places)}) AS f
        LEFT JOIN {_EVIDENCE} e ON e.digest = f.digest {claims.join}""",
    )


def linkable(rows: pa.Table) -> pa.Table:
    """Of such rows what the kernel takes: those of files that were read."""
    read = rows.filter(pc.is_valid(rows.column("digest")))
    about = {name: read.column(name).cast(pa.string()) for name in ("repo", "path", "module", "digest")}
    whole = pa.table({**about, "is_own": read.column("is_own")})
    for name in read.column_names[len(_OF_FILES) + 1 :]:
        whole = whole.append_column(name, read.column(name))
    return whole


_OF_FILES = ("repo", "path", "module", "digest", "link_digest", "claims_digest")


def stamps_of(run: Run, repos: Collection[str]) -> Stamps:
    """Of all files of `repos`, of which nothing is claimed."""
    rows = ask(
        run,
        (FILES, EVIDENCE),
        f"""SELECT f.repo AS repo, f.path AS path, f.module AS module, f.digest AS digest,
            e.link_digest AS link_digest, CAST(NULL AS STRING) AS claims_digest
        FROM files f LEFT JOIN {_EVIDENCE} e ON e.digest = f.digest WHERE {among("f.repo", repos)}""",
    )
    return stamps(rows)


def stamps(rows: pa.Table) -> Stamps:
    return {(row["repo"], row["path"]): row for row in rows.select(_OF_FILES).to_pylist()}


def stamped(found: pa.Table, by_place: Stamps, made_by: str) -> pa.Table:
    """Rows of `links`."""
    places = zip(*(found.column(name).to_pylist() for name in ("repo", "path")), strict=True)
    of_files = [by_place[place] for place in places]
    for name in _OF_FILES[2:]:
        column = pa.array([row[name] for row in of_files], pa.string())
        at_column = found.schema.get_field_index(name)
        found = found.append_column(name, column) if at_column < 0 else found.set_column(at_column, name, column)
    found = found.append_column("made_by", pa.array([made_by] * found.num_rows, pa.string()))
    return found.select(LINKS.column_names).cast(arrow_schema(LINKS))


def _unread(rows: pa.Table) -> pa.Table:
    """Files without a content: nothing is linked in them."""
    own = rows.filter(pc.and_(pc.is_null(rows.column("digest")), rows.column("is_own")))
    nothing: dict[str, Any] = {
        "digest": None,
        **dict.fromkeys(LINKED, b""),
        "classes": [],
        "externals": [],
        "disagreements": [],
        "found_digest": NOTHING,
    }
    places = own.select(["repo", "path"]).to_pylist()
    return pa.Table.from_pylist([{**place, **nothing} for place in places], SCHEMA)


def rendered(run: Run, places: Places) -> dict[str, pa.Table]:
    """The rows of all tables of what is in these places."""
    files = render_files(whole_files(run, places.files).to_batches()) if places.files else ()
    packed = [*files, *rendered_beside(run, places)]
    return {table.name: _within(_unpacked(table, packed), places) for table in RENDERED}


def rendered_beside(run: Run, places: Places) -> Iterator[pa.RecordBatch]:
    """Packed rows of what is in no file that was read: of whole repositories, and of the outside."""
    if places.around:
        repos = sorted({place[:1] for place in places.around})
        yield from render_around(listed(run, repos).to_batches())
    if places.outside:
        rows = ask(run, (EXTERNAL_SYMBOLS,), f"SELECT {', '.join(OF_SYMBOLS)} FROM external_symbols")
        symbols = rows.cast(_schema(EXTERNAL_SYMBOLS, OF_SYMBOLS)).to_struct_array().combine_chunks()
        whole = pa.ListArray.from_arrays([0, len(symbols)], symbols)
        yield from render_outside([pa.record_batch([whole], names=["symbols"])])


def listed(run: Run, places: Collection[Place]) -> pa.Table:
    """The files in these places, as they are rendered."""
    rows = ask(run, (FILES,), f"SELECT {', '.join(LISTED)} FROM files WHERE {at(places)}")
    return rows.cast(_listed()).combine_chunks()


def whole_files(run: Run, places: Collection[Place]) -> pa.Table:
    """One row per file that was read, with all that is known of it."""
    of_evidence = [name for name in NESTED if name not in OF_LINKS]
    of_files = [one.rpartition(" AS ")[2] for one in LISTED]
    rows = ask(
        run,
        (FILES, EVIDENCE, LINKS),
        f"""SELECT {", ".join(f"f.{name} AS {name}" for name in of_files)},
            {", ".join(f"e.{name} AS {name}" for name in of_evidence)},
            {", ".join(f"l.{column.name} AS {name}" for name, column in OF_LINKS.items())}
        FROM (SELECT {", ".join(LISTED)} FROM files WHERE {at(places)}) AS f
        JOIN {_EVIDENCE} e ON e.digest = f.digest JOIN links l ON l.repo = f.repo AND l.path = f.path""",
    )
    nested = [
        *(pa.field(name, arrow_schema(EVIDENCE).field(name).type) for name in of_evidence),
        *(pa.field(name, arrow_schema(LINKS).field(column.name).type) for name, column in OF_LINKS.items()),
    ]
    return rows.cast(pa.schema([*_listed(), *nested])).combine_chunks()


def _listed() -> pa.Schema:
    return _schema(FILES, [one.rpartition(" AS ")[2] for one in LISTED])


def _unpacked(table: Table, packed: Iterable[pa.RecordBatch]) -> pa.Table:
    batches = unpacked(batch.select([table.name]) for batch in packed)
    return pa.Table.from_batches(batches, arrow_schema(table)).combine_chunks()


def _within(rows: pa.Table, places: Places) -> pa.Table:
    """What is around is rendered for whole repositories."""
    wanted = set(places.all)
    pairs = zip(rows.column("repo").to_pylist(), rows.column("path").to_pylist(), strict=True)
    return rows.filter(pa.array([pair in wanted or pair[:1] in wanted for pair in pairs], pa.bool_()))


def _schema(table: Table, columns: Iterable[str]) -> pa.Schema:
    """Of some columns, in this order; what a join may leave out is nullable."""
    schema = arrow_schema(table)
    return pa.schema([pa.field(name, schema.field(name).type) for name in columns])
