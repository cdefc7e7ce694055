"""Call sites and their arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codelake.extract.syntax import dotted
from codelake.extract.tree import Tree, names_of

if TYPE_CHECKING:
    from codelake.extract.extractors import Rows


def calls(tree: Tree) -> tuple[Rows, ...]:
    scope_of = names_of(tree).scope_of
    sites = tree.every(ast.Call)
    call: list[int] = []
    node: list[int] = []
    kind: list[str] = []
    position: list[int | None] = []
    keyword: list[str | None] = []
    for place, site in enumerate(sites):
        for number, value in enumerate(site.args):
            is_star = value.__class__ is ast.Starred
            call.append(place)
            node.append(value.value.at if is_star else value.at)
            kind.append("star" if is_star else "positional")
            position.append(number)
            keyword.append(None)
        for word in site.keywords:
            call.append(place)
            node.append(word.value.at)
            kind.append("double_star" if word.arg is None else "keyword")
            position.append(None)
            keyword.append(word.arg)
    found = (
        [site.at for site in sites],
        [scope_of[site.at] for site in sites],
        [site.func.at for site in sites],
        [dotted(site.func) for site in sites],
    )
    return found, (call, node, kind, position, keyword)
