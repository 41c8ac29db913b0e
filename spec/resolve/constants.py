"""Python constants of a module or class -> IR."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .. import ir
from .. import types as t
from ..analysis.partiality import may_be_undefined
from ..analysis.walk import everything
from ..errors import Place, a
from ..records import is_record_value, told_apart
from ..syntax import tree
from ..words import Sort, Timer
from . import tuples
from .context import Body
from .declared.serials import declared


def constant(b: Body, value: Any, place: Place, kind: t.Type | None = None) -> ir.Expr | None:
    """The expression for a constant, or None for an object that is none of the language.

    `kind` is the type that is declared for it, where one is: integers in it may be serial numbers.
    """
    members = _collection(b, value, place, kind)
    if members is not None:
        return members
    match value:
        case bool():
            return ir.Const(place, t.BOOL, value)
        case enum.Enum():
            return ir.Const(place, b.scene.annotation(type(value), place, b.names), value.name)
        case int():
            found = ir.Const(place, t.INT, value)
            return found if kind is None else declared(b, found, kind)
        case float():
            return ir.Const(place, t.FLOAT, value)
        case Sort():
            return ir.Const(place, b.scene.annotation(type(value), place, b.names), str(value))
        case str():
            text = ir.Const(place, t.TEXT, value)
            return text if kind is None else declared(b, text, kind)
        case None:
            return ir.Const(place, t.NOTHING, None)
        case Timer():
            return ir.Const(place, t.Timer(value.urgent), False)
        case _ if is_record_value(value):
            return _record(b, value, place)
        case _:
            return None


def _record(b: Body, value: Any, place: Place) -> ir.Expr | None:
    cls: Any = value.__class__
    kind = b.scene.annotation(cls, place, b.names)
    fields = kind.fields if isinstance(kind, t.Record) else ()
    args = [constant(b, getattr(value, name), place, of) for name, of in fields]
    return None if None in args else ir.Make(place, kind, tuple(a for a in args if a is not None))


def _map(b: Body, value: Mapping[Any, Any], place: Place, kind: t.Type | None) -> ir.Expr | None:
    """A table: its content when the declaration is read, as for any constant."""
    rows = sorted(value.items(), key=lambda row: repr(row[0]))
    maps = [o for o in (() if kind is None else t.options(kind)) if isinstance(o, t.Map)]
    kinds = (maps[0].key, maps[0].value) if maps else (None, None)
    found = [
        constant(b, each, place, of) for row in rows for each, of in zip(row, kinds, strict=True)
    ]
    args = tuple(each for each in found if each is not None)
    if len(args) < len(found) or not args:
        return None
    args = tuple(
        each for row in zip(args[::2], _evened(b, args[1::2]), strict=True) for each in row
    )
    key, of = (_one(b, tuple(dict.fromkeys(each.type for each in args[i::2]))) for i in (0, 1))
    if key is None or of is None or not t.immutable(key):
        return None
    total = complete(args[::2], key)
    return ir.Op(place, t.Map(key, of, mutable=True, total=total), "map", args)


def _evened(b: Body, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """Tuples of several lengths as sequences of one type; other values unchanged."""
    kinds = [arg.type.items for arg in args if isinstance(arg.type, t.Tuple)]
    item = _one(b, tuple(dict.fromkeys(each for kind in kinds for each in kind)))
    if len(kinds) < len(args) or len({*map(len, kinds)}) < 2 or item is None:
        return args
    whole = t.Seq(item, mutable=False, most=max(map(len, kinds)))
    return tuple(ir.Op(arg.place, whole, "tuple", tuples.given(arg)) for arg in args)


def values_by_texts(b: Body, node: tree.Apply, of: tree.Expression) -> ir.Expr | None:
    """`PRICES.values()` of a table that has texts as keys, in its order; None of other values."""
    table: Any = b.static(of)
    if not _has_texts(table) or node.args or node.keywords:
        return None
    return constant(b, tuple(table.values()), node.place)


def _has_texts(table: Any) -> bool:
    """Whether it is a map that has texts as keys."""
    keys: set[Any] = {*table} if issubclass(type(table), Mapping) else set()
    return {type(key) for key in keys} == {str}


def by_member(b: Body, node: tree.Attribute, of: ir.Expr) -> ir.Expr | None:
    """`x.value` or `x.name` of an enum, as a table of its members; None where the values are no
    constants of one type."""
    assert isinstance(of.type, t.Enum)
    cls = b.scene.enums[of.type.name]
    table = _map(b, {member: getattr(member, node.name) for member in cls}, node.place, None)
    if table is None or not isinstance(table.type, t.Map):
        return None
    return ir.Item(node.place, table.type.value, table, of)


def at_text(table: ir.Expr, key: ir.Expr) -> ir.Expr | None:
    """What a table has at a text, where all its keys and this one are written out; else None.

    It is found here because engines have one value for all text.
    """
    match table, key:
        case ir.Op(op="map", args=args), ir.Const(type=t.Text()):
            if any(may_be_undefined(node) for node in everything(args)):
                return None
            values = [v for k, v in zip(args[::2], args[1::2], strict=True) if k == key]
            known = all(isinstance(each, ir.Const) for each in args[::2])
            return values[-1] if known and values else None
        case ir.Op(op="map", args=args), ir.Item(of=ir.Op(op="map", args=texts), key=of):
            return _by_texts(table, (texts[::2], texts[1::2]), of)
        case _:
            return None


def _by_texts(
    table: ir.Expr, rows: tuple[Sequence[ir.Expr], Sequence[ir.Expr]], of: ir.Expr
) -> ir.Expr | None:
    """`PRICES[plan.value]`, where the texts of the members are written out: a table by members.

    A member whose text is no key has no value there, as in Python.
    """
    found = [(member, at_text(table, text)) for member, text in zip(*rows, strict=True)]
    there = [(member, value) for member, value in found if value is not None]
    if not isinstance(table.type, t.Map) or not there:
        return None
    total = len(there) == len(found) and complete([member for member, _ in there], of.type)
    kind = t.Map(of.type, table.type.value, mutable=True, total=total)
    by = ir.Op(table.place, kind, "map", tuple(each for row in there for each in row))
    return ir.Item(table.place, kind.value, by, of)


def complete(keys: Sequence[ir.Expr], kind: t.Type) -> bool:
    """Whether keys that are written out are all of a finite type."""
    given = {key.value for key in keys if isinstance(key, ir.Const)}
    match kind:
        case t.Enum(members=members):
            return given == set(members)
        case t.Bool():
            return given == {False, True}
        case t.Int(low=int() as low, high=int() as high):
            return given == set(range(low, high + 1))
        case _:
            return False


def _one(b: Body, kinds: tuple[t.Type, ...]) -> t.Type | None:
    """The one type that all of these fit, or the union of records and None."""
    for kind in sorted(kinds, key=lambda kind: t.contains(kind, t.Unknown)):
        if all(t.fits(other, kind) for other in kinds):
            return kind
    joined = t.union(kinds)
    return joined if told_apart(joined, b.scene.records) else None


def _collection(b: Body, value: Any, place: Place, of: t.Type | None) -> ir.Expr | None:
    kind: Any = value.__class__
    if kind in (dict, MappingProxyType):
        return _map(b, value, place, of)
    if kind not in (tuple, frozenset, list, set):
        return None
    # The order of a set's members must not depend on the hash seed.
    unordered = kind in (frozenset, set)
    members: list[Any] = sorted(value, key=repr) if unordered else [*value]
    kinds = _inside(of, len(members))
    pairs = zip(members, kinds, strict=True)
    args = [constant(b, member, place, each) for member, each in pairs]
    known = tuple(arg for arg in args if arg is not None)
    if len(known) != len(args):
        return None
    if not unordered:
        several = [o for o in (() if of is None else t.options(of)) if isinstance(o, t.Seq)]
        items = t.Tuple(tuple(arg.type for arg in known))
        return ir.Op(place, several[0] if several else items, "tuple", known)
    item = t.union(tuple(arg.type for arg in known)) if known else _item(of)
    return ir.Op(place, t.Set(item, mutable=False), "set", known)


def _item(kind: t.Type | None) -> t.Type:
    """What an empty set would hold where one of this type is declared."""
    inside = [o.item for o in (() if kind is None else t.options(kind)) if isinstance(o, t.Set)]
    return inside[0] if inside else t.Unknown()


def _inside(kind: t.Type | None, count: int) -> Sequence[t.Type | None]:
    """The declared types of so many members of a tuple or set."""
    for option in () if kind is None else t.options(kind):
        match option:
            case t.Seq(item=item) | t.Set(item=item):
                return [item] * count
            case t.Tuple(items=items) if len(items) == count:
                return items
            case _:
                pass
    return [None] * count


# What to write instead of constants that are no values of the language.
CONSTANTS = {
    "Decimal": "count the smallest unit in integers: LIMIT = 300, in cents",
    "Fraction": "count the smallest unit in integers",
    "timedelta": "write timedelta(minutes=1).total_seconds(): a Param[float], or an integer",
    "datetime": "count seconds in integers: START = int(when.timestamp())",
    "deque": "make it a tuple",
    "range": "keep the ends, in a tuple of two: low, high = LIMITS[k]; then range(low, high)",
    "defaultdict": "make it a dict with every key",
    "Counter": "make it a dict",
}


def _range(value: range, place: Place) -> ir.Expr:
    written = tuple(ir.Const(place, t.INT, each) for each in (value.start, value.stop, value.step))
    return ir.Op(place, t.Iter(t.INT, True), "range", written[: 2 + (value.step != 1)])


def named_constant(
    b: Body, value: Any, place: Place, text: str, kind: t.Type | None = None
) -> ir.Expr:
    """The expression for a constant that the declaration names; a problem for other objects."""
    # A range is no value: no table has one inside.
    found = _range(value, place) if isinstance(value, range) else constant(b, value, place, kind)
    if found is None:
        b.problem(
            "L201",
            place,
            f"{text}, {a(type(value).__name__)}",
            "a constant: bool, int, enum member, record, range; a tuple, list, set or dict",
            _instead(value)
            or "pass it as a parameter of the event, or make it a constant of the module",
        )
        return b.wrong(place)
    return found


def _instead(value: Any) -> str | None:
    """What to write instead of such a constant, or of the first such thing in it."""
    found = CONSTANTS.get(type(value).__name__)
    whole: Any = value
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = [*whole, *whole.values()]
    elif isinstance(value, tuple | list | set | frozenset):
        inside = [*whole]
    return found or next(filter(None, map(_instead, inside)), None)


def field_of_constant(b: Body, node: tree.Attribute) -> t.Type | None:
    """The declared type of a constant that is a field of a constant record."""
    owner: Any = b.static(node.of)
    if not is_record_value(owner):
        return None
    kind = b.scene.annotation(owner.__class__, node.place, b.names)
    return dict(kind.fields).get(node.name) if isinstance(kind, t.Record) else None
