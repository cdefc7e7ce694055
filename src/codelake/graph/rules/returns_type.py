"""Which class a function returns an instance of: `#f RETURNS_TYPE #C@type`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("returns_type", ("RETURNS_TYPE",), is_linked=True)
