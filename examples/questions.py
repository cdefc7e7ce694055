"""Questions to what `codelake build` made, answered without Spark: python examples/questions.py LAKE

Any engine that reads Delta can ask them. Here it is deltalake's, in this process.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from deltalake import DeltaTable, QueryBuilder

QUESTIONS = {
    "What became of the files?": """
        SELECT repo, status, count(*) AS files, sum(n_bytes) AS bytes FROM files
        GROUP BY repo, status ORDER BY repo, status""",
    "What is called by most functions?": """
        SELECT n.qualified_name AS function, n.path, n.start_line AS line, count(*) AS callers
        FROM cpg_edges AS e JOIN cpg_nodes AS n ON n.node_id = e.dst
        WHERE e.kind = 'CALLER_OF' AND e.confidence >= 0.5 AND n.kind IN ('function', 'class')
        GROUP BY n.qualified_name, n.path, n.start_line ORDER BY callers DESC, function LIMIT 5""",
    "Which modules are imported most?": """
        SELECT n.qualified_name AS module, count(*) AS importers
        FROM cpg_edges AS e JOIN cpg_nodes AS n ON n.node_id = e.dst
        WHERE e.kind = 'IMPORTS' AND e.start_byte IS NULL AND n.kind = 'module'
        GROUP BY n.qualified_name ORDER BY importers DESC, module LIMIT 5""",
    "What of the outside is used most?": """
        SELECT s.name, s.kind, s.distribution, s.version, count(*) AS calls
        FROM calls AS c JOIN external_symbols AS s ON s.symbol_id = c.target AND s.repo = c.repo
        GROUP BY s.name, s.kind, s.distribution, s.version ORDER BY calls DESC, s.name LIMIT 5""",
    "Which classes have the longest method resolution order?": """
        SELECT qualified_name AS class, array_length(mro) AS classes FROM classes
        ORDER BY classes DESC, class LIMIT 5""",
    "How many calls have a target, and why not the others?": """
        SELECT coalesce(reason, 'with a target') AS reason, count(*) AS calls,
               round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
        FROM calls GROUP BY reason ORDER BY calls DESC""",
    "What could not be parsed as it is?": """
        SELECT path, start_byte, kind, message FROM diagnostics ORDER BY path, start_byte LIMIT 5""",
}
TABLES = ("files", "diagnostics", "cpg_nodes", "cpg_edges", "calls", "classes", "external_symbols")


def ask(lake: Path) -> None:
    engine = QueryBuilder()
    for name in TABLES:
        engine.register(name, DeltaTable(lake / name))
    for question, sql in QUESTIONS.items():
        started = time.perf_counter()
        rows = engine.execute(sql).read_all()
        print(f"\n{question} ({(time.perf_counter() - started) * 1000:.0f} ms)")
        _draw({name: rows.column(name).to_pylist() for name in rows.column_names})


def _draw(columns: dict[str, list[object]]) -> None:
    table = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    if len(table) == 1:
        print("  nothing")
        return
    widths = [max(len(str(row[place])) for row in table) for place in range(len(columns))]
    for row in table:
        print("  " + "  ".join(f"{cell!s:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    ask(Path(sys.argv[1]))
