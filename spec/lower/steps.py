"""The steps that no declaration names: `tick`, the growth of sorts, and the events that no
transition takes.

An event that all its transitions refuse goes to its `ignore`s. Their conditions may have no value,
which is a fault of the event though no transition runs. A step of its own has this fault, so that
every engine finds it like any other: it is refused wherever the event is taken, ignored or refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from .. import ir
from .. import types as t
from ..analysis.partiality import always_defined
from ..flat import Timed
from ..values.time import with_ticks
from .growth import with_growth


def with_all_steps(machine: ir.Machine) -> Timed:
    """The machine with the step `tick`, those of its `ignore`s and those in which sorts grow; it
    may have them already."""
    return Timed(with_growth(_with_ignored_events(with_ticks(machine))))


def _with_ignored_events(machine: ir.Machine) -> ir.Machine:
    if any(map(machine.is_of_ignores, machine.transitions)):
        return machine
    rows: list[ir.Transition] = []
    functions: list[ir.Function] = []
    for event in machine.events:
        ignores = _judged([row for row in machine.ignores if row.event == event.name])
        if ignores:
            rows.append(_step(machine, event, ignores))
            whens = [(row.name, row.when) for row in ignores]
            functions += [_condition(name, when) for name, when in whens if when is not None]
    return dataclasses.replace(
        machine,
        transitions=(*machine.transitions, *rows),
        functions=(*machine.functions, *functions),
    )


def _judged(ignores: list[ir.Ignore]) -> list[ir.Ignore]:
    """The `ignore`s of one event up to the last whose condition may have no value."""
    partial = [i for i, row in enumerate(ignores) if row.when is not None and _partial(row.when)]
    return ignores[: partial[-1] + 1] if partial else []


def _partial(when: ir.Function) -> bool:
    (only,) = when.body
    return isinstance(only, ir.Return) and only.value is not None and not always_defined(only.value)


def _condition(name: str, when: ir.Function) -> ir.Function:
    return dataclasses.replace(when, name=_named(name))


def _named(ignore: str) -> str:
    return f"when {ignore}"  # No helper of a declaration has a space in its name.


def _step(machine: ir.Machine, event: ir.Event, ignores: list[ir.Ignore]) -> ir.Transition:
    """The step that evaluates the conditions where no transition takes the event.

    It has the name of an `ignore`, which no transition has.
    """
    first = ignores[0]
    params = event.params
    given = tuple(ir.Local(first.place, kind, name) for name, kind in params)
    taken = ir.Enabled(first.place, t.BOOL, event.name, given)
    body = [_refused(taken, "a transition takes it")]
    body += [_refused(_matches(machine, row, given), row.because) for row in ignores]
    body.append(_refused(ir.Const(first.place, t.BOOL, True), "nothing takes it"))
    function = ir.Function(first.place, first.name, params, t.NOTHING, tuple(body))
    return ir.Transition(
        first.place, first.name, event.name, None, None, None, None, function, first.because
    )


def _refused(test: ir.Expr, why: str) -> ir.Stmt:
    """Refuse where the test is true; no `require`, by which arguments would be narrowed."""
    refuse = ir.Refuse(test.place, ir.Const(test.place, t.TEXT, why))
    return ir.Branch(test.place, test, (refuse,), ())


def _matches(machine: ir.Machine, row: ir.Ignore, given: tuple[ir.Expr, ...]) -> ir.Expr:
    """Whether the `ignore` accepts the event."""
    tests = [*_sources(machine, row)]
    if row.when is not None:
        me = ir.Self(row.place, t.Part(machine.name))
        tests.append(ir.Call(row.when.place, t.BOOL, _named(row.name), me, given))
    if not tests:
        return ir.Const(row.place, t.BOOL, True)
    return tests[0] if len(tests) == 1 else ir.And(row.place, t.BOOL, tuple(tests))


def _sources(machine: ir.Machine, row: ir.Ignore) -> Iterator[ir.Expr]:
    if row.source is None:
        return
    kind = next(v.type for v in machine.variables if v.name == "state")
    now = ir.Field(row.place, kind, ir.Self(row.place, t.Part(machine.name)), "state")
    states = [ir.Const(row.place, kind, name) for name in row.source]
    same = tuple(ir.Op(row.place, t.BOOL, "eq", (now, state)) for state in states)
    yield same[0] if len(same) == 1 else ir.Or(row.place, t.BOOL, same)
