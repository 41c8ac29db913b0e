"""Timeouts of states become timers that do what transitions' threads do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import Machine as Theirs
from transitions.core import MachineError
from transitions.extensions import states
from transitions.extensions.states import Timeout, add_state_features

from lawful import Refused
from lawful.cli import main
from lawful.runtime.interop import from_transitions
from lawful.runtime.timers import SimulatedClock
from tests.runtime.interop.samples import Matter


class Waiting:
    """In the place of `threading.Timer`: a test lets the time pass."""

    running: list[Waiting]
    now = 0.0

    def __init__(self, seconds: float, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.at = Waiting.now + seconds
        self.call = functools.partial(call, *args)
        self.daemon = False

    def start(self) -> None:
        Waiting.running.append(self)

    def is_alive(self) -> bool:
        return self in Waiting.running

    def cancel(self) -> None:
        Waiting.running.remove(self)

    @classmethod
    def advance(cls, seconds: float) -> None:
        """Let the time pass; errors of callbacks end in their threads, as in transitions."""
        cls.now += seconds
        for timer in sorted((t for t in cls.running if t.at <= cls.now), key=lambda t: t.at):
            if timer in cls.running:
                cls.running.remove(timer)
                try:
                    timer.call()
                except MachineError:
                    continue


@add_state_features(Timeout)
class Timed(Theirs): ...


def machine(model: Any, states: list[Any], rows: list[Any], **options: Any) -> Any:
    return Timed(model, states=states, transitions=rows, initial="a", **options)


NAMES = ("a", "b", "c")
timeouts = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.integers(1, 3), st.sampled_from(["go", "stop", "to_a", "to_c", "log"])),
)
rows = st.lists(
    st.tuples(
        st.sampled_from(["go", "stop"]),
        st.sampled_from([*NAMES, "*"]),
        st.sampled_from([*NAMES, "=", None]),
        st.sampled_from([None, "is_pressed"]),
    ),
    min_size=1,
    max_size=6,
)
steps = st.lists(st.sampled_from(["go", "stop", 1, 2, 3]), min_size=1, max_size=8)


@settings(max_examples=40)
@given(timeouts, rows, steps, st.booleans())
def test_timers_do_what_the_threads_of_transitions_do(
    limits: dict[str, tuple[int, str]],
    several: list[tuple[str, str, str | None, str | None]],
    path: list[Any],
    pressed: bool,
) -> None:
    """The same states at the same times, and the same time left. A timeout with a condition is an
    event with arguments, which a service calls when it is due."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "Timer", Waiting)
        Waiting.running, Waiting.now = [], 0.0
        model: Any = Matter()
        model.pressed = pressed
        each = [
            {"name": n, "timeout": limits[n][0], "on_timeout": limits[n][1]} if n in limits else n
            for n in NAMES
        ]
        keys = ("trigger", "source", "dest", "conditions")
        both = [dict(zip(keys, row, strict=True)) for row in several]
        theirs = machine(model, each, both, ignore_invalid_triggers=True)
        found = from_transitions(theirs)
        clock = SimulatedClock()
        entry: Any = found.load()(clock=clock)
        for step in path:
            if isinstance(step, str):
                if step in found.events:
                    taken(entry, found.events[step], found, pressed)
                    getattr(model, step)()
            else:
                clock.advance(step)
                for timer, at in deadlines(entry, clock.now()).items():
                    if at <= clock.now():
                        taken(entry, timer.replace("timer", "timeout"), found, pressed)
                Waiting.advance(step)
            assert entry.state.value == model.state
            running = {timer.at for timer in Waiting.running}
            assert set(deadlines(entry, clock.now()).values()) == running


def deadlines(entry: Any, now: float) -> dict[str, float]:
    """When each timer goes off that is armed, also one whose event has parameters."""
    held: dict[str, Any] = entry.lawful.snapshot()["variables"]
    return {n: now + at for n, at in held.items() if n != "state" and at is not None}


def taken(entry: Any, event: str, found: Any, pressed: bool) -> None:
    try:
        entry.lawful.take(event, *[pressed for _ in found.inputs[event]])
    except Refused:
        return


