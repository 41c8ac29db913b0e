"""Machines of transitions, imported: what is wrong in them is said, the rest can be checked."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from transitions import Machine as Theirs
from transitions import State
from transitions.extensions import HierarchicalMachine

from lawful import Refused
from lawful.runtime.interop import Imported, from_transitions


class Matter:
    """A model, whose conditions are what a test says they are."""

    hot = False
    pressed = False

    def is_hot(self) -> bool:
        return self.hot

    def is_pressed(self) -> bool:
        return self.pressed

    def log(self) -> None: ...


STATES = ["solid", "liquid", "gas"]
ROWS: list[dict[str, Any]] = [
    {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": "is_hot",
     "unless": "is_pressed"},
    {"trigger": "heat", "source": "solid", "dest": "liquid", "before": "log"},
    {"trigger": "heat", "source": "liquid", "dest": "gas", "conditions": ["is_hot"]},
    {"trigger": "cool", "source": ["gas", "liquid"], "dest": "solid"},
    {"trigger": "look", "source": "*", "dest": None},
    {"trigger": "shake", "source": "*", "dest": "="},
]


def theirs(rows: list[dict[str, Any]], model: Any = None) -> Any:
    return Theirs(model or Matter(), states=STATES, transitions=rows, initial="solid")


def loaded(found: Imported, tmp_path: Path) -> ModuleType:
    path = tmp_path / "imported.py"
    path.write_text(found.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("imported_machine", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_declaration_does_what_the_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = from_transitions(theirs(ROWS))
    assert found.problems == ()
    module = loaded(found, tmp_path)
    monkeypatch.setitem(sys.modules, "imported_machine", module)
    taken = 0
    for state, trigger, hot, pressed in itertools.product(
        STATES, ("heat", "cool", "look", "shake"), (False, True), (False, True)
    ):
        model: Any = Matter()
        model.hot, model.pressed = hot, pressed
        machine = theirs(ROWS, model)
        machine.set_state(state)
        ours = module.Imported.lawful.state(state=module.Place(state))
        values = {"is_hot": hot, "is_pressed": pressed}
        names = [name for name, _ in module.Imported.lawful.plan.ways[trigger].params]
        try:
            ours.lawful.take(trigger, *(values[name] for name in names))
            done = True
        except Refused:
            done = False
        assert done == getattr(model, f"may_{trigger}")()
        if done:
            getattr(model, trigger)()
            taken += 1
        assert ours.state.value == model.state
    assert taken == 4 + 2 + 8 + 12 + 12


def test_what_is_wrong_is_said() -> None:
    class Own(Matter):
        def look(self) -> None: ...

    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": "is_hot"},
        {"trigger": "cool", "source": "gas", "dest": "sold"},
        {"trigger": "cool", "source": "liquid", "dest": "solid", "after": "lgo"},
        {"trigger": "look", "source": "solid", "dest": None},
    ]
    assert from_transitions(theirs(rows, Own())).problems == (
        "heat from solid to gas is never reached: one before it, to liquid, is taken whenever it"
        " could be",
        "cool from gas leads to sold, which is no state",
        "look is no trigger of Own, which has its own look",
        "cool from liquid calls lgo, which Own does not have",
    )


def test_what_cannot_be_imported_is_said() -> None:
    nested: list[Any] = ["a", {"name": "b", "children": ["c"]}]
    with pytest.raises(ValueError, match="its states are nested"):
        from_transitions(HierarchicalMachine(Matter(), states=nested, initial="a"))
    with pytest.raises(ValueError, match="no event can be called heat up"):
        from_transitions(theirs([{"trigger": "heat up", "source": "solid", "dest": "gas"}]))
    twice: list[Any] = ["a b", "a_b"]
    with pytest.raises(ValueError, match="one name here: a b, a_b"):
        from_transitions(Theirs(Matter(), states=twice, initial="a b"))


def test_final_states_are_no_deadlocks() -> None:
    found = from_transitions(
        Theirs(Matter(), states=["solid", State("gone", final=True)], initial="solid")
    )
    assert "@terminal" in found.text
    assert "return self.state in (Place.GONE, )" in found.text
