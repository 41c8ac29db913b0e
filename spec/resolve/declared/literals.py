"""Texts that a declaration writes out, where a `Literal` is expected: its members.

Text alone is opaque to exploration and proofs. What is written out in a body or in a constant of
the module becomes a member where the type beside it says so.
"""

from __future__ import annotations

import dataclasses

from ... import ir, ops
from ... import types as t
from ..context import Body


def as_members(b: Body, found: ir.Expr, kind: t.Type) -> ir.Expr:
    """The expression with its texts as members of the literals in `kind`.

    A problem is noted for a text that is no member where nothing but a member can stand.
    """
    for option in t.options(kind):
        made = _inside(b, found, option)
        if made is not None:
            return made
    literals = [o for o in t.options(kind) if isinstance(o, t.Literal)]
    if not literals or not _is_text(found) or t.TEXT in t.options(kind):
        return found
    texts = ", ".join(repr(text) for each in literals for text in each.members)
    rewrite = "write one of these, or add it to the Literal"
    b.problem("L203", found.place, _shown(found), f"one of {texts}", rewrite)
    return b.wrong(found.place)


def as_text(b: Body, found: ir.Expr, kind: t.Type) -> ir.Expr:
    """A text of a `Literal`, or a member of an enum that is text, as plain text where that is put
    out; any other value unchanged."""
    of = found.type
    if t.TEXT not in t.options(kind) or not isinstance(of, t.Literal | t.Enum) or t.fits(of, kind):
        return found
    if isinstance(of, t.Literal):
        return ir.Format(found.place, t.TEXT, (found,))
    texts = [(m.name, str.__str__(m)) for m in b.scene.enums[of.name] if isinstance(m, str)]
    if not texts:
        return found
    place = found.place
    row = [(ir.Const(place, of, name), ir.Const(place, t.TEXT, text)) for name, text in texts]
    members = ir.Op(
        place,
        t.Map(of, t.TEXT, mutable=True, total=True),
        "map",
        tuple(each for both in row for each in both),
    )
    return ir.Item(place, t.TEXT, members, found)


def among(b: Body, found: ir.Expr, item: t.Type) -> ir.Expr:
    """A collection that is written out, in which one of `item` is looked for."""
    if not any(isinstance(o, t.Literal) for o in t.options(item)) or not _has_text(found.type):
        return found
    match found:
        case ir.Op(type=t.Map() as kind):
            return as_members(b, found, dataclasses.replace(kind, key=item))
        case ir.Op(type=t.Tuple(items=items)):
            return as_members(b, found, t.Tuple((item,) * len(items)))
        case ir.Op(type=t.Seq() | t.Set() as kind):
            return as_members(b, found, dataclasses.replace(kind, item=item))
        case _:
            return found


def table(b: Body, found: ir.Expr, key: t.Type, value: t.Type | None) -> ir.Expr:
    """A table that is written out, from whose texts one of `key` is looked up."""
    if not isinstance(key, t.Literal) or not isinstance(found, ir.Op):
        return found
    if not isinstance(found.type, t.Map) or found.type.key != t.TEXT:
        return found
    kind = dataclasses.replace(found.type, key=key, value=value or found.type.value)
    made = as_members(b, found, kind)
    if isinstance(made, ir.Op) and isinstance(made.type, t.Map):
        total = complete(made.args[::2], key)
        return dataclasses.replace(made, type=dataclasses.replace(made.type, total=total))
    return made


def complete(keys: tuple[ir.Expr, ...], key: t.Literal) -> bool:
    """Whether the keys are all members."""
    return {each.value for each in keys if isinstance(each, ir.Const)} == set(key.members)


def _inside(b: Body, found: ir.Expr, kind: t.Type) -> ir.Expr | None:
    """The same for one alternative of a type; None where nothing becomes a member."""
    match found, kind:
        case ir.Const(type=t.Text(), value=value), t.Literal(members=texts) if value in texts:
            return dataclasses.replace(found, type=kind)
        case ir.Op(op=op, type=of, args=args), _ if op in ops.DISPLAYS and _has_text(of):
            items = _items(kind, len(args))
            if items is None:
                return None
            made = tuple(as_members(b, a, k) for a, k in zip(args, items, strict=True))
            return dataclasses.replace(found, args=made, type=_of_items(of, made))
        case ir.Op(op="map", type=t.Map() as of, args=args), t.Map(key=key, value=value):
            if not _has_text(of):
                return None
            pairs = zip(args, (key, value) * (len(args) // 2), strict=True)
            made = tuple(as_members(b, a, k) for a, k in pairs)
            keys, values = (t.union(tuple(a.type for a in made[i::2])) for i in (0, 1))
            return dataclasses.replace(
                found, args=made, type=dataclasses.replace(of, key=keys, value=values)
            )
        case _:
            return None


def _items(kind: t.Type, count: int) -> tuple[t.Type, ...] | None:
    match kind:
        case t.Seq(item=item) | t.Set(item=item):
            return (item,) * count
        case t.Tuple(items=items) if len(items) == count:
            return items
        case _:
            return None


def _of_items(kind: t.Type, args: tuple[ir.Expr, ...]) -> t.Type:
    """The type of a display with other items."""
    match kind:
        case t.Seq() | t.Set():
            return dataclasses.replace(kind, item=t.union(tuple(a.type for a in args)))
        case _:
            return t.Tuple(tuple(a.type for a in args))


def _is_text(found: ir.Expr) -> bool:
    return isinstance(found, ir.Const) and found.type == t.TEXT


def _has_text(kind: t.Type) -> bool:
    return t.contains(kind, t.Text)


def _shown(found: ir.Expr) -> str:
    return repr(found.value) if isinstance(found, ir.Const) else str(found.type)
