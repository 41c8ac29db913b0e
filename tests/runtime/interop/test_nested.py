"""Nested states become flat ones, between which the rows lead as transitions itself goes."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions.extensions import HierarchicalMachine, LockedHierarchicalMachine, states
from transitions.extensions.nesting import NestedState
from transitions.extensions.states import Timeout, add_state_features

from lawful import Refused
from lawful.runtime.interop import Imported, from_transitions
from lawful.runtime.timers import SimulatedClock
from tests.runtime.interop.samples import Matter
from tests.runtime.interop.test_timeouts import Waiting, deadlines

STATES: list[Any] = [
    "a",
    {
        "name": "b",
        "initial": "x",
        "children": ["x", {"name": "y", "initial": "q", "children": ["p", "q"]}],
        "transitions": [["go", "x", "y"], {"trigger": "stop", "source": "y_p", "dest": "x"}],
    },
    {"name": "c", "children": ["z"]},
]
NAMES = ("a", "b", "b_x", "b_y", "b_y_p", "b_y_q", "c", "c_z")
RESTING = ("a", "b_x", "b_y_p", "b_y_q", "c", "c_z")


def nested(model: Any, rows: list[Any], of: Any = HierarchicalMachine, **options: Any) -> Any:
    return of(model, states=STATES, transitions=rows, initial="b", **options)


def taken(entry: Any, found: Imported, trigger: str, model: Any) -> bool:
    event = found.events[trigger]
    given = [getattr(model, each.source)() for each in found.inputs[event]]
    try:
        entry.lawful.take(event, *given)
    except Refused:
        return False
    return True


rows = st.lists(
    st.fixed_dictionaries(
        {
            "trigger": st.sampled_from(["go", "stop"]),
            "source": st.sampled_from([*NAMES, "*"]),
            "dest": st.sampled_from([*NAMES, "=", None]),
            "conditions": st.lists(st.sampled_from(["is_hot", "is_pressed"]), max_size=1),
            "unless": st.lists(st.sampled_from(["is_pressed"]), max_size=1),
        }
    ),
    max_size=6,
)


class Model(Matter):
    def is_hot(self) -> bool:
        """An opaque one: it calls something."""
        return bool(self.hot)


@pytest.mark.nightly
@settings(max_examples=25)
@given(rows, st.booleans(), st.booleans())
def test_random_machines_do_the_same(several: list[Any], hot: bool, pressed: bool) -> None:
    """From each state, for each trigger."""
    model: Any = Model()
    model.hot, model.pressed = hot, pressed
    machine = nested(model, several, ignore_invalid_triggers=True)
    found = from_transitions(machine, automatic=True)
    ours: Any = found.load()
    places: Any = ours().state.__class__
    assert (set(found.states), ours().state.value, model.state) == (set(RESTING), "b_x", "b_x")
    for state in RESTING:
        for trigger in found.events:
            machine.set_state(state)
            entry = ours.lawful.state(state=places(state))
            served = (trigger, state, 0) in found.ways  # Else both ignore it.
            done = taken(entry, found, trigger, model)
            assert getattr(model, trigger)() == (done and served)
            assert entry.state.value == model.state


def test_inner_rows_come_before_outer_ones() -> None:
    rows = [["go", "b", "a"], {"trigger": "go", "source": "b_y", "dest": "c", "unless": "is_hot"}]
    found = from_transitions(nested(Model(), rows))
    assert found.problems == (
        "b_y_p is reached by to_b_y_p only",
        "c_z is reached by to_c_z only",
    )
    assert [(way, name) for way, name in found.ways.items() if way[0] == "go"] == [
        (("go", "b_x", 0), "go_1"),
        (("go", "b_x", 1), None),
        (("go", "b_y_p", 0), "go_2"),
        (("go", "b_y_p", 1), "go_3"),
        (("go", "b_y_q", 0), "go_2"),
        (("go", "b_y_q", 1), "go_3"),
    ]


def test_what_was_asked_for_an_inner_state_is_asked_again_where_something_is_prepared() -> None:
    """For each state around, transitions calls `prepare_event` once more."""
    rows = [
        {"trigger": "end", "source": source, "dest": "a", "conditions": "is_hot"}
        for source in ("b_x", "b")
    ]
    for options, names in (
        ({}, ["is_hot"]),
        ({"prepare_event": "log"}, ["is_hot", "is_hot_again"]),
    ):
        found = from_transitions(nested(Model(), rows, **options))
        assert [each.name for each in found.inputs["end"]] == names


def test_what_an_inner_row_replaces_is_no_flaw_but_a_row_behind_its_own_is() -> None:
    rows = [["go", "b", "a"], ["go", "b", "c"], ["go", "b_y", "a"]]
    problems = from_transitions(nested(Model(), rows)).problems
    assert [each for each in problems if "never reached" in each] == [
        f"go from {state} to c is never reached: one before it, to a, is taken whenever it could be"
        for state in ("b_x", "b_y_p", "b_y_q")
    ]


def test_the_states_around_are_named_where_their_callbacks_are() -> None:
    class Watched(Model):
        def on_enter_b(self) -> None: ...
        def on_exit_b_y(self) -> None: ...
        def on_enter_d(self) -> None: ...

    machine = nested(Watched(), [["go", "a", "b_y"]], before_state_change="log")
    found = from_transitions(machine)
    assert "    on_enter of b: on_enter_b\n    on_exit of b_y: on_exit_b_y\n" in found.text
    assert "on_enter_d of Watched is never called: there is no state d" in found.problems


@pytest.mark.parametrize("separator", ["_", ".", "/"])
def test_other_separators_and_classes(separator: str) -> None:
    class Inner(NestedState):
        pass

    Inner.separator = separator

    class Mine(LockedHierarchicalMachine):
        state_cls = Inner

    where = separator.join(["b", "y", "p"])
    machine: Any = Mine(Model(), states=STATES, transitions=[["up", "a", where]], initial="a")
    found = from_transitions(machine)
    entry: Any = found.load()()
    entry.up()
    assert (entry.state.name, entry.state.value) == ("B_Y_P", where)
    assert not [each for each in found.problems if "no method" in each or "no trigger" in each]


def test_nested_enums() -> None:
    class Inner(enum.Enum):
        X = 1
        Y = 2

    class Outer(enum.Enum):
        A = "a"
        B = Inner

    rows: list[Any] = [["go", Outer.A, Inner.Y]]
    machine: Any = HierarchicalMachine(Model(), states=Outer, initial=Outer.A, transitions=rows)
    found = from_transitions(machine)
    assert list(found.states) == ["A", "B", "B_X", "B_Y"]
    entry: Any = found.load()()
    entry.go()
    assert entry.state.value == "B_Y"


def test_rows_to_no_state_are_flaws() -> None:
    problems = from_transitions(nested(Model(), [["go", "b_x", "b_w"]])).problems
    assert "go from b_x leads to b_w, which is no state" in problems


@add_state_features(Timeout)
class Timed(HierarchicalMachine): ...


# Into the state with the timeout, about in it, out of it; and its end in each place.
PATHS: list[list[Any]] = [
    ["enter", 1, "about", 1],
    ["enter", 1, "leave", 5],
    ["enter", "about", 1, "again", 1, 1],
    ["enter", 1, 1, 1],
    ["about", 1, 1],
]


@pytest.mark.parametrize("path", PATHS)
def test_a_timeout_of_a_state_around_others(path: list[Any], monkeypatch: Any) -> None:
    """It begins where the state is entered from outside, and ends where that is left."""
    monkeypatch.setattr(states, "Timer", Waiting)
    Waiting.running, Waiting.now = [], 0.0
    timed = {"name": "b", "timeout": 2, "on_timeout": "end", "initial": "x", "children": ["x", "y"]}
    rows = [["enter", "a", "b"], ["about", "b_x", "b_y"], ["leave", "b", "a"], ["again", "b", "="]]
    rows += [["end", "b_x", "b_y"], ["end", "b", "a"], ["about", "a", "b_y"]]
    model: Any = Model()
    found = from_transitions(Timed(model, states=["a", timed], transitions=rows, initial="a"))
    clock = SimulatedClock()
    entry: Any = found.load()(clock=clock)
    assert found.problems == ()
    for step in path:
        if isinstance(step, str):
            getattr(entry, step)()
            getattr(model, step)()
        else:
            clock.advance(step)
            entry.lawful.fire_due(clock.now())
            Waiting.advance(step)
        assert entry.state.value == model.state
        at = [timer.at for timer in Waiting.running]
        assert list(deadlines(entry, clock.now()).values()) == at
