"""Traces that do not tell everything, compared with a search by brute force."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Clock, Machine, Nat, State, require, targets, terminal, transition
from lawful.checks.replay import ReplayProgram, replay, replay_frame, replay_increment
from lawful.checks.replay.fold import fold
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row
from lawful.checks.replay.tally import Tally
from lawful.checks.report import replays
from tests.checks.replay.conftest import MISSING
from tests.checks.replay.test_increments import in_parts

NAMES: dict[str, Any] = {"instance": "$.i", "seq": "$.n", "event": "$.e"}


class Level(State):
    IDLE = "idle"
    SENT = "sent"
    DONE = "done"


class Call(Machine):
    """A call that may time out; no log tells that."""

    state: Level = Level.IDLE
    tries: Nat = 0
    loud: bool = False

    @transition(source=Level.IDLE, target=Level.SENT)
    def send(self, loud: bool) -> None:
        require(self.tries < 2, "out of tries")
        self.tries += 1
        self.loud = loud

    @transition(source=Level.SENT, target=Level.IDLE)
    def time_out(self) -> None:
        pass

    @transition(source=Level.SENT, target=Level.DONE)
    def answer(self) -> None:
        pass

    @transition(source=Level.DONE, target=Level.DONE)
    def echo(self) -> None:
        require(self.loud, "silent")

    @transition(source=Level.DONE, target=Level.DONE)
    def hush(self, loud: bool) -> None:
        require(not loud, "still loud")

    @terminal
    def over(self) -> bool:
        return self.state == Level.DONE


def program(machine: type[Machine] = Call, **more: Any) -> ReplayProgram:
    return ReplayProgram((machine.lawful.ir,), mapping=mapping_of(NAMES | more))


ARGS = {"loud": "$.loud"}
SEND: dict[str, Any] = {"args": {"send": ARGS, "hush": ARGS}}


Said = str | tuple[str, dict[str, Any]]


def rows_of(how: ReplayProgram, *events: Said) -> list[Row]:
    mapping = how.mapping
    assert mapping is not None
    rows: list[Row] = []
    for n, each in enumerate(events):
        name, more = (each, {}) if isinstance(each, str) else each
        row = mapping.row_of({"i": "a", "n": n, "e": name, **more}, "")
        assert isinstance(row, Row)
        rows.append(row)
    return rows


def judged(how: ReplayProgram, *events: Said) -> InstanceVerdict:
    return fold(how, "a", rows_of(how, *events))


def told(found: InstanceVerdict) -> tuple[Any, ...]:
    at = None if found.finding is None else found.finding.index
    return found.verdict, at, found.counts.get("hinges", 0)


LOUD: Said = ("send", {"loud": True})
SOFT: Said = ("send", {"loud": False})
CASES: list[tuple[dict[str, Any], tuple[Said, ...], tuple[Any, ...]]] = [
    # Two calls are possible only if the first one timed out, and nobody saw that.
    ({}, (LOUD, LOUD), ("deviates", 1, 0)),
    ({"hidden": ["time_out"]}, (LOUD, LOUD), ("open", None, 1)),
    ({"hidden": ["time_out"]}, (LOUD, LOUD, "answer"), ("fits", None, 1)),
    ({"hidden": ["time_out"]}, (LOUD, "answer"), ("fits", None, 0)),
    ({"hidden": ["time_out"]}, (LOUD, "answer", "answer"), ("deviates", 2, 0)),
    ({"hidden": ["time_out"]}, (LOUD, LOUD, LOUD), ("deviates", 2, 0)),
    # An answer that no row tells decides whether the instance may end.
    ({"hidden": ["answer"]}, (LOUD,), ("fits", None, 1)),
    # A missing argument.
    ({"partial": True}, ("send", "answer"), ("fits", None, 0)),
    ({"partial": True}, ("send", "answer", "echo"), ("fits", None, 1)),
    ({"partial": True}, (LOUD, "answer", "echo"), ("fits", None, 0)),
    ({"partial": True}, (LOUD, "answer", "hush"), ("fits", None, 1)),
    ({"partial": True}, (LOUD, "answer", ("hush", {"loud": False})), ("fits", None, 0)),
    ({"partial": True}, (SOFT, "answer", "echo"), ("deviates", 2, 0)),
    ({}, ("send",), ("quarantined", 0, 0)),
]


@pytest.mark.parametrize(("more", "events", "wanted"), CASES)
def test_verdicts(more: dict[str, Any], events: tuple[Said, ...], wanted: tuple[Any, ...]) -> None:
    assert told(judged(program(**SEND, **more), *events)) == wanted


@pytest.mark.parametrize(("more", "events", "_wanted"), CASES)
def test_any_cut_gives_the_verdict_of_all_rows(
    more: dict[str, Any], events: tuple[Said, ...], _wanted: tuple[Any, ...]
) -> None:
    """All states in which the instance may be, and what they need, go on in the next increment."""
    how = program(**SEND, **more)
    its = rows_of(how, *events)
    whole = fold(how, "a", its)
    for cut in range(1, len(its)):
        assert in_parts([its[:cut], its[cut:]], how) == whole
    assert in_parts([[row] for row in its], how) == whole


class Light(Machine):
    """Its states are finite, so it may be met in any of them."""

    state: Level = Level.IDLE
    armed: bool = False

    @transition(source=Level.IDLE, target=Level.SENT)
    def arm(self) -> None:
        self.armed = True

    @transition(source=Level.SENT, target=Level.DONE)
    def fire(self) -> None:
        require(self.armed, "not armed")

    @transition(source=Level.DONE, target=Level.IDLE)
    def rest(self) -> None:
        self.armed = False

    @terminal
    def resting(self) -> bool:
        return self.state == Level.IDLE


ATTACHED: list[tuple[tuple[str, ...], tuple[Any, ...]]] = [
    (("fire", "rest"), ("fits", None, 1)),
    (("arm", "fire", "rest"), ("fits", None, 0)),
    (("rest", "fire"), ("deviates", 1, 0)),
    (("fire",), ("open", None, 1)),
    (("fire", "fire"), ("deviates", 1, 0)),
]


@pytest.mark.parametrize(("events", "wanted"), ATTACHED)
def test_beginnings_in_mid_history(events: tuple[str, ...], wanted: tuple[Any, ...]) -> None:
    how = program(Light, attach=True)
    whole = judged(how, *events)
    assert told(whole) == wanted
    assert in_parts([[row] for row in rows_of(how, *events)], how) == whole
    if wanted[2]:
        assert judged(program(Light), *events).verdict == "deviates"


def test_what_is_too_much_is_inconclusive() -> None:
    class Counter(Machine):
        n: Nat = 0

        @transition()
        def up(self) -> None:
            self.n += 1

        @transition()
        def put(self, n: Nat) -> None:
            self.n = n

        @transition()
        def down(self) -> None:
            require(self.n > 0, "zero")
            self.n -= 1

    clauses: dict[str, dict[str, Any]] = {
        "hidden steps lead to more than 1,000 states": {"hidden": ["up"]},
        "the values of n, a Nat, are not finite": {"attach": True},
    }
    for clause, more in clauses.items():
        found = judged(program(Counter, **more), "down", "down")
        assert (found.verdict, found.finding and found.finding.clause) == ("inconclusive", clause)
        assert "deviations" not in found.counts
    found = judged(program(Counter, partial=True), "put")
    assert found.finding is not None
    assert found.finding.clause == "the values of n, a Nat, are not finite"


def test_what_a_mapping_may_hide() -> None:
    class Slow(Machine):
        clock: Clock = Clock(tick=1.0)

        @transition()
        def wait(self) -> None:
            pass

    with pytest.raises(ValueError, match="hidden has vanish: Call has no event vanish; it has"):
        program(hidden=["vanish"])
    with pytest.raises(ValueError, match="Slow has a clock, and nobody saw when"):
        program(Slow, hidden=["wait"])


# Machines that are generated, and a reference that knows nothing of lawful.

PHASES = ("A", "B", "C")
EVENTS = ("e0", "e1", "e2", "e3")


@dataclass(frozen=True)
class Arrow:
    """A transition: from phases, to a phase; it asks for the flag, and sets it."""

    sources: tuple[str, ...]
    target: str
    asks: bool | None
    sets: bool | None

    def goes(self, phase: str, flag: bool) -> Iterator[tuple[str, bool]]:
        if phase in self.sources and self.asks in (None, flag):
            yield self.target, flag if self.sets is None else self.sets


ARROW = st.builds(
    Arrow,
    st.sets(st.sampled_from(PHASES), min_size=1).map(lambda s: tuple(sorted(s))),
    st.sampled_from(PHASES),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, True, False]),
)


def source(arrows: tuple[Arrow, ...]) -> str:
    lines = ["from lawful import Machine, State, require, terminal, transition", "", ""]
    lines += ["class Phase(State):", *(f'    {p} = "{p}"' for p in PHASES), "", ""]
    lines += ["class Made(Machine):", "    state: Phase = Phase.A", "    flag: bool = False", ""]
    for name, arrow in zip(EVENTS, arrows, strict=True):
        sources = ", ".join(f"Phase.{p}" for p in arrow.sources)
        lines.append(f"    @transition(source=[{sources}], target=Phase.{arrow.target})")
        lines.append(f"    def {name}(self) -> None:")
        if arrow.asks is not None:
            lines.append(f"        require(self.flag == {arrow.asks})")
        lines.append("        pass" if arrow.sets is None else f"        self.flag = {arrow.sets}")
        lines.append("")
    lines += [
        "    @terminal",
        "    def over(self) -> bool:",
        "        return self.state == Phase.C",
    ]
    return "\n".join(lines) + "\n"


def by_force(
    arrows: tuple[Arrow, ...], hidden: frozenset[str], attach: bool, trace: list[str]
) -> tuple[str, int | None, int]:
    """Verdict, place of the first deviation, and whether it hinges, by trying every run."""
    table: dict[str, Arrow] = dict(zip(EVENTS, arrows, strict=True))

    def spread(states: set[tuple[str, bool]], names: frozenset[str]) -> set[tuple[str, bool]]:
        out = set(states)
        for _ in range(len(PHASES) * 2):
            out |= {s for at in out for name in names for s in table[name].goes(*at)}
        return out

    first = {("A", False)}
    sure, all_of = first, spread(first, frozenset(EVENTS)) if attach else first
    for n, name in enumerate(trace):
        sure = {s for at in sure for s in table[name].goes(*at)}
        all_of = {s for at in spread(all_of, hidden) for s in table[name].goes(*at)}
        if not all_of:
            return "deviates", n, 0
    last = spread(all_of, hidden)
    ends = {phase == "C" for phase, _ in last}
    return "fits" if True in ends else "open", None, int(not sure or len(ends) > 1)


NUMBER = itertools.count()


def generated(folder: Path, arrows: tuple[Arrow, ...]) -> type[Machine]:
    path = folder / f"generated_machine_{next(NUMBER)}.py"
    path.write_text(source(arrows), encoding="utf-8")
    return targets.machine(f"{path}:Made")


@settings(max_examples=25, deadline=None)
@given(
    arrows=st.tuples(ARROW, ARROW, ARROW, ARROW),
    hidden=st.frozensets(st.sampled_from(EVENTS), max_size=2),
    attach=st.booleans(),
    traces=st.lists(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=6), max_size=8),
)
def test_agreement_with_brute_force(
    arrows: tuple[Arrow, ...],
    hidden: frozenset[str],
    attach: bool,
    traces: list[list[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    machine = generated(tmp_path_factory.mktemp("made"), arrows)
    how = program(machine, hidden=sorted(hidden), attach=attach)
    for trace in traces:
        assert told(judged(how, *trace)) == by_force(arrows, hidden, attach, trace)


LOG: list[dict[str, Any]] = [
    {"i": name, "n": n, "e": each}
    for name, events in {
        "a": ("arm", "fire", "rest"),
        "b": ("fire", "rest", "arm"),
        "c": ("fire", "fire"),
        "d": ("arm", "rest", "arm"),
        "e": ("rest", "rest"),
    }.items()
    for n, each in enumerate(events)
]
VERDICTS = {"a": "fits", "b": "open", "c": "deviates", "d": "open", "e": "deviates"}


def test_files_and_increments_tell_the_same(tmp_path: Path) -> None:
    how = program(Light, attach=True, hidden=["fire"])
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in LOG), encoding="utf-8")
    result = replay([path], how)
    answer: Any = result.to_json()
    assert answer["by_instance"] == VERDICTS
    assert answer["counts"]["hinges"] == 2
    assert "instances whose verdict hinges on something unseen: 2" in replays.text(result)
    states: dict[str, str] = {}
    tally = Tally()
    for number in range(3):
        day = [each for each in LOG if each["n"] == number]
        path.write_text("".join(json.dumps(each) + "\n" for each in day), encoding="utf-8")
        found = replay_increment([path], how, states)
        states, tally = dict(found.states), found.tallies.machines["Light"]
    last = result.tallies.machines["Light"]
    assert (tally.named, tally.counts) == (last.named, last.counts)


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.xdist_group("spark")
def test_spark_tells_the_same(session: Any) -> None:
    how = program(Light, attach=True, hidden=["fire"])
    rows = session.createDataFrame([(json.dumps(each),) for each in LOG], "value string")
    found = replay_frame(rows, how).verdicts.collect()
    assert {row.instance: row.verdict for row in found} == VERDICTS
    assert sum(row.hinges for row in found) == 2
