"""Scopes (`scopes`), and the symbols and references in them (`symbols`), as CPython's symtable has them."""
