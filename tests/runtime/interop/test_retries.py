"""Limits of how often a state is entered from itself become counters that do what transitions
does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import Machine as Theirs
from transitions.extensions import HierarchicalMachine
from transitions.extensions import states as features_of_states
from transitions.extensions.states import Timeout, add_state_features

from lawful.runtime.interop import from_transitions
from tests.runtime.interop.samples import Matter
from tests.runtime.interop.test_timeouts import taken

Retry: type[Any] = vars(features_of_states)["Retry"]  # Its types do not tell of it.
NAMES = ("a", "b", "c")


@add_state_features(Retry)
class Retrying(Theirs): ...


@add_state_features(Timeout, Retry)
class TimedRetrying(Theirs): ...


@add_state_features(Retry)
class NestedRetrying(HierarchicalMachine): ...


def machine(cls: Any, states: list[Any], rows: list[Any], **options: Any) -> Any:
    return cls(Matter(), states=states, transitions=rows, initial="a", **options)


NEXT = {"a": "b", "b": "c", "c": "a"}
limits = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(st.integers(1, 2), st.booleans()), min_size=1
)
rows = st.lists(
    st.tuples(
        st.just("go"),
        st.sampled_from([*NAMES, "*"]),
        st.sampled_from([*NAMES, "=", "=", None]),
        st.sampled_from([None, None, "is_pressed"]),
    ),
    min_size=1,
    max_size=4,
)
steps = st.lists(st.sampled_from(["go", "go", "go", "fail", "to_b"]), min_size=4, max_size=16)


@settings(max_examples=25, deadline=None)
@given(limits, rows, steps, st.booleans(), st.booleans())
def test_counters_do_what_transitions_does(
    limits: dict[str, tuple[int, bool]],
    several: list[tuple[str, str, str | None, str | None]],
    path: list[str],
    pressed: bool,
    queued: bool,
) -> None:
    """The same states, and the same count in a state that has one."""
    each = [
        {
            "name": n,
            "retries": limits[n][0],
            "on_failure": "fail" if limits[n][1] else f"to_{NEXT[n]}",
        }
        if n in limits
        else n
        for n in NAMES
    ]
    keys = ("trigger", "source", "dest", "conditions")
    fail = [("fail", *both, None) for both in NEXT.items()]
    every = [dict(zip(keys, row, strict=True)) for row in (*fail, *several)]
    theirs = machine(Retrying, each, every, ignore_invalid_triggers=True, queued=queued)
    model: Any = theirs.models[0]
    model.pressed = pressed
    found = from_transitions(theirs, automatic=True)
    assert not any("has a Retry" in problem for problem in found.problems)
    entry: Any = found.load()()
    for step in path:
        taken(entry, found.events[step], found, pressed)
        getattr(model, step)()
        assert entry.state.value == model.state
        if model.state in limits:
            counts: Any = theirs.get_state(model.state)
            tries = getattr(entry, f"tries_of_{model.state}")
            assert tries == counts.retry_counts[id(model)]


ROWS = [
    ["go", "a", "b"],
    {"trigger": "go", "source": "b", "dest": "b", "conditions": "is_pressed", "before": "log"},
    ["go", "b", "a"],
    ["fail", "b", "c"],
]
LIMITED = {"name": "b", "retries": 3, "on_failure": "fail"}


def test_the_text_of_a_limit() -> None:
    found = from_transitions(machine(Retrying, ["a", LIMITED, "c"], ROWS))
    assert found.problems == ()
    assert found.text == TEXT
    assert found.ways["go", "b", 0] == "go_2"


def test_beyond_the_limit_the_failure_is_taken() -> None:
    found = from_transitions(machine(Retrying, ["a", LIMITED, "c"], ROWS))
    entry: Any = found.load()()
    entry.go(True)
    tries = [(entry.state.value, entry.tries_of_b)]
    for _ in range(4):
        entry.go(True)
        tries.append((entry.state.value, entry.tries_of_b))
    assert tries == [("b", 1), ("b", 2), ("b", 3), ("b", 4), ("c", 4)]


FAIL = {"trigger": "fail", "source": "b", "dest": "c"}
NOT = "which the declaration does not do"


@pytest.mark.parametrize(
    ("cls", "state", "rows"),
    [
        (Retrying, LIMITED | {"on_failure": "log"}, ROWS),  # It calls anything.
        (Retrying, LIMITED, [*ROWS[:-1], ["fail", "b", "b"]]),  # It would never end.
        (Retrying, LIMITED, [*ROWS[:-1], FAIL | {"conditions": "is_hot"}]),
        (TimedRetrying, LIMITED | {"timeout": 1, "on_timeout": "go"}, ROWS),
        (NestedRetrying, LIMITED | {"children": ["d"]}, ROWS),
    ],
)
def test_a_limit_that_no_declaration_has_is_said(cls: Any, state: Any, rows: list[Any]) -> None:
    found = from_transitions(machine(cls, ["a", state, "c"], rows))
    call = state["on_failure"]
    assert (
        "b has a Retry: entered from itself more than 3 times, it calls"
        f" {call} in the place of on_enter, {NOT}" in found.problems
    )
    assert "tries_of_b" not in found.text


TEXT = '''"""Imported from a transitions.Machine."""

from typing import Annotated

from annotated_types import Interval
from lawful import Machine, State, event, require, transition


class Place(State):
    """Where a model is."""

    A = 'a'
    B = 'b'
    C = 'c'


class Imported(Machine):
    """The triggers of a transitions.Machine as events.

    on_failure of b: fail
    Its class is Retrying.
    Its automatic triggers (to_STATE) are left out.
    """

    state: Place = Place.A
    tries_of_b: Annotated[int, Interval(ge=0, le=4)] = 0

    @event
    def go(self, is_pressed: bool) -> None: ...

    @transition(event='go', source=Place.A, target=Place.B)
    def go_1(self, is_pressed: bool) -> None:
        """No callbacks."""
        self.tries_of_b = 1

    @transition(event='go', source=Place.B, target=Place.B)
    def go_2(self, is_pressed: bool) -> None:
        """before: log."""
        require(is_pressed, 'is_pressed')
        require(self.tries_of_b <= 3, "it may be entered again")
        self.tries_of_b += 1

    @transition(event='go', source=Place.B, target=Place.C)
    def go_3(self, is_pressed: bool) -> None:
        """before: log."""
        require(is_pressed, 'is_pressed')
        require(self.tries_of_b > 3, "it was entered too often")

    @transition(event='go', source=Place.B, target=Place.A)
    def go_4(self, is_pressed: bool) -> None:
        """No callbacks."""
        require(not (is_pressed), "an earlier row is taken")

    @transition(source=Place.B, target=Place.C)
    def fail(self) -> None:
        """No callbacks."""
'''
