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
    "What is called most?": """
        SELECT call['callee'] AS callee, count(*) AS calls
        FROM (SELECT unnest(calls) AS call FROM evidence) WHERE call['callee'] IS NOT NULL
        GROUP BY callee ORDER BY calls DESC, callee LIMIT 5""",
    "Which modules are imported most?": """
        SELECT import['module'] AS module, count(*) AS imports
        FROM (SELECT unnest(imports) AS import FROM evidence) WHERE import['level'] = 0
        GROUP BY module ORDER BY imports DESC, module LIMIT 5""",
    "Which functions are longest?": """
        SELECT module, definition['qualified_name'] AS function,
               nodes[definition['node'] + 1]['start_line'] AS line,
               nodes[definition['node'] + 1]['end_line'] - nodes[definition['node'] + 1]['start_line'] + 1 AS lines
        FROM (SELECT digest, nodes, unnest(definitions) AS definition FROM evidence) AS defined
        JOIN files ON files.digest = defined.digest
        WHERE definition['kind'] LIKE '%function' ORDER BY lines DESC, module, function LIMIT 5""",
    "Which have the most branches?": """
        SELECT module, scopes[flow_scope + 1]['qualified_name'] AS function, count(*) AS branches
        FROM (SELECT digest, scopes, blocks[flow['src'] + 1]['scope'] AS flow_scope, flow['kind'] AS kind
              FROM (SELECT digest, scopes, blocks, unnest(flows) AS flow FROM evidence)) AS flowing
        JOIN files ON files.digest = flowing.digest
        WHERE kind = 'true' GROUP BY module, function ORDER BY branches DESC, module, function LIMIT 5""",
    "What could not be parsed as it is?": """
        SELECT path, start_byte, kind, message FROM diagnostics ORDER BY path, start_byte LIMIT 5""",
}


def ask(lake: Path) -> None:
    engine = QueryBuilder()
    for name in ("files", "evidence", "diagnostics"):
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
