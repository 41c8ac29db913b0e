"""What is true of values in every state: their bounds, and that the clocks of parts tell one time.

A part shares its whole's clock: made at its time, it goes on with it. Both are terms all the same,
because a part is a value of its own.
"""

from __future__ import annotations

from lawful.spec import types as t

from .encode import Encoding
from .shapes import NotEncodable
from .symbols import Made, Many, Missing, Value, Whole
from .term import Term


def inside(encoding: Encoding, value: Value, kind: t.Type) -> Term:
    """Whether a value keeps its type's bounds; what has no term, element by element."""
    match value:
        case Many(rows=rows, item=item):
            wanted, logic = t.element(kind) or item, encoding.logic
            each = [logic.forall(r.names, r.when, inside(encoding, r.value, wanted)) for r in rows]
            if isinstance(kind, t.Seq) and kind.most is not None:
                each.append(logic.at_most(_length(encoding, value), logic.number(kind.most)))
            return logic.all(each)
        case Made(fields=fields):
            whole = encoding.product(kind, len(fields))
            kinds = [of for _, of in encoding.variants(whole)[0][1]]
            pairs = zip(fields, kinds, strict=True)
            return encoding.logic.all(inside(encoding, v, k) for v, k in pairs)
        case Missing() | Whole():
            return encoding.logic.true
        case _:
            return encoding.bounds(value, kind)


def _length(encoding: Encoding, many: Many) -> Term:
    logic = encoding.logic
    if not many.listed:
        raise NotEncodable("the length of a sequence without a bound")
    one, none = logic.number(1), logic.number(0)
    return logic.add(none, *(logic.choose(row.when, one, none) for row in many.rows))


# Time in parts.


def has_clock(encoding: Encoding, kind: t.Type) -> bool:
    """Whether values of the type are parts with a clock, at any depth."""
    part = t.part_of(kind)
    if part is None:
        return False
    types = [v.type for v in encoding.inner(part.machine).variables]
    return any(isinstance(of, t.Clock) or has_clock(encoding, of) for of in types)


def same_time(encoding: Encoding, value: Term, kind: t.Type, now: Term) -> Term:
    """Whether the clocks in a part, or in every part of a family, say `now`."""
    logic = encoding.logic
    if isinstance(kind, t.Clock):
        return logic.equal(value, now)
    if not has_clock(encoding, kind):
        return logic.true
    if isinstance(kind, t.Map):
        keys = encoding.universe(kind.key)
        if keys is None:
            key = logic.fresh("k", encoding.shape(kind.key))
            there, part = encoding.held(kind, value, key)
            return logic.forall([key], there, same_time(encoding, part, kind.value, now))
        each = [encoding.held(kind, value, key) for key in keys]
        return logic.all(
            logic.implies(there, same_time(encoding, part, kind.value, now))
            for there, part in each
        )
    fields = enumerate(encoding.variants(kind)[0][1])
    data = encoding.data(kind)
    return logic.all(
        same_time(encoding, logic.field(data, 0, i, value), of, now) for i, (_, of) in fields
    )


def set_clocks(encoding: Encoding, value: Term, kind: t.Type, now: Term) -> Term:
    """The part, or family, whose clocks say `now`."""
    logic = encoding.logic
    if isinstance(kind, t.Clock):
        return now
    if not has_clock(encoding, kind):
        return value
    if isinstance(kind, t.Map):
        key = logic.fresh("k", encoding.shape(kind.key))
        there, part = encoding.get(kind, value, key)
        after = set_clocks(encoding, part, kind.value, now)
        if kind.total:
            return logic.by_cases(key, after)
        some, none = encoding.present(kind.value, after), encoding.absent(kind.value)
        return logic.by_cases(key, logic.choose(there, some, none))
    data, fields = encoding.data(kind), enumerate(encoding.variants(kind)[0][1])
    args = [set_clocks(encoding, logic.field(data, 0, i, value), of, now) for i, (_, of) in fields]
    return logic.make(data, 0, args)
