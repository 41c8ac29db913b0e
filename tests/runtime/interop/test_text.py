"""Machines of transitions as declarations: the text, and that it does the same."""

from __future__ import annotations

import enum
import itertools
import os
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import Machine as Theirs
from transitions import State

from lawful import Refused
from lawful.runtime.interop import Imported, from_transitions
from tests.runtime.interop.samples import MOST, ROWS, STATES, Color, Matter, theirs

TEXT = '''"""Imported from a transitions.Machine."""

from lawful import Machine, State, event, require, transition


class Place(State):
    """Where a model is."""

    SOLID = 'solid'
    LIQUID = 'liquid'
    GAS = 'gas'


class Imported(Machine):
    """The triggers of a transitions.Machine as events.

    Its automatic triggers (to_STATE) are left out.
    """

    state: Place = Place.SOLID

    @event
    def heat(self, hot: bool, is_pressed: bool) -> None: ...

    @transition(event='heat', source=Place.SOLID, target=Place.GAS)
    def heat_1(self, hot: bool, is_pressed: bool) -> None:
        """No callbacks."""
        require(hot, 'is_hot')
        require(not is_pressed, 'is_pressed')

    @transition(event='heat', source=Place.SOLID, target=Place.LIQUID)
    def heat_2(self, hot: bool, is_pressed: bool) -> None:
        """before: log."""
        require(not (hot and not is_pressed), "an earlier row is taken")

    @transition(event='heat', source=Place.LIQUID, target=Place.GAS)
    def heat_3(self, hot: bool, is_pressed: bool) -> None:
        """No callbacks."""
        require(hot, 'is_hot')

    @transition(source=(Place.GAS, Place.LIQUID), target=Place.SOLID)
    def cool(self) -> None:
        """No callbacks."""

    @transition()
    def look(self) -> None:
        """No state is left or entered."""

    @transition()
    def shake(self) -> None:
        """No callbacks."""
'''


def arguments(found: Imported, event: str, model: Any) -> list[Any]:
    """What the inputs of an event are for a model."""
    out: list[Any] = []
    for each in found.inputs[event]:
        value = getattr(model, each.source)
        out.append(value() if callable(value) else value)
    return out


def agrees(machine: Any, found: Imported, ours: Any, trigger: str) -> bool:
    """Whether a trigger is taken; it does the same in both, from the state of the model."""
    model = machine.model
    event = found.events[trigger]
    entry = ours.lawful.state(state=type(ours().state)(model.state))
    args = arguments(found, event, model)
    try:
        entry.lawful.take(event, *args)
        done = True
    except Refused:
        done = False
    assert done == getattr(model, f"may_{trigger}")()
    if done:
        getattr(model, trigger)()
    assert entry.state.value == model.state
    return done


def test_the_text_is_what_one_would_write() -> None:
    found = from_transitions(theirs(ROWS))
    assert found.text == TEXT
    assert found.problems == ()
    assert found.events == {name: name for name in ("heat", "cool", "look", "shake")}
    ways = {key: way for key, way in found.ways.items() if key[0] == "heat"}
    assert ways == {
        ("heat", "solid", 0): "heat_1",
        ("heat", "solid", 1): "heat_2",
        ("heat", "liquid", 0): "heat_3",
    }


def test_the_declaration_does_what_the_machine_does() -> None:
    found = from_transitions(theirs(ROWS))
    ours: Any = found.load()
    taken = 0
    for state, trigger, hot, pressed in itertools.product(
        STATES, ("heat", "cool", "look", "shake"), (False, True), (False, True)
    ):
        model: Any = Matter()
        model.hot, model.pressed = hot, pressed
        machine = theirs(ROWS, model)
        machine.set_state(state)
        taken += agrees(machine, found, ours, trigger)
    assert taken == 4 + 2 + 8 + 12 + 12


