"""Preferences among models: a state close to the start, and small values.

Preferences are tried in order, and each that can be met together with those before is kept: first
that a variable is as at the start, else that it is small; then that parameters and arguments are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from lawful.spec import types as t

from ..algebra.term import Term
from ..encode.sorts import NotEncodable
from ..encode.symbolic import State, Value
from ..encode.time import stopped
from ..encode.values import Encoding
from ..obligations import Case, attempt
from ..system import TransitionSystem

SIZES = (0, 1, 2, 3, 5, 10, 100)
KEYS = 12  # Of larger containers, only the first elements are preferred to be small.

Preference = tuple[Term, ...]  # Alternatives: the first that can be met counts.


def preferences(system: TransitionSystem, case: Case) -> Iterator[Preference]:
    """The preferences for a case, the most important first."""
    yield from close_to_start(system, case.before or {})
    for value, kind in case.args.values():
        yield from _of(system.encoding, value, kind)


def close_to_start(system: TransitionSystem, before: State) -> Iterator[Preference]:
    """The preferences for a state, and then for the parameters."""
    encoding = system.encoding
    start = system.run(system.parameters).defaults(system.parameters)
    for v in system.machine.variables:
        if v.name in before:
            yield from _as_at_first(encoding, before[v.name], start.get(v.name), v.type)
    for p in system.machine.parameters:
        yield from _of(encoding, system.parameters[p.name], p.type)


def _as_at_first(
    encoding: Encoding, value: Value, first: Value | None, kind: t.Type
) -> Iterator[Preference]:
    """The condition that the variable is as at the start, if the start gives it a value."""
    if isinstance(first, Term) and isinstance(value, Term):
        same = attempt(encoding.equal, value, first, kind)
        if not isinstance(same, NotEncodable):
            yield (same,)
    yield from _of(encoding, value, kind)


def _of(encoding: Encoding, value: Value, kind: t.Type) -> Iterator[Preference]:
    if isinstance(value, Term):
        with suppress(NotEncodable):
            yield from _small(encoding, value, kind)


def _small(encoding: Encoding, term: Term, kind: t.Type) -> Iterator[Preference]:
    """That a value is small; raises NotEncodable."""
    logic = encoding.logic
    match kind:
        case t.Timer():
            yield (logic.equal(term, stopped(encoding)),)
        case t.Bool():
            yield (logic.negate(term),)
        case t.Int() | t.Clock():
            yield tuple(
                logic.all(
                    (logic.at_most(logic.number(-n), term), logic.at_most(term, logic.number(n)))
                )
                for n in SIZES
            )
        case t.Enum() | t.Sort() if (every := encoding.universe(kind)) is not None:
            yield tuple(logic.equal(term, each) for each in every)
        case t.Union(options=options):
            data = encoding.data(kind)
            order = sorted(range(len(options)), key=lambda i: len(data.variants[i][1]))
            yield tuple(logic.is_variant(data, i, term) for i in order)
        case t.Record() | t.Tuple() | t.Part():
            data, fields = encoding.data(kind), encoding.variants(kind)[0][1]
            for i, (_, of) in enumerate(fields):
                yield from _small(encoding, logic.field(data, 0, i, term), of)
        case t.Seq(item=item):
            rows = encoding.items(term, kind)
            yield tuple(logic.negate(there) for there, _ in rows)
            for _, each in rows:
                yield from _small(encoding, each, item)
        case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item):
            total = isinstance(kind, t.Map) and kind.total
            keys = encoding.keys(kind) if isinstance(kind, t.Map) else encoding.universe(item)
            for key in reversed((keys or [])[:KEYS]):
                there, value = encoding.get(kind, term, key)
                if not total:
                    yield (logic.negate(there),)
                if isinstance(kind, t.Map):
                    yield from _small(encoding, value, kind.value)
        case _:
            pass
