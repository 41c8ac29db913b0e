"""Text that is made of values: f-strings and the formats in them."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from typing import TypeGuard

from ... import ir
from ... import types as t
from ...errors import a
from ...records import fields_of
from ...syntax import tree
from ..context import Body, Resolver
from ..expressions import expr
from ..families import gathered

# Formats that every value of a type has. A character's number, and a fraction of an integer, have
# no text for some integers.
_ALIGNED, _WIDTH = r"(.?[<>^])?", r"\d{0,3}"
FORMATS: dict[type[t.Type], str] = {
    t.Int: rf"(.?[<>=^])?[-+ ]?#?0?{_WIDTH}[,_]?[bdoxX]?",
    t.Float: rf"(.?[<>=^])?[-+ ]?0?{_WIDTH}[,_]?(\.\d{{1,2}})?[eEfFgG%]?",
    t.Text: rf"{_ALIGNED}{_WIDTH}(\.\d{{1,2}})?s?",
}
EXAMPLES: dict[type[t.Type], object] = {t.Int: 0, t.Float: 0.0, t.Text: ""}


def _interpolated(b: Body, node: tree.Interpolated, expected: t.Type | None) -> ir.Expr:
    parts = tuple(_as_text(b, expr(b, _spoken(part))) for part in node.parts)
    for part in parts:
        if t.contains(part.type, t.Part):
            gathered(b, part.place, part.type)
    return ir.Format(node.place, t.TEXT, parts)


def _as_text(b: Body, of: ir.Expr) -> ir.Expr:
    """A value in an f-string. A member of an enum that has texts of its own, a `StrEnum` say, is
    looked up in a table of them: an engine that has only the IR does not have the class."""
    none = t.NOTHING in t.options(of.type)
    kind = t.union(tuple(o for o in t.options(of.type) if o != t.NOTHING)) if none else of.type
    classes = [b.scene.enums[o.name] for o in t.options(kind) if type(o) is t.Enum]
    own = [cls for cls in classes if any(str(m) != f"{cls.__name__}.{m.name}" for m in cls)]
    told = any(format(member) != str(member) for cls in classes for member in cls) or any(
        _speaks(b.scene.records[o.name]) for o in t.options(kind) if isinstance(o, t.Record)
    )
    if told or (own and not isinstance(kind, t.Enum)):
        b.problem(
            "L103",
            of.place,
            f"{a(of.type)} in text, of which the class says how it is written",
            "a value that Python writes in its usual way",
            "write what is meant: x.name, x.value, or each field",
        )
        return b.wrong(of.place)
    if not own:
        return of
    texts = ((ir.Const(of.place, kind, m.name), ir.Const(of.place, t.TEXT, str(m))) for m in own[0])
    table = ir.Op(
        of.place,
        t.Map(kind, t.TEXT, mutable=True, total=True),
        "map",
        tuple(each for row in texts for each in row),
    )
    if not none:
        return ir.Item(of.place, t.TEXT, table, of)
    there = ir.Item(of.place, t.TEXT, table, ir.Narrow(of.place, kind, of))
    absent = ir.IsA(of.place, t.BOOL, of, (t.NOTHING,))
    return ir.If(of.place, t.TEXT, absent, ir.Const(of.place, t.TEXT, "None"), there)


def _speaks(cls: type) -> bool:
    """Whether a record has a method of its own that makes its text, or leaves fields out of it."""
    own = any(name in vars(each) for each in cls.__mro__[:-1] for name in ("__str__", "__format__"))
    if own or not hasattr(cls.__repr__, "__wrapped__"):  # A dataclass wraps the one it makes.
        return True
    return not all(field.repr for field in fields_of(cls))


def _spoken(node: tree.Expression) -> tree.Expression:
    """`{n if n else '-'}`: where one side is text that is written out, the text of the other."""
    if not isinstance(node, tree.Conditional) or not _has_text(node):
        return node
    then, other = (
        side if _has_text(side) else tree.Interpolated(side.place, (side,))
        for side in map(_spoken, (node.then, node.other))
    )
    return dataclasses.replace(node, then=then, other=other)


def _has_text(node: tree.Expression) -> bool:
    match node:
        case tree.Literal(value=str()) | tree.Interpolated():
            return True
        case tree.Conditional(then=then, other=other):
            return _has_text(then) or _has_text(other)
        case _:
            return False


def _formatted(b: Body, node: tree.Formatted, expected: t.Type | None) -> ir.Expr:
    of = expr(b, node.value)
    if isinstance(of.type, t.Unknown):
        return of
    if node.spec == tree.QUOTED:
        return _quoted(b, of)
    kind = t.Int if isinstance(of.type, t.Serial) else type(of.type)
    pattern = FORMATS.get(kind)
    plain = not set(node.spec) & set("'\"{}\\\n") and node.spec.isprintable()
    if pattern is not None and plain and re.fullmatch(pattern, node.spec):
        with contextlib.suppress(ValueError):
            format(EXAMPLES[kind], node.spec)
            spec = ir.Const(node.place, t.TEXT, node.spec)
            return ir.Op(node.place, t.TEXT, "format", (of, spec))
    b.problem(
        "L103",
        node.place,
        f"{a(of.type)} in the format {node.spec!r}",
        "of integers a width, a sign or a base, {n:>4}; of text a width, {word:<8}",
        "leave out the format; of another value write its text: {x!s:>8}",
    )
    return b.wrong(node.place)


def _quoted(b: Body, of: ir.Expr) -> ir.Expr:
    """`repr` of an integer or a bool, which is its text, and of texts that are written out."""
    match of:
        case ir.Expr(type=t.Int() | t.Bool()):
            return ir.Format(of.place, t.TEXT, (of,))
        case ir.Const(type=t.Text(), value=value):
            return ir.Const(of.place, t.TEXT, repr(value))
        case ir.Item(type=t.Text(), of=ir.Op(op="map", args=args) as table, key=key):
            # The texts of an enum's members, `status.value`.
            rows = [ir.Const(of.place, t.TEXT, repr(v.value)) for v in args[1::2] if _written(v)]
            if 2 * len(rows) == len(args):
                both = tuple(each for row in zip(args[::2], rows, strict=True) for each in row)
                return ir.Item(of.place, t.TEXT, dataclasses.replace(table, args=both), key)
        case _:
            pass
    b.problem(
        "L103",
        of.place,
        f"{a(of.type)} with !r",
        "an integer, a bool, or the text of an enum's member",
        "leave out the !r",
    )
    return b.wrong(of.place)


def _written(e: ir.Expr) -> TypeGuard[ir.Const]:
    return isinstance(e, ir.Const) and isinstance(e.value, str)


ROWS: dict[type[tree.Tree], Resolver] = {
    tree.Interpolated: _interpolated,
    tree.Formatted: _formatted,
}