CONDITIONS = st.lists(st.sampled_from(["is_hot", "is_pressed", "boils"]), max_size=2)
RANDOM = st.lists(
    st.fixed_dictionaries(
        {
            "trigger": st.sampled_from(["go", "stop"]),
            "source": st.sampled_from([*STATES, "*"]),
            "dest": st.sampled_from([*STATES, "=", None]),
            "conditions": CONDITIONS,
            "unless": CONDITIONS,
        }
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=25)
@given(RANDOM, st.sampled_from([False, True]), st.sampled_from([None, True]))
def test_random_machines_do_the_same(
    rows: list[dict[str, Any]], automatic: bool, ignoring: bool | None
) -> None:
    model: Any = Matter()
    machine = theirs(rows, model, ignore_invalid_triggers=ignoring)
    found = from_transitions(machine, automatic=automatic)
    ours: Any = found.load()
    model.color = Color.RED
    for state, hot, pressed, degrees in itertools.product(
        STATES, (False, True), (False, True), (MOST, MOST + 1)
    ):
        for trigger, event in found.events.items():
            model.hot, model.pressed, model.temperature = hot, pressed, degrees
            machine.set_state(state)
            ignored = bool(ignoring) and state not in machine.events[trigger].transitions
            if not ignored:
                agrees(machine, found, ours, trigger)
                continue
            entry = ours.lawful.state(state=type(ours().state)(state))
            assert entry.lawful.take(event, *arguments(found, event, model)) is None
            assert getattr(model, trigger)() is False
            assert entry.state.value == model.state == state


def test_what_has_no_possible_name_gets_another() -> None:
    states = ["a b", "a_b", "_c", "3", "mro"]
    rows: list[dict[str, Any]] = [
        {"trigger": name, "source": "a b", "dest": "a_b"}
        for name in ("heat up", "_heat", "transition", "import", "3")
    ]
    rows.append({"trigger": "heat_up", "source": "_c", "dest": "3"})
    machine = Theirs(Matter(), states=states, transitions=rows, initial="a b")
    found = from_transitions(machine)
    assert found.events == {
        "heat up": "heat_up",
        "_heat": "heat",
        "transition": "transition_",
        "import": "import_",
        "3": "n_3",
        "heat_up": "heat_up_2",
    }
    assert found.states == {"a b": "A_B", "a_b": "A_B_2", "_c": "C", "3": "N_3", "mro": "MRO"}
    assert found.problems[:3] == (
        "heat up is called heat_up here: no event can have its name",
        "_heat is called heat here: no event can have its name",
        "transition is called transition_ here: no event can have its name",
    )
    entry: Any = found.load()()
    entry.lawful.take("import_")
    assert entry.state.value == "a_b"


def test_enums_as_states_ordered_transitions_and_queues_are_kept() -> None:
    class Phase(enum.Enum):
        FIRST = 1
        SECOND = 2
        THIRD = 3

    machine = Theirs(
        Matter(), states=Phase, initial=Phase.SECOND, ordered_transitions=True, queued=True
    )
    found = from_transitions(machine)
    assert found.problems == ()
    entry: Any = found.load()()
    assert "Triggers that callbacks call are queued." in found.text
    seen = [entry.state.value]
    for _ in range(3):
        entry.next_state()
        seen.append(entry.state.value)
    assert seen == ["SECOND", "THIRD", "FIRST", "SECOND"]


def test_automatic_triggers_are_imported_only_where_they_are_asked_for() -> None:
    machine = theirs(ROWS)
    machine.add_transition("to_gas", "solid", "liquid", conditions="is_hot")
    found = from_transitions(machine, automatic=True)
    assert [name for name in found.events if name.startswith("to_")] == [
        "to_solid",
        "to_liquid",
        "to_gas",
    ]
    assert found.problems == (
        "to_gas from solid to liquid is never reached: one before it, to gas, is taken whenever"
        " it could be",
    )
    entry: Any = found.load()()
    entry.to_gas()
    assert entry.state.value == "gas"
    without = from_transitions(machine)
    assert "to_gas" not in without.events


def test_what_is_ignored_is_kept() -> None:
    states: list[Any] = ["solid", State("liquid", ignore_invalid_triggers=False), "gas"]
    rows = [
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
        {"trigger": "cool", "source": "liquid", "dest": "gas"},
    ]
    machine = Theirs(
        Matter(), states=states, transitions=rows, initial="solid", ignore_invalid_triggers=True
    )
    entry: Any = from_transitions(machine).load()()
    assert entry.cool() is None
    entry.heat()
    with pytest.raises(Refused):
        entry.heat()
    entry.cool()
    assert (entry.cool(), entry.heat()) == (None, None)
    assert entry.state.value == "gas"


def test_functions_of_one_name_are_several_conditions() -> None:
    rows: list[dict[str, Any]] = [
        {
            "trigger": "heat",
            "source": "solid",
            "dest": "gas",
            "conditions": [lambda: True, lambda: False, partial(os.path.isdir, "")],
        },
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
    ]
    text = from_transitions(theirs(rows)).text
    assert "    def heat(self, lambda_: bool, lambda_2: bool, isdir: bool) -> None: ...\n" in text


def test_what_was_asked_before_a_preparation_is_asked_again() -> None:
    rows = [
        {
            "trigger": "heat",
            "source": "solid",
            "dest": "gas",
            "conditions": "boils",
            "prepare": "log",
        },
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": "is_pressed"},
        {
            "trigger": "heat",
            "source": "solid",
            "dest": "liquid",
            "conditions": "boils",
            "prepare": "log",
        },
        {"trigger": "heat", "source": "solid", "dest": "liquid", "conditions": "is_pressed"},
    ]
    found = from_transitions(theirs(rows))
    assert [(each.name, each.type) for each in found.inputs["heat"]] == [
        ("temperature", "int"),
        ("color", "Color"),
        ("is_pressed", "bool"),
        ("temperature_again", "int"),
        ("color_again", "Color"),
        ("is_pressed_again", "bool"),
    ]
    assert found.problems == ()


def test_final_states_are_no_deadlocks() -> None:
    found = from_transitions(
        Theirs(Matter(), states=["solid", State("gone", final=True)], initial="solid")
    )
    assert "@terminal" in found.text
    assert "return self.state == Place.GONE" in found.text


def test_callbacks_are_told_by_name() -> None:
    rows = [
        {
            "trigger": "heat",
            "source": "solid",
            "dest": "liquid",
            "prepare": ["log", "log"],
            "before": lambda: None,
            "after": "log",
        }
    ]
    machine = theirs(rows, before_state_change="log")
    machine.on_enter_gas("log")
    text = from_transitions(machine).text
    assert "prepare: log; prepare: log; before: _lambda_; after: log." in text
    assert "    on_enter of gas: log\n    before_state_change: log\n" in text


def test_transitions_is_imported_only_by_what_has_its_interface() -> None:
    run = "import sys, lawful, lawful.runtime.interop; sys.exit('transitions' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode == 0
