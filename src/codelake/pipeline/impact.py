"""Which files a change reached, because of which symbol, over how many others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import pyarrow as pa

from codelake.contracts.arrow_vectors import with_lists
from codelake.contracts.graph import LINKED, LINKS
from codelake.delta.embedded import ask
from codelake.delta.run import Run
from codelake.ids import file_id
from codelake.pipeline.lookup import at
from codelake.pipeline.work import Impact

_MOST = 500
"""Files of which it is looked up which symbol reached them; a change that reaches more is one of the whole."""

File = tuple[str, str]


def impacts(
    run: Run,
    edges_of: Callable[[Collection[File]], pa.Table],
    differing: Collection[File],
    changed: Collection[File],
) -> list[Impact]:
    """Of the files whose links differ although they have not changed themselves. `edges_of` gives the new links."""
    reached = sorted(set(differing) - set(changed))
    if len(reached) > _MOST:
        return [Impact(repo, path, "what it uses changed", None, 1) for repo, path in reached]
    if not reached:
        return []
    before = _targets(ask(run, (LINKS,), f"SELECT repo, path, edges FROM links WHERE {at(reached)}"))
    after = _targets(edges_of(reached))
    symbols = {file: before.get(file, set()) ^ after.get(file, set()) for file in reached}
    return list(_by_hop(symbols, {file_id(*file): file for file in (*reached, *changed)}, changed))


def _by_hop(symbols: Mapping[File, set[str]], files: Mapping[str, File], changed: Iterable[File]) -> Iterable[Impact]:
    """Nearest first: a file is as far as the nearest file that one of its symbols is in, and one further."""
    hops = dict.fromkeys(changed, 0)
    waiting = dict(symbols)
    hop = 0
    while waiting:
        hop += 1
        found: dict[File, str | None] = {}
        for file, ids in waiting.items():
            near = sorted(one for one in ids if files.get(one.partition("#")[0]) in hops)
            if near:
                found[file] = near[0]
        if not found:  # through what has no file: a type, or the outside
            found = {file: min(ids, default=None) for file, ids in waiting.items()}
        for (repo, path), symbol in found.items():
            del waiting[repo, path]
            reason = "how its targets were found changed" if symbol is None else f"what {symbol} means to it changed"
            yield Impact(repo, path, reason, symbol, hop)
        hops |= dict.fromkeys(found, hop)


def _targets(rows: pa.Table) -> dict[File, set[str]]:
    found = with_lists(rows, {"edges": LINKED["edges"]}).to_pylist()
    return {(row["repo"], row["path"]): {edge["dst"] for edge in row["edges"]} for row in found}
