"""Strings: plain, formatted, in several parts, and Python 2's backquotes."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from codelake.extract.recover import grammar
from codelake.extract.recover.concrete import ERROR, Node
from codelake.extract.recover.reader import Read, Reader, Unreadable

_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.S)
# Braces that stand for themselves, and named characters, whose braces do too.
_DOUBLED = re.compile(r"\\N\{[^{}]*\}|\{\{|\}\}")
_CONVERSIONS = {"!s": 115, "!r": 114, "!a": 97}


class Part(NamedTuple):
    """One literal of the several that may stand side by side."""

    node: Node
    prefix: str
    quote: str
    values: list[ast.expr] | None
    """Of a formatted one: constants and formatted values."""


def _string(r: Reader, node: Node) -> Any:
    part = _part(r, node)
    if part.quote == "`":
        return _backquoted(r, node)
    return _joined(r, [part], node)


def _concatenated(r: Reader, node: Node) -> ast.expr:
    parts = [_part(r, child) for child in node.children if child.kind == "string"]
    if any(part.quote == "`" for part in parts) or not parts:
        raise Unreadable
    return _joined(r, parts, node)


def _part(r: Reader, node: Node) -> Part:
    if not node.children or node.children[0].kind != "string_start":
        raise Unreadable
    start = r.source(node.children[0])
    quote = start.lstrip("rRbBuUfFtT")
    prefix = start[: len(start) - len(quote)].lower()
    if "u" in prefix and "r" in prefix:
        r.is_python2 = True
    values = _formatted(r, node, prefix, quote) if "f" in prefix or "t" in prefix else None
    return Part(node, prefix, quote, values)


def _joined(r: Reader, parts: list[Part], node: Node) -> ast.expr:
    kind = "u" if parts[0].prefix == "u" else None
    if all(part.values is None for part in parts):
        values = [_constant(r, part.node, part.prefix, part.quote) for part in parts]
        return r.put(ast.Constant(value=_added(values), kind=kind), node)
    found: list[ast.expr] = []
    for part in parts:
        inside = part.values
        if inside is None:
            value = _constant(r, part.node, part.prefix, part.quote)
            inside = [r.put(ast.Constant(value=value), part.node)]
        for value in inside:
            _append(r, found, value)
    for value in found:
        if isinstance(value, ast.Constant):
            value.kind = kind
    if any("t" in part.prefix for part in parts):
        return r.put(grammar.TemplateStr(values=found), node)  # type: ignore[no-any-return]
    return r.put(ast.JoinedStr(values=found), node)


def _append(r: Reader, found: list[ast.expr], value: ast.expr) -> None:
    """Adds to the last constant if there is one."""
    if isinstance(value, ast.Constant):
        if not value.value:
            return
        if found and isinstance(found[-1], ast.Constant):
            found[-1].value = _added([found[-1].value, value.value])
            r.put_at(found[-1], r.start_of(found[-1]), r.end_of(value))
            return
    found.append(value)


def _added(values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    if len({type(v) for v in values}) > 1:  # text and bytes, which Python 2 adds
        values = [v.decode("latin-1") if isinstance(v, bytes) else v for v in values]
    return values[0][:0].join(values)


def _constant(r: Reader, node: Node, prefix: str, quote: str) -> Any:
    return value_of(r.source_at(node.children[0].end, _end(r, node, quote)), prefix)


def value_of(body: str, prefix: str) -> str | bytes:
    """What stands between quotes, with escapes read; without, where Python cannot tell."""
    body = body.replace("\r\n", "\n").replace("\r", "\n") if "\r" in body else body
    if "\\" in body and "r" not in prefix:
        quoted = _ESCAPE_OR_QUOTE.sub(lambda m: '\\"' if m[0] == '"' else m[0], body)
        try:
            found = ast.literal_eval(f'{"b" if "b" in prefix else ""}"""{quoted}"""')
        except (SyntaxError, ValueError, MemoryError):
            pass
        else:
            if isinstance(found, str | bytes):
                return found
    return body.encode("utf-8", "replace") if "b" in prefix else body


# Formatted strings


def _formatted(r: Reader, node: Node, prefix: str, quote: str) -> list[ast.expr]:
    found: list[ast.expr] = []
    at = node.children[0].end
    for child in node.children[1:]:
        if child.kind in ("interpolation", ERROR):
            _append_text(r, found, at, child.start, prefix)
            _append_inside(r, found, child, is_template="t" in prefix)
            at = child.end
    _append_text(r, found, at, _end(r, node, quote), prefix)
    return found


def _append_inside(r: Reader, found: list[ast.expr], node: Node, is_template: bool = False) -> None:
    if not isinstance(node.value, list):
        found.append(r.expr(node))
        return
    for value in node.value:
        made = value
        if is_template and isinstance(value, ast.FormattedValue):
            written = r.source_at(*r.outer(value.value))
            parts = {"conversion": value.conversion, "format_spec": value.format_spec}
            made = r.put(grammar.Interpolation(value=value.value, str=written, **parts), node)
        _append(r, found, made)


def _end(r: Reader, node: Node, quote: str) -> int:
    """Where the closing quote is, if there is one: tree-sitter may count text to it."""
    at = node.end - len(quote)
    return at if node.children[0].end <= at and r.utf8.startswith(quote.encode(), at) else node.end


def _append_text(r: Reader, found: list[ast.expr], start: int, end: int, prefix: str) -> None:
    if end <= start:
        return
    text = r.source_at(start, end)
    if "{{" in text or "}}" in text:
        text = _DOUBLED.sub(lambda m: m[0][0] if len(m[0]) == 2 else m[0], text)
    value = value_of(text, prefix)
    _append(r, found, r.put_at(ast.Constant(value=value, kind=None), start, end))


def _interpolation(r: Reader, node: Node) -> list[ast.expr]:
    """What stands in braces; with `=`, the text of the expression as a constant before it."""
    inner = r.need(node, "expression")
    value = r.expr(inner)
    conversion, spec = node.child("type_conversion"), node.child("format_specifier")
    code = _CONVERSIONS.get(r.source(conversion), -1) if conversion else -1
    format_spec = spec.value if spec else None
    found: list[ast.expr] = []
    equals = next((child for child in node.children if child.kind == "="), None)
    if inner.kind == "named_expression" and isinstance(value, ast.NamedExpr):
        # f"{x:=5}" is x with the format =5
        value, format_spec = _format_in_walrus(r, inner, node)
        inner.value = value
    if equals is not None:
        behind = next((c for c in node.children if c.start >= equals.end), equals)
        shown = r.source_at(node.start + 1, behind.start if behind is not equals else equals.end)
        found.append(r.put_at(ast.Constant(value=shown, kind=None), node.start + 1, max(behind.start, equals.end)))
        if code == -1 and format_spec is None:
            code = 114
    made = ast.FormattedValue(value=value, conversion=code, format_spec=format_spec)
    found.append(r.put(made, node))
    return found


def _format_in_walrus(r: Reader, walrus: Node, node: Node) -> tuple[ast.expr, ast.expr]:
    target = r.stored(r.expr(r.need(walrus, "name")), ast.Load)
    at = next(child.start for child in walrus.children if child.kind == ":=")
    text = r.source_at(at + 1, node.end - 1)
    inside = r.put_at(ast.Constant(value=text, kind=None), at + 1, node.end - 1)
    return target, r.put_at(ast.JoinedStr(values=[inside]), at, node.end - 1)


def _format(r: Reader, node: Node) -> ast.expr:
    found: list[ast.expr] = []
    at = node.start + 1
    for child in node.children[1:]:
        if child.kind in ("format_expression", ERROR):
            _append_text(r, found, at, child.start, "")
            _append_inside(r, found, child)
            at = child.end
    _append_text(r, found, at, node.end, "")
    return r.put(ast.JoinedStr(values=found), node)


def _backquoted(r: Reader, node: Node) -> ast.expr:
    """`x` in backquotes is repr(x)."""
    r.is_python2 = True
    inside = r.nested(node.start + 1, node.end - 1)
    func = r.put_at(ast.Name(id="repr", ctx=ast.Load()), node.start, node.start)
    return r.put(ast.Call(func=func, args=inside, keywords=[]), node)


STRINGS: dict[str, Read] = {
    "string": _string,
    "concatenated_string": _concatenated,
    "interpolation": _interpolation,
    "format_expression": _interpolation,
    "format_specifier": _format,
}
