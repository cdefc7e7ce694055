"""What a call calls: `#20-26:Call CALLS #f`, a definition or something external. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("calls", ("CALLS",), is_linked=True)
