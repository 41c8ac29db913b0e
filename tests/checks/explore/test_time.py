"""Time explored: clocks, ticks, timers that count, urgency; counts by hand and by an oracle."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Clock, DeclarationError, Fairness, Machine, Refused, Scope, Timer, Weak
from lawful.checks.explore import CheckResult, explore
from lawful.checks.explore.space import Space
from lawful.checks.prove import prove
from lawful.checks.reference import Done
from lawful.checks.replay import ReplayProgram
from lawful.checks.replay.fold import fold
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row, journal_row
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.runtime.journal import Journal
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.values.time import passed, until_due
from lawful.spec.values.world import decode, encode
from lawful.testing import Mismatch, SimulatedClock, conformance
from tests.checks.declarations.timed import Fischer, House, Patient, Prompt, Rooms, Stuck, Way

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=10, stateful_step_count=25
)


def check(cls: type[Machine], name: str = "scope", **changes: object) -> CheckResult:
    resolved = resolve(cls)
    scope = resolved.scopes["scope"].widened(resolved.scopes[name].bounds).widened(changes)
    expects = resolved.scopes[name].expects
    flat = lower(resolved.machine, scope)
    given_ = {**resolved.expects, **(expects.verdicts if expects is not None else {})}
    return explore(flat, resolved.world, given_)


def found(result: CheckResult, name: str) -> PropertyResult:
    return next(p for p in result.properties if p.name == name)


def counts(result: CheckResult) -> tuple[int, int, int, int]:
    return result.distinct, result.generated, result.depth, result.cuts


def test_without_urgency_the_letter_may_stay_in_the_air() -> None:
    """Ticks are 0 to 4, the letter is due 2 ticks after it was sent at tick s.

    Idle: 5 states. Flying: from s = 0 now is 0..4, from 1 it is 1..4 and so on: 5+4+3+2+1 = 15;
    how much is left follows from now and s. Done: delivered at s+2 or later, which now does not
    tell, so (s, now) with now >= s+2: 3+2+1 = 6. Together 26.
    Generated: the start, 5 times send, deliver where it is due (s = 0: now 2, 3, 4; 1: 3, 4; 2: 4)
    6, and a tick in every state 26: 38. Of the ticks those at now = 4 are cut: 1 idle, 5 flying,
    3 done. The deepest state is Done at 4: one send, four ticks, one delivery.
    """
    result = check(Patient)
    assert counts(result) == (26, 38, 7, 9)
    assert result.transitions["tick"] == {"enabled": 26, "new": 17}
    assert result.cut_by == {"clock": 9}
    assert result.as_expected
    trace = found(result, "in_time").trace
    assert trace is not None
    start = {"clock": 0, "flight": None, "state": "IDLE", "at": 0, "seconds": 2.0}
    assert dict(trace.initial) == start
    assert [(step.event, dict(step.changed)) for step in trace.steps] == [
        ("send", {"flight": 2, "state": "FLYING"}),
        ("tick", {"clock": 1, "flight": 1}),
        ("tick", {"clock": 2, "flight": 0}),
        ("tick", {"clock": 3}),
    ]


def test_with_urgency_it_is_delivered_in_time() -> None:
    """As above, but flying ends when the letter is due: s = 0, 1, 2 have 3 states each, 3 has 2,
    4 has 1: 12. Together 5 + 12 + 6 = 23.

    Generated: the start, 5 sends, 3 deliveries (s = 0, 1, 2), ticks: 5 idle, 2 each from s = 0..3
    and 1 from 4 (none where 0 is left), 6 done: 1 + 5 + 3 + 20 = 29. Cut at now = 4: 1 idle, the
    letters of s = 3 and 4, and 3 done.
    """
    result = check(Prompt)
    assert counts(result) == (23, 29, 7, 6)
    assert result.transitions["tick"]["enabled"] == 20
    assert result.as_expected
    assert found(result, "in_time").verdict is Verdict.HOLDS_WITHIN_SCOPE


def test_time_that_stands_still_is_a_deadlock() -> None:
    """Now is 0..2; the bell is wound at w and is due at w+1, and nothing happens any more.

    Stopped: 3 states; wound: (0, 1), (1, 0), (1, 1), (2, 0), (2, 1): 8 states. Generated: the
    start, 3 winds, a tick in the 3 stopped states and in the 3 with 1 left.
    """
    result = check(Stuck)
    assert counts(result) == (8, 10, 4, 2)
    stuck = found(result, "deadlock")
    assert stuck.trace is not None
    assert [step.event for step in stuck.trace.steps] == ["wind", "tick"]
    assert any("the urgent timer bell is due" in note for note in stuck.notes)


def _fischer(wait: int, last: int) -> tuple[int, int, int]:
    """Fischer's algorithm for two processes once more, over plain tuples: its three counts.

    A state: now, the two labels, the lock, what is left for the two to write, and to wait.
    """

    def steps(s: Any) -> Iterator[Any]:
        now, pc, lock, writing, waiting = s
        for p in (0, 1):

            def put(held: Any, value: Any, p: int = p) -> Any:
                return (value, held[1]) if p == 0 else (held[0], value)

            if pc[p] == "idle" and lock is None:
                yield now, put(pc, "request"), lock, put(writing, 1), waiting
            if pc[p] == "request":
                yield now, put(pc, "wait"), p, put(writing, None), put(waiting, wait)
            if pc[p] == "wait" and waiting[p] == 0:
                after = "critical" if lock == p else "idle"
                yield now, put(pc, after), lock, writing, put(waiting, None)
            if pc[p] == "critical":
                yield now, put(pc, "idle"), None, writing, waiting
        if 0 not in writing:
            less = [tuple(x and x - 1 for x in held) for held in (writing, waiting)]
            yield now + 1, pc, lock, *less

    none = (None, None)
    level = {(0, ("idle", "idle"), None, none, none)}
    seen, generated, depth = set(level), 1, 0
    while level:
        depth += 1
        following = [after for state in level for after in steps(state)]
        generated += len(following)
        level = {s for s in following if s[0] <= last} - seen
        seen |= level
    return len(seen), generated, depth


@pytest.mark.parametrize(("name", "wait"), [("scope", 2), ("hasty", 1)])
def test_fischer_excludes_where_it_waits_long_enough(name: str, wait: int) -> None:
    result = check(Fischer, name)
    assert result.as_expected
    assert result.complete
    assert (result.distinct, result.generated, result.depth) == _fischer(wait, 6)
    assert found(result, "one_is_in").verdict is Verdict.HOLDS


def test_a_trace_names_the_ticks() -> None:
    trace = found(check(Fischer, "hasty"), "mutual_exclusion").trace
    assert trace is not None
    assert [step.event for step in trace.steps].count("tick") == 2


# Seconds and ticks.


def test_seconds_are_exact() -> None:
    assert until_due(1.1, 0.1) == 11  # Of doubles it is 12.
    assert until_due(0.3, 0.1) == 3
    assert until_due(0.31, 0.1) == 4
    assert until_due(1e-9, 60.0) == 1
    assert [until_due(s, 0.5) for s in (0, 0.0, -0.1, -7)] == [0, 0, 0, 0]
    assert passed(0.3, 0.1) == 3  # `//` of doubles gives 2.
    assert passed(0.29, 0.1) == 2
    for seconds in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="no number of ticks"):
            until_due(seconds, 1.0)


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_whole_ticks_are_whole(ticks: int, tenths: int) -> None:
    tick = tenths / 10
    seconds = ticks * tenths / 10
    assert until_due(seconds, tick) == passed(seconds, tick) == ticks
    assert until_due(seconds + 0.05, tick) == ticks + 1


# Scopes and forms.


@pytest.mark.parametrize(
    ("bound", "number"),
    [(None, "L301"), (range(1, 3), "L303"), (-1, "L303"), ("5", "L303"), (range(0, 8, 2), "L303")],
)
def test_a_clock_has_a_range_from_0_on(bound: object, number: str) -> None:
    resolved = resolve(Stuck)
    scope = Scope() if bound is None else Scope(clock=bound)
    with pytest.raises(DeclarationError) as refused:
        lower(resolved.machine, scope)
    assert [problem.number for problem in refused.value.problems] == [number]
    assert "Scope(clock=range(0, 6))" in refused.value.problems[0].rewrite


def test_a_range_and_its_last_tick_say_the_same() -> None:
    assert check(Stuck, clock=range(0, 5)).distinct == check(Stuck, clock=4).distinct == 14
    assert check(Stuck, clock=0).distinct == 2


def test_states_have_one_json_form() -> None:
    resolved = resolve(Prompt)
    space = Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    kinds = {v.name: v.type for v in space.machine.variables}
    state = next(space.reference.initial(made) for made in space.parameters())
    seen = 0
    for edge in space.edges(state):
        assert isinstance(edge.outcome, Done)
        shown = space.shown(edge.outcome.state)
        for name, kind in kinds.items():
            seen += 1
            assert encode(decode(shown[name], kind, resolved.world), kind) == shown[name]
    assert seen == 2 * len(kinds)
    with pytest.raises(ValueError, match="expected a Timer"):
        decode(-1, kinds["flight"], resolved.world)


# Beside an implementation, in a journal, in proofs.


def made(cls: Any) -> Any:
    return conformance(cls, lambda clock: cls(clock=clock), settings=QUICK)


TestPatientRuns = made(Patient)
TestPromptRuns = made(Prompt)
TestPartsRun = made(Rooms)


class ByHand:
    """A letter of one's own: its time is a count of ticks, its timer a deadline or None."""

    def __init__(self, clock: SimulatedClock, ticks: int = 2) -> None:
        self.time, self.ticks = clock, ticks
        self.flight: float | None = None
        self.state, self.at, self.seconds = Way.IDLE, 0, 2.0

    @property
    def clock(self) -> int:
        return int(self.time.now())

    def send(self) -> None:
        if self.state is not Way.IDLE:
            raise LateError
        self.state, self.at, self.flight = Way.FLYING, self.clock, self.time.now() + self.ticks

    def deliver(self) -> int:
        if self.flight is None or self.time.now() < self.flight:
            raise LateError
        self.state, self.flight = Way.DONE, None
        return self.clock - self.at


