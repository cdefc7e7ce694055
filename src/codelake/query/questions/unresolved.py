"""`unresolved`: calls whose target is not known, by reason or one by one."""

from __future__ import annotations

from codelake.contracts.kinds import REASONS
from codelake.delta.reading import text
from codelake.errors import UsageError
from codelake.query.answer import Answer, place
from codelake.query.engine import Asking

COUNTED = "SELECT reason, count(*) AS n FROM calls WHERE {where} GROUP BY reason ORDER BY n DESC, reason"
LISTED = (
    "SELECT call_id, caller, callee_text, reason, repo, path, start_line FROM calls WHERE {where} "
    "AND reason IS NOT NULL ORDER BY repo, path, start_line, call_id LIMIT {limit}"
)


def unresolved(engine: Asking, *, reason: str = "", repo: str = "", under: str = "", limit: int = 100) -> Answer:
    """Counted by reason; with a reason, or of the files `under` a path, one by one."""
    if reason and reason not in REASONS:
        raise UsageError(f"reason {reason}", expected=f"one of {', '.join(REASONS)}", found="no such reason")
    terms = [f"repo = {text(repo)}" if repo else "", f"substr(path, 1, {len(under)}) = {text(under)}" if under else ""]
    where = " AND ".join(filter(None, [*terms, f"reason = {text(reason)}" if reason else ""])) or "1 = 1"
    if not (reason or under):
        found = engine.ask(COUNTED.format(where=where), "calls")
        total = sum(row["n"] for row in found)
        rows = [
            {**row, "percent": round(100 * row["n"] / total, 2), "meaning": REASONS[row["reason"]]}
            for row in found
            if row["reason"]
        ]
        n = sum(row["n"] for row in rows)
        return Answer(f"{n:,} of {total:,} calls have no target", ("reason", "n", "percent", "meaning"), rows)
    found = engine.ask(LISTED.format(where=where, limit=limit + 1), "calls")
    rows = [
        {
            "reason": row["reason"],
            "callee": row["callee_text"],
            "call_id": row["call_id"],
            "caller": row["caller"],
            "repo": row["repo"],
            "path": row["path"],
            "line": row["start_line"],
            "place": place(row["path"], row["start_line"]),
        }
        for row in found
    ]
    note = "there are more; see --limit" if len(rows) > limit else ""
    columns = ("reason", "callee", "place", "repo")
    return Answer("calls without a target", columns, rows[:limit], note=note)
