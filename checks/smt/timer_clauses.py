"""Candidate invariants about timers, derived from the statements that start them.

A timer that a body starts is due after at most so many seconds until it fires; or after so many
seconds from the tick in another variable, one that is assigned `clock.now`.
`checks.prove.timer_invariants` shows which of these clauses are true in every state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import machines_in
from lawful.spec.analysis.places import holder
from lawful.spec.analysis.walk import everything, statements
from lawful.spec.text.statements import expr as text

from .algebra.term import Term
from .encode.conversion import as_term, now
from .encode.execution import Execution
from .encode.parts import members, unlisted
from .encode.places import read
from .encode.sorts import fields_of
from .encode.symbolic import PathStep, StatePath, state_path
from .encode.time import armed, entries, started
from .encode.values import Encoding


@dataclass(frozen=True)
class TimerClause(ABC):
    """A clause about the timer, or each timer of a map, in a variable of the machine at `path`."""

    machine: ir.Machine
    path: StatePath
    timer: str

    def term(self, run: Execution) -> Term:
        """The condition that the clause holds in the state of an execution; raises NotEncodable."""
        return run.logic.all(
            run.logic.forall(unlisted(place), run.logic.all(where), self._of_member(run, place))
            for place, where in members(run.encoding, self.path, [run])
        )

    def _of_member(self, run: Execution, place: StatePath) -> Term:
        timers, kind = self.read(run, place, self.timer), self.kind(self.timer)
        if not isinstance(kind, t.Map):
            return self.of(run, place, (timers, None))
        return run.logic.all(
            run.logic.forall(names, there, self.of(run, place, (timer, key)))
            for names, there, timer, key in entries(run.encoding, timers, kind)
        )

    def kind(self, name: str) -> t.Type:
        """The type of a variable."""
        return dict(fields_of(self.machine))[name]

    def read(self, run: Execution, place: StatePath, name: str) -> Term:
        """The value of a variable of the machine at a place."""
        return as_term(read(run, (*place, PathStep(t.Part(self.machine.name), name))))

    @abstractmethod
    def of(self, run: Execution, place: StatePath, one: tuple[Term, Term | None]) -> Term:
        """The clause about one timer; a timer in a map comes with its key."""

    def item(
        self, run: Execution, place: StatePath, name: str, key: Term | None
    ) -> tuple[Term, Term, t.Type]:
        """The value of a variable at the key: whether it exists, the value, and its type."""
        value, kind = self.read(run, place, name), self.kind(name)
        if not isinstance(kind, t.Map):
            return run.logic.true, value, kind
        assert key is not None
        return *run.encoding.held(kind, value, key), kind.value


@dataclass(frozen=True)
class Deadline(TimerClause):
    """Each running timer is due within one of the durations in `seconds`.

    With `since`: exactly `seconds` (none or one) after the tick in that variable.
    """

    seconds: tuple[ir.Expr, ...]
    since: str | None = None

    def of(self, run: Execution, place: StatePath, one: tuple[Term, Term | None]) -> Term:
        logic, (timer, key) = run.logic, one
        rest = [self._ticks(run, place, each) for each in self.seconds]
        if self.since is None:
            soon = logic.any(logic.at_most(timer, each) for each in rest)
            return logic.implies(armed(run.encoding, timer), soon)
        known, since = _number(run.encoding, *self.item(run, place, self.since, key))
        left = logic.add(since, *rest, logic.negative(now(run)))
        if not self._urgent:  # No tick is possible while an urgent timer is due.
            left = logic.choose(logic.at_most(logic.number(0), left), left, logic.number(0))
        then = logic.all((known, logic.equal(timer, left)))
        return logic.implies(armed(run.encoding, timer), then)

    @property
    def _urgent(self) -> bool:
        kind = self.kind(self.timer)
        one = kind.value if isinstance(kind, t.Map) else kind
        return isinstance(one, t.Timer) and one.urgent

    def _ticks(self, run: Execution, place: StatePath, seconds: ir.Expr) -> Term:
        """The number of ticks after which a timer that is started now is due."""
        body = (ir.Return(seconds.place, seconds),)
        function = ir.Function(seconds.place, "seconds", (), seconds.type, body)
        value, _ = run.judge(function, {}, place, self.machine)
        return started(run.encoding, value)


@dataclass(frozen=True)
class Runs(TimerClause):
    """While the control variable has this value, the timer runs (`runs`), or does not."""

    control: str
    member: str
    runs: bool

    def of(self, run: Execution, place: StatePath, one: tuple[Term, Term | None]) -> Term:
        logic, (timer, key) = run.logic, one
        there, value, kind = self.item(run, place, self.control, key)
        here = logic.equal(value, run.encoding.element(kind, self.member))
        runs = armed(run.encoding, timer)
        then = runs if self.runs else logic.negate(runs)
        return logic.implies(logic.all((there, here)), then)


def _number(encoding: Encoding, there: Term, value: Term, kind: t.Type) -> tuple[Term, Term]:
    """The condition that the value exists and is a number, and the number."""
    if isinstance(kind, t.Union):
        some = encoding.is_option(value, kind, (t.INT,))
        return encoding.logic.all((there, some)), encoding.coerce(value, kind, t.INT)
    return there, value


# The candidates of a machine.


def clauses(machine: ir.Machine) -> list[TimerClause]:
    """The clauses about a machine's timers and those of its parts."""
    whole = (machine, *machine.parts)
    bodies = [(m, f) for m in whole for f in _bodies(m)]
    starts = [(m, s) for m, f in bodies for s in _starts(f)]
    found: list[TimerClause] = []
    for inner in machines_in(machine):
        owner, path = inner.machine, state_path(inner.path)
        kinds = dict(fields_of(owner))
        dated = list(dict.fromkeys(name for _, f in bodies for name in _tick_variables(f, owner)))
        control = list(dict.fromkeys(_control(owner)))
        for name, kind in kinds.items():
            if not t.contains(kind, t.Timer) or t.part_of(kind) is not None:
                continue
            mine = [(m, s.args[0]) for m, s in starts if _variable(s.target) == (owner.name, name)]
            known = {text(e): e for m, e in mine if m is owner and _is_fixed(e, owner)}
            if mine and all(m is owner and text(e) in known for m, e in mine):
                found.append(Deadline(owner, path, name, tuple(known.values())))
            for since in (each for each in dated if _is_number(_value_type(kind, kinds[each]))):
                after = [(), *((e,) for e in known.values())]
                found += [Deadline(owner, path, name, e, since) for e in after]
            for at, of in ((each, _value_type(kind, kinds[each])) for each in control):
                names = of.members if isinstance(of, t.Enum) else ()
                found += [Runs(owner, path, name, at, n, r) for n in names for r in (True, False)]
    return found