def test_a_timeout_without_a_condition_fires_by_itself() -> None:
    limits = {"name": "b", "timeout": 2.5, "on_timeout": ["back", "log"]}
    found = from_transitions(
        machine(Matter(), ["a", limits], [["go", "a", "b"], ["back", "b", "a"]])
    )
    assert found.problems == ()
    clock = SimulatedClock()
    entry: Any = found.load()(clock=clock)
    entry.go()
    assert entry.lawful.next_deadline() == 2.5
    clock.advance(2.5)
    entry.lawful.fire_due(clock.now())
    assert (entry.state.value, entry.lawful.next_deadline()) == ("a", None)
    entry.go()
    entry.back()
    assert entry.lawful.next_deadline() is None


def test_the_text_of_a_timeout() -> None:
    limits = [
        {"name": "b", "timeout": 2.5, "on_timeout": ["go", "log"]},
        {"name": "c", "timeout": 1, "on_timeout": "log"},
    ]
    rows = [
        ["go", "a", "b"],
        {"trigger": "go", "source": "b", "dest": "c", "conditions": "is_pressed"},
    ]
    text = from_transitions(machine(Matter(), ["a", *limits], rows)).text
    assert text.partition("    timer_of_b")[2] == TEXT


TEXT = ''': Timer = Timer()
    timer_of_c: Timer = Timer()

    @event
    def go(self, is_pressed: bool) -> None: ...

    @transition(event='go', source=Place.A, target=Place.B)
    def go_1(self, is_pressed: bool) -> None:
        """No callbacks."""
        self.timer_of_b.start(2.5)

    @transition(event='go', source=Place.B, target=Place.C)
    def go_2(self, is_pressed: bool) -> None:
        """No callbacks."""
        require(is_pressed, 'is_pressed')
        self.timer_of_b.stop()
        self.timer_of_c.start(1)

    @event
    def timeout_of_b(self, is_pressed: bool) -> None: ...

    @transition(event='timeout_of_b', source=Place.B, timer='timer_of_b', target=Place.C)
    def timeout_of_b_1(self, is_pressed: bool) -> None:
        """on_timeout: go, log; No callbacks."""
        require(is_pressed, 'is_pressed')
        self.timer_of_c.start(1)

    @transition(event='timeout_of_b', source=Place.B, timer='timer_of_b')
    def timeout_of_b_2(self, is_pressed: bool) -> None:
        """on_timeout: go, log."""
        require(not (is_pressed), "an earlier row is taken")

    @transition(source=Place.C, timer='timer_of_c')
    def timeout_of_c(self) -> None:
        """on_timeout: log."""
'''


def test_what_a_timer_does_not_do_is_a_problem() -> None:
    rows = [["go", "a", "b"], ["back", "b", "a"]]
    several = {"name": "b", "timeout": 1, "on_timeout": ["back", "log", "go"]}
    assert from_transitions(machine(Matter(), ["a", several], rows)).problems == (
        "b has a Timeout: after back it triggers go in the state that is then reached, which the"
        " declaration does not do",
    )
    wrong = {"name": "b", "timeout": 1, "on_timeout": "go"}
    assert from_transitions(machine(Matter(), ["a", wrong], rows)).problems == (
        "the Timeout of b triggers go, which has no row from b",
    )
    never = {"name": "b", "timeout": float("inf"), "on_timeout": "back"}
    found = from_transitions(machine(Matter(), ["a", never], rows))
    assert found.problems == ("b has a Timeout of inf seconds: no timer can wait that long",)
    assert "Timer" not in found.text


def test_a_trigger_may_be_given_as_the_method_of_a_model() -> None:
    model: Any = Matter()
    theirs = machine(
        model, ["a", {"name": "b", "timeout": 1, "on_timeout": "log"}], [["go", "a", "b"]]
    )
    theirs.add_transition("back", "b", "a")
    theirs.get_state("b").on_timeout = model.back
    assert "timer='timer_of_b', target=Place.A" in from_transitions(theirs).text


def test_a_state_that_only_a_timeout_leaves_is_no_deadlock(tmp_path: Path) -> None:
    for number, timeout in enumerate(({"timeout": 1, "on_timeout": "to_a"}, {})):
        theirs = machine(Matter(), ["a", {"name": "b", **timeout}], [["go", "a", "b"]])
        file = tmp_path / "imported.py"
        file.write_text(from_transitions(theirs).text, encoding="utf-8")
        assert main(["check", str(file), "--quiet"]) == number
