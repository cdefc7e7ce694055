"""The base classes of a class: `#D INHERITS #C`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("inherits", ("INHERITS",), is_linked=True)
