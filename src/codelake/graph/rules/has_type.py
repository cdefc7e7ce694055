"""Which class a parameter or variable has an instance of: `#f(x) HAS_TYPE #C@type`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("has_type", ("HAS_TYPE",), is_linked=True)
