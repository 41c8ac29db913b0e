"""The traces of a check played on the class itself, so that the violations it prints are real.

A scope may give a machine what its class has not: serial numbers of fewer bits than declared, or
more opaque values than the Python type has. So each trace is run again with the declared types, in
two ways at once: by the reference engine, which has ghosts and judges the property at the end, and
by an instance of the class, which must do the same at every step.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from lawful.checks.explore import CheckResult
from lawful.checks.explore.playback import Played, Unplayed
from lawful.checks.explore.retrace import broken_at_end
from lawful.checks.reference.expressions import NoValue
from lawful.checks.reference.properties import LIVENESS
from lawful.checks.reference.states import State
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.runtime.instance import Machine
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.syntax.declare import declared
from lawful.spec.values.time import is_tick
from lawful.spec.words import Scope

from .instances import InstanceDriver, Outcome
from .runtime_check import FAULTS, OURS
from .trace_lifting import CandidateRuns, Run, RunStep, UnscopedMachine

FAR = 1e9  # Seconds: without a clock, whatever is armed is due after so long.
AFTER = 2_000  # States that are looked at after the last one, for what cannot be reached any more.


def played(cls: type[Machine], scope: Scope, result: CheckResult) -> CheckResult:
    """The result of a check within that scope, with every trace played on the class.

    A violation or a witness that the class does not have is `unknown`, with the reason.
    """
    wanted = [p for p in result.properties if _rests_on_trace(p)]
    if not wanted:
        return result
    stage = _Player(cls, scope)
    rows = list(result.properties)
    unplayed: list[Unplayed] = []
    for i, p in enumerate(rows):
        found = stage.play(p) if _rests_on_trace(p) else None
        if found is not None:
            unplayed.append(found)
        if found is not None and not found.real:
            rows[i] = _open(p, found, stage.whole.less)
    told = Played(len(wanted), tuple(unplayed))
    return dataclasses.replace(result, properties=tuple(rows), played=told)


def _rests_on_trace(p: PropertyResult) -> bool:
    """Whether the verdict rests on a trace: a counterexample, or what shows that it is reached."""
    failed = p.verdict in (Verdict.VIOLATED, Verdict.UNDEFINED)
    return p.trace is not None and (failed or p.kind == "reachable")


def _open(p: PropertyResult, found: Unplayed, less: str) -> PropertyResult:
    """The verdict on a property whose trace the class does not have."""
    assert p.trace is not None
    said = "reached" if _reached(p) else p.verdict.value
    events = f"{len(p.trace)} event{'s' * (len(p.trace) != 1)}"
    where = f"within the scope, where {less}" if less else "when explored"
    why = f"{said} after {events} {where}; the class itself does not do this: {found.why}"
    return dataclasses.replace(p, verdict=Verdict.UNKNOWN, why=why, notes=())


def _reached(p: PropertyResult) -> bool:
    """Whether the trace shows that the property becomes true."""
    return p.kind == "reachable" and p.verdict is not Verdict.UNDEFINED


class _Disagreement(Exception):
    """An instance does what the reference engine does not."""


class _Player:
    """A class on which traces of one scope are played."""

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
        """Play the trace of a property; None where the class has it."""
        assert p.trace is not None
        runs = CandidateRuns(self.whole, p.name, p.trace)
        try:
            for run in runs.all():
                if self._shows(p, run):
                    if self.abstract:
                        return Unplayed(p.name, self.abstract, real=True)
                    self._perform(run)
                    return None
                wanted = "true" if _reached(p) else p.verdict.value
                runs.note(len(p.trace) + 1, f"after these events {p.name} is not {wanted}")
        except _Disagreement as error:
            return Unplayed(p.name, f"{error}, {OURS}", fault=True)
        except (ValueError, NoValue) as error:
            runs.note(len(p.trace) + 2, f"what it does cannot be judged: {error}")
        return Unplayed(p.name, runs.why)

    def _shows(self, p: PropertyResult, run: Run) -> bool:
        """Whether the run ends as the verdict says."""
        if run.faulty:
            return True  # By the very fault that the trace ends with: no other runs are made.
        if not self.whole.less and p.kind in (*LIVENESS, "recoverable"):
            return True  # It was judged along these very steps.
        return broken_at_end(self.whole.around(run.states), p, run.states, AFTER)

    def _perform(self, run: Run) -> None:
        """Do the same on an instance; `_Disagreement` where it does something else."""
        entry, seen = self.running.begin(run.begun.parameters, run.begun.function, run.begun.args)
        if run.fault is not None:
            if seen[0] == "done" and not self.ghosts:  # What a constructor raises is left to it.
                raise _Disagreement(f"the start breaks {run.fault.name}, and an instance starts")
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
        """One event of an instance in a state: the instance to go on with, what it came to.

        With a clock, time passes by the step `tick` alone. Without one any armed timer may be due
        at any moment: time passes before each event.
        """
        if is_tick(did.row):
            # It is put in anew, so that no sum of many floats falls short of a tick.
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
