"""Time in proofs: ticks left are counted as the reference engine counts them; what follows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.explore.space import Space
from lawful.checks.prove import How, Method, prove
from lawful.checks.prove.result import ProofResult
from lawful.checks.prove.timer_invariants import proved_timer_clauses
from lawful.checks.reference import Done
from lawful.checks.smt.encode.execution import Execution
from lawful.checks.smt.encode.sorts import Options
from lawful.checks.smt.encode.time import started
from lawful.checks.smt.encode.values import Encoding
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.smt.timer_clauses import Deadline, Runs, TimerClause, clauses
from lawful.spec import ir
from lawful.spec.lower import lower, sized
from lawful.spec.resolve import resolve
from lawful.spec.text.statements import expr
from lawful.spec.values.time import until_due, with_ticks
from lawful.spec.values.world import decode
from tests.checks.declarations.acknowledging import Acks, Resends
from tests.checks.declarations.attempts import AttemptsAsSeed, AttemptsFixed
from tests.checks.declarations.timed import Fischer, House, Patient, Prompt, Rooms, Stuck
from tests.checks.smt.both_engines import Both
from tests.checks.smt.deciding import decide
from tests.spec import texts

SIZES = {"Proc": 2, "Floor": 2}
STATES = 24  # Of each machine so many that are reached, from all over its scope.
TIMED = (Patient, Prompt, Stuck, Fischer, Rooms, House, AttemptsFixed, Acks, Resends)


@cache
def space_of(cls: type[Machine]) -> Space:
    resolved = resolve(cls)
    return Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)


@cache
def reached(cls: type[Machine]) -> tuple[Any, ...]:
    """The states within the scope, the nearest first."""
    space = space_of(cls)
    found = dict.fromkeys(o.state for _, _, o in space.initial() if isinstance(o, Done))
    waiting = list(found)
    for state in waiting:
        for edge in space.edges(state):
            if edge.cut is None and isinstance(edge.outcome, Done):
                after = edge.outcome.state
                if after not in found:
                    found[after] = None
                    waiting.append(after)
    return tuple(found)


def some(cls: type[Machine]) -> Iterator[Any]:
    states = reached(cls)
    return islice(states, 0, None, max(1, len(states) // STATES))


# The step.


class Ticking(Both):
    """One machine, time's own step included."""

    def read(self, machine: ir.Machine) -> ir.Machine:
        return with_ticks(machine)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cls", TIMED, ids=lambda cls: cls.__name__)
def test_every_step_counts_as_the_reference_does(cls: type[Machine]) -> None:
    both, space = Ticking(cls, SIZES), space_of(cls)
    compared = 0
    for state in some(cls):
        for rule, row in space.rules:
            for given in space.arguments(rule, state, planned=False):
                names = [name for name, _ in row.function.params]
                both.compare(row, state, dict(zip(names, given, strict=True)), late=True)
                compared += row.name == "tick"
    assert compared >= min(8, len(reached(cls)))


@pytest.mark.parametrize("tick", [1.0, 2.0, 0.5, 0.1, 0.3, 2.5])
def test_seconds_are_the_same_ticks(tick: float) -> None:
    machine = with_ticks(
        resolve(
            texts.last_machine(
                texts.module(f"""
        class Bell(Machine):
            clock: Clock = Clock(tick={tick})
            bell: Timer = Timer()
    """)
            )
        ).machine
    )
    logic = (encoding := Encoding(machine, Options({}))).logic
    whole = range(-3, 12)
    for n in whole:
        assert logic.known(started(encoding, logic.number(n))) == until_due(n, tick)
    for seconds in (*map(float, whole), 0.1, 0.3, 1.1, 0.29, 1e-9, 3.7, -0.5, 1e6):
        found = started(encoding, logic.fraction(seconds))
        assert logic.known(found) == until_due(seconds, tick), seconds


# What is known of timers before anything is proved.


