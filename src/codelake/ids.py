"""Ids: readable text that is the same on every machine and in every run. Each has a Python function. That of a file
has a twin in SQL; those that rendering writes by the thousand have twins for arrays, in `codelake.graph.render.labels`.

    repository       REPO:                          everything outside of the lake   ::
    folder           REPO:FOLDER/                   external symbol                  ::DOTTED.NAME
    file             REPO:PATH                      type                             ID@type
    what is in it    FILE_ID#LABEL                  edge                             SRC KIND DST[@START-END]

Labels, which tell things of one file apart:

    module           #<module>                      scope       #SCOPE@scope (#<module>@scope)
    class, function  #C.m  #f~1 (the second f)      binding     #SCOPE@scope:NAME
    lambda           #f.<lambda1>                   variable    #SCOPE:NAME (#:NAME in a module)
    parameter        #f(p)                          block, exit #SCOPE@block:K  #SCOPE@exit:K
    type parameter   #f[T]                          comment     #START-END:comment
    other syntax     #START-END:Kind                type expression  #START-END:type
    argument         LABEL@argument (of its value)  diagnostic  #START-END:diagnostic:K

In the id of an edge, a DST in the file of SRC is only its label. `%`, spaces and `#` are written as `%25`, `%20`
and `%23`, and `:` in the name of a repository as `%3A`: so that no two files have the same id, and what other ids
put behind it can be told from it.
"""

from __future__ import annotations

from urllib.parse import unquote

_ESCAPED = {"%": "%25", " ": "%20", "#": "%23"}
_ESCAPED_IN_REPO = {**_ESCAPED, ":": "%3A"}

OUTSIDE = "::"
"""The owner of what no repository of the lake holds."""
TYPE = "@type"
MODULE = "#<module>"


def repository_id(repo: str) -> str:
    return f"{_escaped(repo, _ESCAPED_IN_REPO)}:"


def file_id(repo: str, path: str) -> str:
    return f"{_escaped(repo, _ESCAPED_IN_REPO)}:{_escaped(path, _ESCAPED)}"


def path_of(node_id: str) -> str | None:
    """The path, as tables have it, of the file that a node is in; empty outside of the lake. None for repositories,
    folders and files, whose rows may have another."""
    if node_id.startswith(OUTSIDE):
        return ""
    file, label, _ = node_id.partition("#")
    return unquote(file.partition(":")[2]) if label else None


def module_id(node_id: str) -> str:
    """The module of the file that a node is in."""
    return node_id.partition("#")[0] + MODULE


def file_id_sql(repo: str = "repo", path: str = "path") -> str:
    """The same as SQL over columns of these names."""
    return f"concat({_escaped_sql(repo, _ESCAPED_IN_REPO)}, ':', {_escaped_sql(path, _ESCAPED)})"


def owner_id(repo: str, path: str) -> str:
    """The folder that a file or folder lies in; the repository for what lies in none."""
    folder = path.rstrip("/").rpartition("/")[0]
    return file_id(repo, f"{folder}/") if folder else repository_id(repo)


def external_id(name: str) -> str:
    return f"::{name}"


def type_id(owner: str) -> str:
    """What instances of a class or external symbol are."""
    return owner + TYPE


# labels ---------------------------------------------------------------------------------------------------------


def place_label(start: int, end: int, kind: str) -> str:
    return f"#{start}-{end}:{kind}"


def scope_label(scope: str) -> str:
    """`scope` is the label of the scope in the evidence: empty for the module's."""
    return f"#{scope or '<module>'}@scope"


def binding_label(scope: str, name: str) -> str:
    return f"{scope_label(scope)}:{name}"


def variable_label(scope: str, name: str) -> str:
    return f"#{scope}:{name}"


def block_label(scope: str, kind: str, number: int) -> str:
    """`number` counts the blocks of the scope."""
    word = "exit" if kind in ("exit", "raise") else "block"
    return f"#{scope or '<module>'}@{word}:{number}"


def argument_label(value: str) -> str:
    """`value` is the label of the node that is passed."""
    return f"{value}@argument"


def edge_id(src: str, kind: str, dst: str, place: tuple[int, int] | None = None) -> str:
    """`place` is given where it is not that of the source."""
    file, label, _ = src.partition("#")
    short = dst[len(file) :] if label and dst.startswith(f"{file}#") else dst
    return f"{src} {kind} {short}" + (f"@{place[0]}-{place[1]}" if place else "")


def _escaped(text: str, escapes: dict[str, str]) -> str:
    for plain, escaped in escapes.items():  # % comes first
        text = text.replace(plain, escaped)
    return text


def _escaped_sql(column: str, escapes: dict[str, str]) -> str:
    text = f"`{column}`"
    for plain, escaped in escapes.items():
        text = f"replace({text}, '{plain}', '{escaped}')"
    return text
