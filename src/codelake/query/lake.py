"""A lake that is open for questions: what `codelake.open` returns, and what the command line asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

from codelake.delta.reading import Reader
from codelake.delta.store import Store
from codelake.errors import UsageError
from codelake.query import questions
from codelake.query.answer import SHOWN, Answer, Converted, drawn
from codelake.query.engine import Asking, Engine, Limits
from codelake.query.published import PublishedRun, published
from codelake.query.repositories import refuse_unknown
from codelake.query.rows import Row

if TYPE_CHECKING:
    import pyarrow
    from arro3.core import RecordBatchReader

    from codelake.query.sql.run import SqlAnswer

P = ParamSpec("P")


class Noted:
    """An engine that keeps the texts it was asked."""

    def __init__(self, engine: Asking) -> None:
        self.texts: list[str] = []
        self._engine = engine

    def ask(self, sql: str, *names: str) -> list[Row]:
        self.texts.append(sql)
        return self._engine.ask(sql, *names)

    def reads_whole(self, name: str) -> bool:
        return self._engine.reads_whole(name)


def _method(question: Callable[Concatenate[Asking, P], Answer]) -> Callable[Concatenate[OpenLake, P], Answer]:
    @wraps(question)
    def ask(lake: OpenLake, /, *args: P.args, **options: P.kwargs) -> Answer:
        _refuse_bounds(options)
        noted = Noted(lake.engine)
        answer = question(noted, *args, **options)
        if not answer and (repo := options.get("repo")):
            refuse_unknown(lake.engine, str(repo))  # "no" would be said of a name that is misspelt
        return replace(answer, sql=tuple(noted.texts))

    return ask


def _refuse_bounds(options: Mapping[str, Any]) -> None:
    """With a depth of nothing, or sureness that no edge has, any answer would be "no"."""
    for name in ("depth", "limit", "max_lines"):
        if options.get(name, 1) < 1:
            raise UsageError(name, expected="1 or more", found=options[name])
    if not 0 <= options.get("min_confidence", 0) <= 1:
        raise UsageError("min_confidence", expected="a number from 0 to 1", found=options["min_confidence"])


class TableRows(Converted):
    """Read when a form is asked for."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self._engine = engine

    def batches(self) -> RecordBatchReader:
        """Rows as they come, as arro3 has them; anything that knows Arrow takes them."""
        return self._engine.stream(f'SELECT * FROM "{self.name}"', self.name)

    def to_arrow(self) -> pyarrow.Table:
        import pyarrow as pa

        from codelake.delta.plain import plain

        return plain(pa.RecordBatchReader.from_stream(self.batches()).read_all())

    def __repr__(self) -> str:
        return f"<table {self.name}>"

    def _repr_html_(self) -> str:
        """For notebooks: a look at it, not all of it."""
        first = self._engine.ask(f'SELECT * FROM "{self.name}" LIMIT {SHOWN + 1}', self.name)
        note = f"the first {SHOWN} rows" if len(first) > SHOWN else ""
        return drawn(self.name, tuple(first[0]) if first else (), first[:SHOWN], note=note)


class Picture(NamedTuple):
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


class OpenLake:
    """One published run of a lake. Everything that is asked here is asked of the same versions, whatever is built
    meanwhile; open the lake again for a newer run."""

    def __init__(
        self,
        store: Store,
        *,
        at: str | datetime | None = None,
        since: str | datetime | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`at`: a run, its number, a git revision that was built, TABLE=VERSION or a time; the last run without it.
        `since`: an earlier run, which SQL may compare with (`before_files`, `files_changes`)."""
        self.store = store
        self.limits = limits or Limits()
        reader = Reader(store, memory=self.limits.memory)
        self.run: PublishedRun = published(reader, at)
        before = None if since is None else published(reader, since)
        self.engine = Engine(reader, self.run, self.limits, before=before)

    find = _method(questions.find)
    callers = _method(questions.callers)
    callees = _method(questions.callees)
    refs = _method(questions.refs)
    impact = _method(questions.impact)
    neighbors = _method(questions.neighbors)
    show = _method(questions.show)
    path = _method(questions.path)
    unresolved = _method(questions.unresolved)
    hot = _method(questions.hot)

    def sql(self, text: str, *, dialect: str = "datafusion") -> SqlAnswer:
        """One query, in a dialect (datafusion, spark, duckdb, postgres), within the limits of this lake."""
        from codelake.query.sql.run import run  # sqlglot takes longer to import than a question to answer

        return run(self.engine, text, dialect=dialect)

    def table(self, name: str) -> TableRows:
        """All rows of a table or view, in whatever form they are asked for."""
        self.engine.open([name])
        return TableRows(name, self.engine)

    def picture(self, symbol: str, *, depth: int = 1, tree: str = "") -> Picture:
        """What lies within so many steps of a symbol, as SVG; a notebook shows it. `tree`: only its `callers` or its
        `callees`."""
        from codelake.query.export.part import near
        from codelake.query.export.svg import picture

        return Picture(picture(near(self.engine, symbol, depth, tree)))

    def diff(self, before: str | datetime, *, limit: int = 1000) -> Answer:
        """What changed from the run `before` to this one."""
        reader = Reader(self.store, memory=self.limits.memory)
        earlier = published(reader, before)
        noted = Noted(Engine(reader, self.run, before=earlier))
        title = f"what changed from {earlier.run_id} to {self.run.run_id}"
        return replace(questions.diff(noted, title=title, limit=limit), sql=tuple(noted.texts))

    def __enter__(self) -> OpenLake:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held open; `with` marks where the run is used."""

    def __repr__(self) -> str:
        return f"<lake {self.store.root}, run {self.run.run_id}>"