def told(cls: type[Machine]) -> dict[str, set[str]]:
    """What is established of each timer, in words."""
    found: dict[str, set[str]] = {}
    for row in proved_timer_clauses(sized(resolve(cls).machine, SIZES), Effort()):
        found.setdefault(f"{row.machine.name}.{row.timer}", set()).add(in_words(row))
    return found


def in_words(row: TimerClause) -> str:
    if isinstance(row, Runs):
        return f"{row.control} is {row.member}: {'runs' if row.runs else 'does not'}"
    assert isinstance(row, Deadline)
    after = ", ".join(map(expr, row.seconds))
    return f"within {after}" if row.since is None else f"{after or 0} after {row.since}"


def test_when_timers_are_due_is_found() -> None:
    assert told(Patient) == {
        "Patient.flight": {
            "within self.seconds",
            "self.seconds after at",
            "state is IDLE: does not",
            "state is FLYING: runs",
            "state is DONE: does not",
        }
    }
    assert told(House) == {"Light.out": {"within 1.0", "1.0 after since"}}
    assert told(Acks) == {
        "Acks.ack_delay": {"within self.ack_interval", "self.ack_interval after oldest"}
    }
    assert told(Fischer)["Fischer.writing"] == {
        "within self.write",
        "pc is IDLE: does not",
        "pc is REQUEST: runs",
        "pc is WAIT: does not",
        "pc is CRITICAL: does not",
    }


@pytest.mark.one_in(12)
@pytest.mark.parametrize("cls", (*TIMED, AttemptsAsSeed), ids=lambda cls: cls.__name__)
def test_what_is_known_is_true_wherever_exploration_gets(cls: type[Machine]) -> None:
    both = Ticking(cls, SIZES)
    rows = proved_timer_clauses(sized(both.machine, SIZES), Effort())
    assert {*map(in_words, rows)} < {*map(in_words, clauses(both.machine))} or cls is Stuck
    for state in some(cls):
        pairs = zip(both.fields.items(), state, strict=True)
        values = {name: both.term(value, kind) for (name, kind), value in pairs}
        run = Execution(both.encoding, values, both.machine)
        for row in rows:
            budget = Effort().begin()
            assert decide(run.logic, row.term(run), both.encoding.facts, budget) is True, row


# Proofs.


def proof(text: str, method: Method = "induction", depth: int | None = None) -> ProofResult:
    machine = resolve(texts.last_machine(texts.module(text))).machine
    return prove(machine, sizes={}, how=How(method, depth=depth))


def verdicts(result: ProofResult) -> dict[str, str]:
    return {p.name: p.verdict.value for p in result.properties if p.method != "none"}


FUSE = """
class Fuse(Machine):
    clock: Clock = Clock()
    fuse: Timer = Timer({urgent})
    lit: Nat = 0
    gone: Nat | None = None
    seconds: Param[Nat] = 3

    @assume
    def it_burns(self) -> bool:
        return self.seconds > 1

    @transition()
    def light(self) -> None:
        require(not self.fuse.armed and self.gone is None)
        self.lit = self.clock.now
        self.fuse.start(self.seconds)

    @transition(timer="fuse")
    def bang(self) -> None:
        self.gone = self.clock.now

    @invariant
    def never_early(self) -> bool:
        return self.gone is None or self.gone - self.lit >= self.seconds

    @invariant
    def never_at_its_last_tick(self) -> bool:
        return self.gone is None or self.gone - self.lit != self.seconds

    @invariant
    def gone_before(self) -> bool:
        return implies(self.fuse.armed, self.clock.now - self.lit < self.seconds)

    @invariant
    def never_late(self) -> bool:
        return implies(self.fuse.armed, self.clock.now - self.lit <= self.seconds)
"""


def test_what_the_last_tick_breaks_is_not_proved_and_what_ticks_keep_is() -> None:
    found = verdicts(proof(FUSE.format(urgent="urgent=True")))
    assert found == {
        "bounds": "proved",
        "asserts": "proved",
        "undefined": "proved",
        "never_early": "proved",
        "never_at_its_last_tick": "unknown",
        "gone_before": "unknown",
        "never_late": "proved",
    }
    patient = verdicts(proof(FUSE.format(urgent="")))
    assert patient == {**found, "never_late": "unknown"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["bounded", "auto"])
