"""Places: the expressions that name a location in the state or in a local.

    place := Self | Local | Field(of: place) | Item(of: place) | Narrow(of: place)

A place is read from its end to its root: `self.m[k].x` ends in the field `x` and begins at `Self`.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir, ops
from .. import types as t
from .different_keys import NONE, Pairs, known_different
from .walk import everything


def prefixes(place: ir.Expr) -> Iterator[ir.Expr]:
    """The place and every place that contains it, up to its root."""
    yield place
    while isinstance(place, ir.Field | ir.Item | ir.Narrow):
        place = place.of
        yield place


def root(place: ir.Expr) -> ir.Expr:
    """The expression at which a place begins: `Self`, a local, or another expression, which is no
    place."""
    while isinstance(place, ir.Field | ir.Item | ir.Narrow):
        place = place.of
    return place


def is_place(e: ir.Expr) -> bool:
    """Whether the expression names a location in the state or in a local."""
    return isinstance(root(e), ir.Self | ir.Local)


def in_state(e: ir.Expr) -> bool:
    """Whether the expression is the machine itself or a location in its state."""
    return isinstance(root(e), ir.Self)


def in_machine(e: ir.Expr) -> bool:
    """Whether the location is in a machine: this one, or one that a local refers to."""
    base = root(e)
    return isinstance(base, ir.Self) or (
        isinstance(base, ir.Local) and isinstance(base.type, t.Part)
    )


def viewed(e: ir.Expr) -> ir.Expr:
    """The map of which an expression has the keys, values or items; of another one itself."""
    match e:
        case ir.Op(op="frozenset_of", args=(ir.Op(op="keys", args=(of,)),)):
            return of
        case ir.Op(op=op, args=(of,)) if op in ops.MAP_VIEWS:
            return of
        case _:
            return e


def local_of(place: ir.Expr) -> str | None:
    """The local in which a place lies; None for places in the state."""
    base = root(place)
    return base.name if isinstance(base, ir.Local) else None


def holder(place: ir.Expr) -> ir.Expr:
    """The variable, local or part whose value contains the place."""
    while isinstance(place, ir.Item | ir.Narrow):
        place = place.of
    return place


def variable_of(place: ir.Expr) -> str | None:
    """The variable of this machine in which a place lies; None for locals and inside parts."""
    for each in prefixes(place):
        match each:
            case ir.Field(of=ir.Self(), name=name):
                return name
            case ir.Field(of=of) | ir.Item(of=of) | ir.Narrow(of=of) if isinstance(of.type, t.Part):
                return None
            case _:
                pass
    return None


def outer_variable_of(place: ir.Expr) -> str | None:
    """The variable of this machine in which a place lies, inside a part or not; None for locals."""
    for each in prefixes(place):
        if isinstance(each, ir.Field) and isinstance(each.of, ir.Self):
            return each.name
    return None


def part_on_the_way(place: ir.Expr) -> t.Part | None:
    """The part, other than this machine, of which the place names a field; the innermost one."""
    for each in prefixes(place):
        match each:
            case ir.Field(of=ir.Self()):
                pass
            case ir.Field(of=ir.Expr(type=t.Part() as part)):
                return part
            case _:
                pass
    return None


def changed_by_steps_of_parts(place: ir.Expr) -> bool:
    """Whether a step of a part may put another value here: the place lies inside a part."""
    inside = isinstance(place, ir.Item) or not isinstance(place.type, t.Part)
    for each in prefixes(place):
        if each is place:
            continue
        if inside and isinstance(each.type, t.Part) and not isinstance(each, ir.Self):
            return True
        inside = inside or isinstance(each, ir.Item)
    return False


def mentions(e: ir.Expr, place: ir.Expr) -> bool:
    """Whether the expression reads the place."""
    return place in everything((e,))


def may_pass(place: ir.Expr, through: ir.Expr, below: bool, different: Pairs = NONE) -> bool:
    """Whether a place may be `through` or lie inside it; with `below`, lie inside it.

    Two keys may be equal unless both are constants that differ or they are one of the `different`
    pairs.
    """
    way, wanted = steps(place), steps(through)
    if len(way) < len(wanted) + below:
        return False
    return all(_may_be_one(a, b, different) for a, b in zip(way, wanted, strict=False))


def may_be(place: ir.Expr, other: ir.Expr, different: Pairs) -> bool:
    """Whether two places may be one."""
    return len(steps(place)) == len(steps(other)) and may_pass(place, other, False, different)


def steps(place: ir.Expr) -> list[ir.Expr]:
    """The fields and items that lead from the root of a place to its end."""
    return [step for step in reversed([*prefixes(place)]) if not isinstance(step, ir.Narrow)]


def _may_be_one(a: ir.Expr, b: ir.Expr, different: Pairs) -> bool:
    """Whether the last step to two places that start alike may be the same."""
    match a, b:
        case ir.Item(of=of, key=ir.Const(value=one)), ir.Item(key=ir.Const(value=other)):
            # An index of a list may count from its end.
            counted = isinstance(of.type, t.Seq) and "-" in f"{one}{other}"
            return counted or one == other
        case ir.Item(of=of, key=one), ir.Item(key=other):
            return not known_different(one, other, different) or (
                isinstance(of.type, t.Seq) and not (_from_start(one) and _from_start(other))
            )
        case ir.Field(name=one), ir.Field(name=other):
            return one == other
        case _:
            return a == b


def _from_start(index: ir.Expr) -> bool:
    """Whether an index of a list cannot count from its end."""
    if isinstance(index, ir.Const):
        return isinstance(index.value, int) and index.value >= 0
    return isinstance(index.type, t.Int) and index.type.low is not None and index.type.low >= 0