class LateError(Exception):
    """Not now."""


def test_an_implementation_keeps_the_same_time() -> None:
    right = conformance(Prompt, ByHand, refused=(LateError,), settings=QUICK)
    right("runTest").debug()
    wrong = conformance(Prompt, lambda c: ByHand(c, 1), refused=(LateError,), settings=QUICK)
    with pytest.raises(Mismatch, match="flight: expected due at 3, found due at 2"):
        wrong("runTest").debug()


def journal_of(path: Path, rounds: int) -> list[dict[str, Any]]:
    """The rows of rooms that somebody enters and leaves while time passes."""
    clock, rng = SimulatedClock(50.0), random.Random(rounds)
    rooms = Rooms(clock=clock)
    with Journal(path) as journal:
        journal.attach(rooms, "rooms")
        for _ in range(rounds):
            clock.advance(rng.choice((0.0, 0.2, 0.5, 1.3)))
            rooms.lawful.fire_due(clock.now())
            with contextlib.suppress(Refused):
                rooms.lawful.take(rng.choice(("enter", "look", "leave")))
    return [json.loads(line) for line in path.read_text().splitlines()]


def judged(rows: list[dict[str, Any]]) -> InstanceVerdict:
    program = ReplayProgram((Rooms.lawful.ir,))
    found = [journal_row(row, json.dumps(row)) for row in rows]
    return fold(program, "rooms", [row for row in found if isinstance(row, Row)])


