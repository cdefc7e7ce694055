"""Questions as tools for coding assistants: a server of the Model Context Protocol. It only reads, and every answer is
that of the last published run, or of the one that `at` means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from codelake import __version__
from codelake.delta.store import Store
from codelake.errors import CodelakeError
from codelake.query.answer import Answer
from codelake.query.engine import Limits
from codelake.query.lake import OpenLake

LIMITS = Limits(rows=200, seconds=30, memory="1G")
"""Of each answer: an assistant reads all of it."""
_LONGEST = 10_000
"""Characters of one text: more of it is a file, and `show` tells the part that is wanted."""
_MOST = 200_000
"""Characters of all texts of an answer."""
_INSTRUCTIONS = (
    "A graph of Python repositories: who calls, imports, reads and overrides what, across files and repositories. "
    "A symbol is a qualified name (pkg.mod.Class.method), a unique ending of one, or an id. Rows have the place "
    "(path:line, start_byte, end_byte) and, where something was resolved, a confidence from 0 to 1. `at` asks an "
    "earlier run: a run id, its number (-1: the last), a git revision that was built, or a time."
)
Found = dict[str, Any]


class Tools:
    """One method a tool. Their signatures and first lines are what an assistant sees."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    def find(self, name: str, fuzzy: bool = False, at: str | None = None) -> Found:
        """Definitions by qualified name, ending or pattern with * and ?; with fuzzy, names that differ least."""
        return self._answered(at, lambda lake: lake.find(name, fuzzy=fuzzy, limit=self._limits.rows))

    def callers(self, symbol: str, depth: int = 1, min_confidence: float = 0.5, at: str | None = None) -> Found:
        """Who calls the symbol, with the lines of the calls, to a depth."""
        return self._answered(
            at, lambda lake: lake.callers(symbol, depth=depth, min_confidence=min_confidence, limit=self._limits.rows)
        )

    def callees(self, symbol: str, depth: int = 1, min_confidence: float = 0.5, at: str | None = None) -> Found:
        """What the symbol's code calls, to a depth."""
        return self._answered(
            at, lambda lake: lake.callees(symbol, depth=depth, min_confidence=min_confidence, limit=self._limits.rows)
        )

    def refs(self, symbol: str, role: str = "", at: str | None = None) -> Found:
        """Where the symbol is defined, written, deleted, imported, read or named; role keeps one of these."""
        return self._answered(at, lambda lake: lake.refs(symbol, role=role, limit=self._limits.rows))

    def impact(self, symbol: str, depth: int = 3, at: str | None = None) -> Found:
        """What may break if the symbol changes: callers, overriders, importers, subclasses, with the way there."""
        return self._answered(at, lambda lake: lake.impact(symbol, depth=depth, limit=self._limits.rows))

    def neighbors(self, symbol: str, at: str | None = None) -> Found:
        """Every edge of the symbol, to it and from it."""
        return self._answered(at, lambda lake: lake.neighbors(symbol, limit=self._limits.rows))

    def show(self, symbol: str, at: str | None = None) -> Found:
        """The symbol's source with signature and docstring."""
        return self._answered(at, lambda lake: lake.show(symbol))

    def path(self, symbol: str, target: str, by: str = "calls", at: str | None = None) -> Found:
        """How one symbol reaches another, by calls, imports, inherits or any."""
        return self._answered(at, lambda lake: lake.path(symbol, target, by=by))

    def hot(self, by: str = "callers", at: str | None = None) -> Found:
        """What has the most callers, calls, importers or subclasses."""
        return self._answered(at, lambda lake: lake.hot(by=by))

    def unresolved(self, reason: str = "", under: str = "", at: str | None = None) -> Found:
        """Calls without a known target, counted by reason; with a reason or a path they lie under, one by one."""
        return self._answered(at, lambda lake: lake.unresolved(reason=reason, under=under, limit=self._limits.rows))

    def diff(self, before: str, after: str | None = None) -> Found:
        """What changed in the graph between two runs or git revisions that were built."""
        return self._answered(after, lambda lake: lake.diff(before, limit=self._limits.rows))

    def sql(self, text: str, at: str | None = None) -> Found:
        """One SELECT in DataFusion's dialect over the tables and views: cpg_nodes, cpg_edges, calls, files, runs."""
        with _told():
            lake = OpenLake(self._store, at=at, limits=self._limits)
            answer = lake.sql(text)
        rows, is_short = _told_at_once({name: _plain(value) for name, value in row.items()} for row in answer.rows)
        notes = [f"only the first {len(rows)} rows"] if answer.is_cut or len(rows) < len(answer) else []
        notes += [f"texts are cut after {_LONGEST:,} characters"] if is_short else []
        return {"run": lake.run.run_id, "rows": rows, "note": "; ".join(notes)}

    def _answered(self, at: str | None, ask: Callable[[OpenLake], Answer]) -> Found:
        with _told():
            lake = OpenLake(self._store, at=at, limits=self._limits)
            answer = ask(lake)
        parts = {"definitions": list(answer.parts)} if answer.parts else {}
        note = answer.note.replace("see --limit", "ask for something narrower")
        return {"run": lake.run.run_id, **parts, "rows": list(answer.rows), "note": note}


def _told_at_once(rows: Iterable[Found]) -> tuple[list[Found], bool]:
    """As many rows as an answer may have, and whether a text was cut."""
    told: list[Found] = []
    n, is_short = 0, False
    for row in rows:
        cut = {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in row.items()}
        n += sum(len(str(value)) for value in cut.values())
        if told and n > _MOST:
            break
        is_short |= cut != row
        told.append(cut)
    return told, is_short


def _plain(value: Any) -> Any:
    """JSON has no bytes, and most of a lake's are the contents of files."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


@contextmanager
def _told() -> Iterator[None]:
    """An error of codelake says what to do next: an assistant gets to read it, as a person would."""
    try:
        yield
    except CodelakeError as error:
        raise ToolError(str(error)) from error


TOOLS = (
    *("find", "callers", "callees", "refs", "impact", "neighbors", "show", "path", "hot", "unresolved", "diff"),
    "sql",
)


def server(store: Store, limits: Limits = LIMITS) -> MCPServer:
    made = MCPServer("codelake", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    tools = Tools(store, limits)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for name in TOOLS:
        made.add_tool(getattr(tools, name), annotations=reads)
    return made
