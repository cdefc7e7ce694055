"""What a module offers under its own name though another defines it: `#<module> RE_EXPORTS REPO:b.py#f`.

The linker finds it."""

from __future__ import annotations

from codelake.graph.rules.rule import Rule

RULE = Rule("re_exports", ("RE_EXPORTS",), is_linked=True)
