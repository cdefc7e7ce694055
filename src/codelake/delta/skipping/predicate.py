"""A filter's text as terms: columns resolved against the table's schema, casts explicit as in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from codelake.delta.expressions import METADATA, column_paths, parse_expression, refuse_name
from codelake.delta.skipping.terms import (
    HIDDEN,
    NULL,
    OPAQUE,
    Call,
    Field,
    Literal,
    Term,
    cast_term,
    compared,
    like,
    number,
    uses,
)
from codelake.delta.skipping.values import INTEGRAL, UNKNOWN, common_type


def read_predicate(text: str, fields: Sequence[Mapping[str, Any]], *, zone: str) -> Term:
    """The term of `text`; raises QueryRefused where it does not parse or names what the schema has not."""
    tree = parse_expression(text, [field["name"] for field in fields])
    reader = _Reader(fields, zone)
    for parts in column_paths(tree):
        reader.require(parts, text)
    return reader.read(tree)


_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.EqualNull: "<=>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%"}
_STRING_TESTS: dict[type[exp.Expr], str] = {
    exp.StartsWith: "startswith",
    exp.EndsWith: "endswith",
    exp.Contains: "contains",
}
_FUNCTIONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Year: ("year", "integer"),
    exp.Month: ("month", "integer"),
    exp.Day: ("day", "integer"),
    exp.DayOfMonth: ("day", "integer"),
    exp.Upper: ("upper", "string"),
    exp.Lower: ("lower", "string"),
    exp.Length: ("length", "integer"),
    exp.Substring: ("substring", "string"),
}
"""Known by name so that they can be worked out on partition values; elsewhere they rule nothing out."""
_STRICT = (
    *(exp.Div, exp.IntDiv, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Abs, exp.Floor, exp.Ceil),
    *(exp.Round, exp.RegexpLike, exp.Trim, exp.DateAdd, exp.DateSub),
)
"""NULL in, NULL out, and nothing else is needed of them: Spark asks for their columns to be not NULL."""
_ARGS = {
    *(
        "this",
        "expression",
        "expressions",
        "low",
        "high",
        "to",
        "table",
        "db",
        "catalog",
        "is_string",
        "alias",
    ),
    *("safe", "start", "length"),
}
"""The parts of a syntax node that are looked at here. A node with any other part means something else."""
_TYPES = {
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INT": "integer",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "TEXT": "string",
    "VARCHAR": UNKNOWN,
    "DATE": "date",
    "TIMESTAMPTZ": "timestamp",
    "TIMESTAMPLTZ": "timestamp",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPNTZ": "timestamp_ntz",
}


class _Reader:
    def __init__(self, fields: Sequence[Mapping[str, Any]], zone: str) -> None:
        self.fields = fields
        self.zone = zone

    def require(self, parts: Sequence[exp.Identifier], text: str) -> None:
        """Every part of a dotted name is there, as far as it goes through structs."""
        fields: Sequence[Mapping[str, Any]] = self.fields
        for part in parts if parts[0].name.lower() != METADATA else ():
            found = _named(fields, part.name)
            if found is None:
                raise refuse_name(text, part, [field["name"] for field in fields], "field")
            if not isinstance(found["type"], Mapping) or found["type"]["type"] != "struct":
                return
            fields = found["type"]["fields"]

    def read(self, node: exp.Expr) -> Term:
        unseen = {key for key, value in node.args.items() if value} - _ARGS
        if unseen and not (isinstance(node, exp.Like) and unseen == {"negate"}):
            return self._opaque(node)
        match node:
            case exp.Paren() | exp.Alias():
                return self.read(node.this)
            case exp.Boolean():
                return Literal(bool(node.this), "boolean")
            case exp.Null():
                return Literal(None, "void")
            case exp.Literal() | exp.RawString():
                return _literal(node)
            case exp.Column():
                return self._column(node)
            case exp.And() | exp.Or():
                return Call(node.key, tuple(self.read(side) for side in node.flatten(unnest=False)))
            case exp.Not():
                return Call("not", (self.read(node.this),), strict=True)
            case exp.NEQ():
                return Call("not", (self._compared("=", node),), strict=True)
            case exp.NullSafeNEQ():
                return Call("not", (self._compared("<=>", node),), strict=True)
            case exp.Is() if isinstance(node.expression, exp.Null):
                return Call("isnull", (self.read(node.this),))
            case exp.Is() if isinstance(node.expression, exp.Boolean):
                return self._compared("<=>", node)
            case exp.Coalesce() if common := _common(terms := self._args(node)):
                return Call("coalesce", self._cast_all(terms, common), common)
            case exp.Between():
                value, low, high = (self.read(node.args[key]) for key in ("this", "low", "high"))
                ends = compared(">=", value, low, self.zone), compared("<=", value, high, self.zone)
                return Call("and", ends)
            case exp.In() if node.expressions:
                return self._in(node)
            case exp.Like() | exp.Escape():
                return self._like(node)
            case exp.Cast():
                return cast_term(self.read(node.this), _type_name(node.to), self.zone)
            case exp.TsOrDsToDate():
                return cast_term(self.read(node.this), "date", self.zone)
            case exp.Neg():
                return self._negative(node)
            case exp.Anonymous() if node.name.lower() in ("isnull", "isnotnull") and len(node.expressions) == 1:
                return Call(node.name.lower(), (self.read(node.expressions[0]),))
        return self._by_class(node)

    def _by_class(self, node: exp.Expr) -> Term:
        kind = type(node)
        if kind in _COMPARED:
            return self._compared(_COMPARED[kind], node)
        if kind in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[kind], node)
        args = self._args(node)
        if kind in _STRING_TESTS and len(args) == 2 and all(arg.type == "string" for arg in args):
            return Call(_STRING_TESTS[kind], args, strict=True)
        if kind in _FUNCTIONS and not uses(Call("", args), HIDDEN):
            name, type_ = _FUNCTIONS[kind]
            return Call(name, args, type_, strict=True)
        return self._opaque(node)

    def _args(self, node: exp.Expr) -> tuple[Term, ...]:
        return tuple(self.read(child) for child in node.iter_expressions() if not isinstance(child, exp.DataType))

    def _opaque(self, node: exp.Expr) -> Term:
        return Call(OPAQUE, self._args(node), UNKNOWN, strict=isinstance(node, _STRICT))

    def _compared(self, name: str, node: exp.Expr) -> Term:
        return compared(name, self.read(node.this), self.read(node.args["expression"]), self.zone)

    def _column(self, node: exp.Column) -> Term:
        parts = [part.name for part in node.parts]
        if parts[0].lower() == METADATA:
            return Call(HIDDEN, (), UNKNOWN)
        fields: Sequence[Mapping[str, Any]] = self.fields
        path: list[str] = []
        physical: list[str] = []
        nullable = False
        for depth, part in enumerate(parts):
            found = _named(fields, part)
            if found is None:  # a variable of a lambda
                return Call(OPAQUE, (), UNKNOWN)
            path.append(found["name"])
            physical.append(found.get("metadata", {}).get("delta.columnMapping.physicalName", found["name"]))
            nullable = nullable or found["nullable"]
            type_ = _field_type(found)
            if depth + 1 < len(parts):
                if type_ != "struct":  # a field of every element, or a key of a map
                    return Call(OPAQUE, (Field(tuple(path), tuple(physical), type_, nullable),), UNKNOWN)
                fields = found["type"]["fields"]
        return Field(tuple(path), tuple(physical), type_, nullable)

    def _in(self, node: exp.In) -> Term:
        terms = [self.read(node.this), *(self.read(child) for child in node.expressions)]
        common = _common(terms)
        if common is None:
            return Call(OPAQUE, tuple(terms))
        return Call("in", self._cast_all(terms, common))

    def _cast_all(self, terms: Sequence[Term], target: str) -> tuple[Term, ...]:
        return tuple(cast_term(term, target, self.zone) for term in terms)

    def _like(self, node: exp.Expr) -> Term:
        escape = "\\"
        if isinstance(node, exp.Escape):
            escape, node = node.expression.name, node.this
        if not isinstance(node, exp.Like):
            return self._opaque(node)
        value, of = self.read(node.this), node.args["expression"]
        negated = bool(node.args.get("negate"))
        if not isinstance(of, (exp.Any, exp.All)):
            return self._like_one(value, of, escape, negated)
        patterns = of.this.expressions if isinstance(of.this, exp.Tuple) else [of.this.unnest()]
        tests = tuple(self._like_one(value, pattern, escape, negated) for pattern in patterns)
        return Call("or" if isinstance(of, exp.Any) else "and", tests)

    def _like_one(self, value: Term, node: exp.Expr, escape: str, negated: bool) -> Term:
        pattern = self.read(node)
        if not isinstance(pattern, Literal) or value.type != "string":
            return Call(OPAQUE, (value, pattern), strict=True)
        test = NULL if pattern.value is None else like(value, str(pattern.value), escape)
        return Call("not", (test,), strict=True) if negated else test

    def _negative(self, node: exp.Neg) -> Term:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return number("-" + node.this.name)  # so that the smallest integers have their own type
        value = self.read(node.this)
        if isinstance(value, Literal) and value.type in {*INTEGRAL, "double"} and value.value is not None:
            return Literal(-value.value, value.type)
        if value.type in ("integer", "long"):
            return Call("-", (Literal(0, value.type), value), value.type, strict=True)
        return Call(OPAQUE, (value,), UNKNOWN, strict=True)

    def _arithmetic(self, name: str, node: exp.Expr) -> Term:
        left, right = self.read(node.this), self.read(node.args["expression"])
        common = common_type(left.type, right.type) if UNKNOWN not in (left.type, right.type) else None
        if common not in ("integer", "long") or "string" in (left.type, right.type):
            return Call(OPAQUE, (left, right), UNKNOWN, strict=True)
        args = cast_term(left, common, self.zone), cast_term(right, common, self.zone)
        return Call(name, args, common, strict=True)


def _common(terms: Sequence[Term]) -> str | None:
    common: str | None = "void"
    for term in terms:
        common = common_type(common, term.type) if common and UNKNOWN not in (common, term.type) else None
    return common


def _named(fields: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    return next((field for field in fields if field["name"].lower() == name.lower()), None)


def _field_type(field: Mapping[str, Any]) -> str:
    if not isinstance(field["type"], str):
        return str(field["type"]["type"])
    metadata = field.get("metadata", {})
    if metadata.get("__CHAR_VARCHAR_TYPE_STRING", "").startswith("char") or "__COLLATIONS" in metadata:
        return UNKNOWN  # strings that Spark pads, or compares in an order of their own
    return str(field["type"])


def _literal(node: exp.Expr) -> Literal:
    return Literal(node.name, "string") if isinstance(node, exp.RawString) or node.is_string else number(node.name)


def _type_name(type_: exp.DataType) -> str:
    name = str(type_.this.name if hasattr(type_.this, "name") else type_.this)
    if name == "DECIMAL":
        sizes = [int(param.name) for param in type_.expressions]
        return f"decimal({','.join(map(str, (sizes + [10, 0][len(sizes) :])))})"
    return _TYPES.get(name, UNKNOWN)