def _bodies(m: ir.Machine) -> Iterator[ir.Function]:
    yield from (*m.initials, *m.functions, *(r.function for r in (*m.transitions, *m.bases)))


def _starts(function: ir.Function) -> Iterator[ir.Update]:
    for s in statements(function.body):
        if isinstance(s, ir.Update) and isinstance(s.target.type, t.Timer) and s.op == "start":
            yield s


def _variable(place: ir.Expr) -> tuple[str, str] | None:
    """The machine and variable that contain a place."""
    held = holder(place)
    if isinstance(held, ir.Field) and isinstance(held.of.type, t.Part):
        return held.of.type.machine, held.name
    return None


def _control(machine: ir.Machine) -> Iterator[str]:
    """The control variables of the machine's transitions."""
    for row in machine.transitions:
        at = None if row.control is None else _variable(row.control)
        if at is not None and at[0] == machine.name:
            yield at[1]


def _tick_variables(function: ir.Function, owner: ir.Machine) -> Iterator[str]:
    """The variables of the owner that a body assigns, if the body reads the clock."""
    asked = (n for n in everything(function.body) if isinstance(n, ir.Field))
    if not any(isinstance(n.of.type, t.Clock) for n in asked):
        return
    for s in statements(function.body):
        at = _variable(s.target) if isinstance(s, ir.Assign) else None
        if at is not None and at[0] == owner.name:
            yield at[1]


def _is_fixed(e: ir.Expr, machine: ir.Machine) -> bool:
    """Whether a value depends on nothing but parameters."""
    names = {p.name for p in machine.parameters}
    allowed = (ir.Const, ir.Self, ir.Op, ir.If, ir.And, ir.Or, ir.Field)
    nodes = list(everything((e,)))
    fields = [n for n in nodes if isinstance(n, ir.Field)]
    mine = all(isinstance(n.of, ir.Self) and n.name in names for n in fields)
    return mine and all(isinstance(n, allowed) for n in nodes)


def _value_type(timers: t.Type, other: t.Type) -> t.Type:
    """The type of the value that another variable has for a timer: for a map of timers, the value
    at the same key."""
    if isinstance(timers, t.Map):
        fits = isinstance(other, t.Map) and timers.key == other.key
        return other.value if fits and isinstance(other, t.Map) else t.NOTHING
    return other


def _is_number(kind: t.Type) -> bool:
    return any(t.fits(option, t.INT) for option in t.options(kind))
