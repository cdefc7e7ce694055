"""What is known of the standard library before any file is read."""

from __future__ import annotations

from codelake.contracts.table import Column, Layout, Table

STUBS = Table(
    name="stubs",
    meaning="One row per module of the standard library, builtins too: what typeshed says of its names. Read anew "
    "when the package that carries typeshed has another version.",
    columns=(
        Column("module", "string", "dotted name"),
        Column("stars", "array<string>", "modules whose names it offers as well"),
        Column(
            "names",
            "array<struct<name:string,kind:string,type:string>>",
            "its names, those of classes behind the class and a dot; function, method, classmethod, staticmethod, "
            "property, variable, class, alias or type; signatures with result, type, bases or what it means",
        ),
        Column("version", "string", "of the package that carries the stubs, and of how they are read"),
    ),
    key=("module",),
    key_scope="source",
    layout=Layout(sort_by=("module",), stats=("module", "version")),
)
