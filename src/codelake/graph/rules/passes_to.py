"""Which parameter an argument is passed to: `#22-23:Name@argument PASSES_TO #f(x)`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("passes_to", ("PASSES_TO",), is_linked=True)
