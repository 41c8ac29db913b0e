"""Time as terms: the ticks left on a timer, and the effect of a tick on clocks and timers.

With the step `tick`, a timer is the number of ticks until it is due, 0 when it is due, and negative
when it does not run. Without it, a timer that is armed is always due. A part has a term for the
clock of its whole, because a part is a value of its own; the clocks always agree (`same_time`).
"""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import types as t

from ..algebra.term import Term
from .sorts import NotEncodable
from .symbolic import Composite, Unencodable, Value
from .values import Encoding

# Single timers.


def stopped(encoding: Encoding) -> Term:
    """A timer that does not run."""
    return encoding.logic.number(-1) if encoding.tick else encoding.logic.false


def armed(encoding: Encoding, timer: Term) -> Term:
    """Whether a timer runs."""
    logic = encoding.logic
    return logic.at_most(logic.number(0), timer) if encoding.tick else timer


def due(encoding: Encoding, timer: Term) -> Term:
    """Whether a timer runs and may fire."""
    logic = encoding.logic
    return logic.equal(timer, logic.number(0)) if encoding.tick else timer


def started(encoding: Encoding, seconds: Term) -> Term:
    """A timer started with so many seconds, as `spec.ticks.until_due` defines it."""
    logic, tick = encoding.logic, encoding.tick
    if not tick:
        return logic.true
    if seconds.shape is logic.real:
        ago = logic.floor(logic.times(logic.exactly(-1 / tick), seconds))
    else:
        ago = logic.times(logic.number(-tick.denominator), seconds)
        if tick.numerator > 1:
            ago = logic.floor_divide(ago, logic.number(tick.numerator))
    return logic.choose(logic.at_most(logic.number(0), ago), logic.number(0), logic.negative(ago))


# Whole states.


def has_time(encoding: Encoding, kind: t.Type) -> bool:
    """Whether a tick changes values of the type: clocks, timers, and parts that have them."""
    match kind:
        case t.Clock() | t.Timer() | t.Map(value=t.Timer()):
            return True
        case _:
            part = t.part_of(kind)
            inner = () if part is None else encoding.inner(part.machine).variables
            return any(has_time(encoding, v.type) for v in inner)


def same_time(encoding: Encoding, value: Term, kind: t.Type, now: Term) -> Term:
    """Whether the clocks in a part, or in every part of a family, say `now`."""
    logic = encoding.logic
    if isinstance(kind, t.Clock):
        return logic.equal(value, now)
    if t.part_of(kind) is None:
        return logic.true
    if isinstance(kind, t.Map):
        return logic.all(
            logic.forall(names, there, same_time(encoding, part, kind.value, now))
            for names, there, part, _ in entries(encoding, value, kind)
        )
    return logic.all(same_time(encoding, v, of, now) for v, of in _fields(encoding, value, kind))


def late(encoding: Encoding, value: Value, kind: t.Type) -> Term:
    """Whether an urgent timer in a value is due: then no tick is possible."""
    logic = encoding.logic
    if not has_time(encoding, kind):
        return logic.false
    if isinstance(value, Composite):
        kinds = [of for _, of in encoding.variants(kind)[0][1]]
        return logic.any(late(encoding, v, of) for v, of in zip(value.fields, kinds, strict=True))
    if not isinstance(value, Term):
        raise NotEncodable(value.why if isinstance(value, Unencodable) else f"time in a {kind}")
    match kind:
        case t.Timer(urgent=urgent):
            return due(encoding, value) if urgent else logic.false
        case t.Map(value=of):
            return logic.any(
                logic.exists(names, logic.all((there, late(encoding, held, of))))
                for names, there, held, _ in entries(encoding, value, kind)
            )
        case t.Part():
            return logic.any(late(encoding, v, of) for v, of in _fields(encoding, value, kind))
        case _:
            return logic.false


def later(encoding: Encoding, value: Value, kind: t.Type, now: Term) -> Value:
    """The value after a tick to the time `now`."""
    if not has_time(encoding, kind):
        return value
    if isinstance(value, Composite):
        kinds = [of for _, of in encoding.variants(kind)[0][1]]
        pairs = zip(value.fields, kinds, strict=True)
        return Composite(tuple(later(encoding, v, of, now) for v, of in pairs))
    if not isinstance(value, Term):
        raise NotEncodable(value.why if isinstance(value, Unencodable) else f"time in a {kind}")
    return _later(encoding, value, kind, now)


def _later(encoding: Encoding, value: Term, kind: t.Type, now: Term) -> Term:
    logic = encoding.logic
    match kind:
        case t.Clock():
            return now
        case t.Timer():
            one_less = logic.add(value, logic.number(-1))
            return logic.choose(logic.at_most(logic.number(1), value), one_less, value)
        case t.Map(key=key_type, value=of, total=total):
            key = logic.fresh("k", encoding.shape(key_type))
            there, held = encoding.get(kind, value, key)
            after = _later(encoding, held, of, now)
            if total:
                return logic.by_cases(key, after)
            some, none = encoding.present(of, after), encoding.absent(of)
            return logic.by_cases(key, logic.choose(there, some, none))
        case t.Part():
            args = [_later(encoding, v, of, now) for v, of in _fields(encoding, value, kind)]
            return logic.make(encoding.data(kind), 0, args)
        case _:
            return value


def _fields(encoding: Encoding, part: Term, kind: t.Type) -> Iterator[tuple[Term, t.Type]]:
    data = encoding.data(kind)
    for i, (_, of) in enumerate(encoding.variants(kind)[0][1]):
        yield encoding.logic.field(data, 0, i, part), of


def entries(
    encoding: Encoding, value: Term, kind: t.Map
) -> Iterator[tuple[list[Term], Term, Term, Term]]:
    """The entries of a map: the bound names, whether the key exists, its value, and the key."""
    keys = encoding.keys(kind) if kind.total else encoding.universe(kind.key)
    if keys is None:
        key = encoding.logic.fresh("k", encoding.shape(kind.key))
        yield [key], *encoding.held(kind, value, key), key
        return
    for key in keys:
        yield [], *encoding.held(kind, value, key), key