def changed(rows: list[dict[str, Any]], event: str, **what: Any) -> list[dict[str, Any]]:
    """The rows, of which the last one of an event that was done tells something else."""
    at = max(i for i, row in enumerate(rows) if (row["event"], row["outcome"]) == (event, "done"))
    told = {**rows[at], **what}
    if "changed" in what:
        told["changed"] = {**rows[at]["changed"], **what["changed"]}
    return [*rows[:at], told, *rows[at + 1 :]]


def test_a_journal_tells_the_present(tmp_path: Path) -> None:
    rows = journal_of(tmp_path / "rows", 60)
    assert {row["outcome"] for row in rows} == {"made", "done", "refused"}
    ticks = [row["changed"]["clock"] for row in rows if "clock" in row["changed"]]
    assert ticks == sorted(ticks) and ticks[-1] > 20
    result = judged(rows)
    assert (result.verdict, result.rows) == ("fits", len(rows))
    assert set(result.transitions) == {"enter", "dark", "look", "leave"}


def test_a_lie_about_time_is_found(tmp_path: Path) -> None:
    rows = journal_of(tmp_path / "rows", 60)
    leave = next(row for row in reversed(rows) if row["transition"] == "leave")
    lies = [
        (changed(rows, "leave", output=leave["output"] + 1), "output"),
        (changed(rows, "look", changed={"clock": 0}), "clock goes back"),
        (changed(rows, "look", changed={"last": 1}), "last"),
    ]
    for told, clause in lies:
        result = judged(told)
        assert result.verdict == "deviates"
        assert result.finding is not None and clause in str(result.finding)
    assert judged(changed(rows, "look", changed={"clock": -1})).verdict == "quarantined"


