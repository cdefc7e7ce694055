"""The method that a method takes the place of: `#D.m OVERRIDES #C.m`. The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("overrides", ("OVERRIDES",), is_linked=True)
