"""Playing traces of a check on the class itself, to confirm that reported violations are real.

Within a scope a machine may behave as its class cannot: serial numbers have fewer bits than
declared, or an opaque type more values than its Python type. So each trace is run again with the
declared types, in lockstep on the reference engine, which evaluates the property at the end, and
on an instance of the class, which must agree at every step.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from lawful.runtime.instance import Machine
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.syntax.declare import declared
from lawful.spec.values.time import is_tick
from lawful.spec.verdicts import FAULTS
from lawful.spec.words import Scope

from ..explore import CheckResult
from ..explore.playback import Played, Unplayed
from ..explore.result import OURS
from ..reference.missing_values import NoValue
from ..reference.states import State
from ..verdict import PropertyResult, Verdict
from .instances import InstanceDriver, Outcome
from .trace_lifting import CandidateRuns, Run, RunStep, UnscopedMachine
from .trace_verdicts import reached, rests_on_trace, shows

FAR = 1e9  # Seconds after which, without a clock, every armed timer is due.


def played(cls: type[Machine], scope: Scope, result: CheckResult) -> CheckResult:
    """The result of a check within `scope`, after playing every trace on the class.

    A violation or witness that the class does not have becomes `unknown`, with the reason.
    """
    wanted = [p for p in result.properties if rests_on_trace(p)]
    if not wanted:
        return result
    stage = _Player(cls, scope)
    rows = list(result.properties)
    unplayed: list[Unplayed] = []
    for i, p in enumerate(rows):
        found = stage.play(p) if rests_on_trace(p) else None
        if found is not None:
            unplayed.append(found)
        if found is not None and not found.real:
            rows[i] = _open(p, found, stage.whole.less)
    summary = Played(len(wanted), tuple(unplayed))
    return dataclasses.replace(result, properties=tuple(rows), played=summary)


def _open(p: PropertyResult, found: Unplayed, less: str) -> PropertyResult:
    """The property as `unknown`, because the class does not have its trace."""
    assert p.trace is not None
    outcome = "reached" if reached(p) else p.verdict.value
    events = f"{len(p.trace)} event{'s' * (len(p.trace) != 1)}"
    where = f"within the scope, where {less}" if less else "when explored"
    why = f"{outcome} after {events} {where}; the class itself does not do this: {found.why}"
    return dataclasses.replace(p, verdict=Verdict.UNKNOWN, why=why, notes=())


class _Disagreement(Exception):
    """An instance does something else than the reference engine."""


class _Player:
    """Plays traces of one scope on a class."""

    def __init__(self, cls: type[Machine], scope: Scope) -> None:
        found = resolve(cls)
        self.whole = whole = UnscopedMachine(found, scope)
        machine = whole.machine
        sorts = [kind for kind in machine.types if isinstance(kind, t.Sort)]
        universe = {whole.world.sorts[kind.name]: whole.space.values.of(kind) for kind in sorts}
        self.running = InstanceDriver(cls, found, machine, universe)
        self.abstract = f"{cls.__name__} is abstract" if declared(cls).abstract else ""
        self.ghosts = any(v.ghost for m in (machine, *machine.parts) for v in m.variables)

    def play(self, p: PropertyResult) -> Unplayed | None:
        """Play the trace of a property; None where the class has it, else why it has not."""
        assert p.trace is not None
        runs = CandidateRuns(self.whole, p.name, p.trace)
        try:
            for run in runs.all():
                if shows(self.whole, p, run):
                    if self.abstract:
                        return Unplayed(p.name, self.abstract, real=True)
                    self._perform(run)
                    return None
                wanted = "true" if reached(p) else p.verdict.value
                runs.note(len(p.trace) + 1, f"after these events {p.name} is not {wanted}")
        except _Disagreement as error:
            return Unplayed(p.name, f"{error}, {OURS}", fault=True)
        except (ValueError, NoValue) as error:
            runs.note(len(p.trace) + 2, f"what it does cannot be judged: {error}")
        return Unplayed(p.name, runs.why)

    def _perform(self, run: Run) -> None:
        """Play the run on an instance. Raises `_Disagreement`."""
        entry, seen = self.running.begin(run.begun.parameters, run.begun.function, run.begun.args)
        if run.fault is not None:
            if seen[0] == "done" and not self.ghosts:  # A constructor may raise any exception.
                raise _Disagreement(f"the start violates {run.fault.name}, but an instance starts")
            return
        state = run.states[0]
        self._agree("the start", ("done", self.running.without_ghosts(state), None), seen)
        for i, did in enumerate(run.steps):
            after = self.running.without_ghosts(did.answer.state)
            expected = did.answer.name or "done", after, did.answer.output
            entry, seen = self._do(entry, state, did)
            self._agree(f"event {i + 1}, {did.row.name}", expected, seen)
            state = did.answer.state

    def _do(self, entry: Any, state: State, did: RunStep) -> tuple[Any, Outcome]:
        """One event on an instance: the instance to continue with, and the outcome.

        With a clock, time passes only by the step `tick`. Without one an armed timer may be due
        at any moment, so time passes before each event.
        """
        if is_tick(did.row):
            # A new instance, so that no sum of many floats falls short of a tick.
            later = self.running.later(self.running.instance(state))
            return self.running.instance(did.answer.state), ("done", later, None)
        if not self.running.tick:
            entry.__environment__.clock.advance(FAR)
        return entry, self.running.take(entry, did.entry_point.name, did.args)

    def _agree(self, what: str, expected: Outcome, seen: Outcome) -> None:
        if seen == expected or (self.ghosts and expected[0] in FAULTS and seen[0] == "done"):
            return
        both = expected[0], seen[0]
        if both[0] == both[1]:
            both = repr(expected[1:]), repr(seen[1:])
        raise _Disagreement(f"{what}: the reference engine gives {both[0]}, an instance {both[1]}")
