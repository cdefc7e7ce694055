"""What an import alias, or a module as a whole, imports: `#0-2:alias IMPORTS REPO:b.py#f`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("imports", ("IMPORTS",), is_linked=True)