def test_all_ticks_are_proved() -> None:
    result = prove(resolve(Patient).machine, sizes={})
    found = {p.name: p.verdict for p in result.properties if p.method != "none"}
    assert found["time_goes_on"] is Verdict.PROVED
    assert found["bounds"] is Verdict.PROVED
    # The seconds of the flight may be others than two.
    assert found["not_early"] is found["in_time"] is Verdict.UNKNOWN
    assert {o.obligation for o in result.obligations} == {"the start", "send", "deliver", "tick"}
    assert result.obligations[0].covers == (
        "all integers; all ticks; timers stopped or at any tick; "
        "all parameter values, floats finite"
    )


def judged_by_proof(cls: type[Machine], **sizes: int) -> dict[str, str]:
    result = prove(resolve(cls).machine, sizes=sizes)
    return {p.name: p.verdict.value for p in result.properties if p.method != "none"}


def test_a_proof_knows_that_a_part_has_the_time_of_its_whole() -> None:
    assert judged_by_proof(Rooms) == {
        "bounds": "proved",
        "asserts": "proved",
        "undefined": "proved",
        "ambiguous": "proved",
        "same_time": "proved",
        "left.not_long": "proved",
    }


@pytest.mark.parametrize(
    ("sizes", "proved"), [({"Floor": 2}, "proved-within"), ({}, "proved")], ids=["two", "any"]
)
def test_a_proof_knows_that_a_family_has_the_time_of_its_whole(
    sizes: dict[str, int], proved: str
) -> None:
    found = judged_by_proof(House, **sizes)
    assert {name for name, verdict in found.items() if verdict == proved} == {
        "bounds",
        "asserts",
        "undefined",
        "ambiguous",
        "same_time",
        "lights.not_long",
    }


TestAFamilyRuns = made(House)


# What a declaration says about ticks.


def fair(cls: type[Machine]) -> list[str]:
    try:
        resolve(cls)
    except DeclarationError as refused:
        return [problem.number for problem in refused.problems]
    return []


class FairTime(Machine):
    clock: Clock = Clock()

    fairness = Fairness(Weak("tick"))


class FairWithout(Machine):
    idle: Timer = Timer()

    fairness = Fairness(Weak("tick"))


def test_fairness_may_name_the_tick_of_a_clock() -> None:
    assert (fair(FairTime), fair(FairWithout)) == ([], ["L217"])
