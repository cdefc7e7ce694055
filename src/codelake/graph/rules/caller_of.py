"""Which definitions the code of a definition calls: `#f CALLER_OF #g`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("caller_of", ("CALLER_OF",), is_linked=True)