def test_what_the_last_tick_breaks_is_violated_by_a_run_of_the_machine(method: Method) -> None:
    cls = texts.last_machine(texts.module(FUSE.format(urgent="")))
    result = prove(resolve(cls).machine, sizes={}, how=How(method, depth=5))
    violated = {p.name: p.trace for p in result.properties if p.trace is not None}
    assert {name: [s.event for s in trace.steps] for name, trace in violated.items()} == {
        "never_at_its_last_tick": ["light", "tick", "tick", "bang"],
        "gone_before": ["light", "tick", "tick"],
        "never_late": ["light", "tick", "tick", "tick"],
    }
    for trace in violated.values():
        assert replayed(cls, trace.states, [s.transition for s in trace.steps])
    known = {"bounded": {"bounded"}, "auto": {"proved"}}[method]
    assert {v for n, v in verdicts(result).items() if n not in violated} == known


def replayed(cls: type[Machine], states: tuple[Any, ...], events: list[str]) -> bool:
    """Whether these are steps of the reference engine, from a state that it starts in."""
    both = Ticking(cls, {})
    rows = [
        tuple(decode(state[n], kind, both.resolved.world) for n, kind in both.fields.items())
        for state in states
    ]
    given = {p.name: rows[0][[*both.fields].index(p.name)] for p in both.machine.parameters}
    after = both.reference.initial(given)
    for name, now in zip(events, rows[:-1], strict=True):
        assert after == now
        outcome = both.reference.step(now, name, {})
        assert isinstance(outcome, Done)
        after = outcome.state
    return bool(after == rows[-1])


BOTH = """
class Both(Machine):
    clock: Clock = Clock(tick=0.5)
    long: Timer = Timer(urgent=True)
    short: Timer = Timer(urgent=True)
    since: Nat = 0

    @transition()
    def begin(self) -> None:
        require(not self.long.armed and not self.short.armed)
        self.since = self.clock.now
        self.long.start({long})
        self.short.start({short})

    @transition(timer="short")
    def first(self) -> None: ...

    @transition(timer="long")
    def second(self) -> None:
        assert not self.short.armed
"""


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("long", "short", "verdict"),
    [
        ("1.1", "1", "proved"),
        ("1", "1", "unknown"),
        ("1", "0.6", "unknown"),
        ("1", "1.1", "unknown"),
    ],
)
def test_of_two_timers_the_shorter_one_is_first(long: str, short: str, verdict: str) -> None:
    """0.6 seconds are two ticks, as 1 is, and what is due at one tick happens in any order."""
    assert verdicts(proof(BOTH.format(long=long, short=short)))["asserts"] == verdict


def test_of_what_z3_finds_nothing_is_told_that_floats_do_not_do() -> None:
    """The seconds are any real number; those of a run are a float's, and the run is one of it."""
    result = prove(resolve(Patient).machine, sizes={}, how=How("bounded", depth=4))
    violated = {p.name: p.trace for p in result.properties if p.trace is not None}
    assert set(violated) == {"in_time", "not_early"}
    for trace in violated.values():
        assert replayed(Patient, trace.states, [s.transition for s in trace.steps])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("method", "verdict"),
    [
        ("induction", "unknown"),
        pytest.param("k-induction", "unknown", marks=pytest.mark.nightly),
        ("spacer", "violated"),
    ],
)
def test_no_method_proves_what_is_violated(method: Method, verdict: str) -> None:
    """With the least windows no tick has to pass."""
    result = prove(resolve(AttemptsAsSeed).machine, sizes={}, how=How(method))
    assert verdicts(result)["put_back_at_most_once"] == verdict
    for p in result.properties:
        if p.trace is not None:
            events = [step.transition for step in p.trace.steps]
            assert events == ["begin", "take", "cut", "begin", "take", "cut"]
            assert replayed(AttemptsAsSeed, p.trace.states, events)
