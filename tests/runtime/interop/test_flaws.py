"""What is wrong in machines of transitions is said; what cannot be imported is refused."""

from __future__ import annotations

from typing import Any

import pytest
from transitions import Machine as Theirs
from transitions.extensions import AsyncMachine, HierarchicalMachine

from lawful.runtime.interop import from_transitions
from lawful.runtime.interop.names import name_of
from tests.runtime.interop.samples import ROWS, STATES, Matter, theirs


def test_what_is_wrong_is_said() -> None:
    class Own(Matter):
        def look(self) -> None: ...

        def on_enter_sold(self) -> None: ...

        @staticmethod
        def on_exit_gas() -> None: ...

    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": "is_hot"},
        {"trigger": "cool", "source": "gas", "dest": "sold"},
        {"trigger": "cool", "source": "liquid", "dest": "solid", "after": "lgo"},
        {"trigger": "cool", "source": "gaz", "dest": "solid", "before": "os.path.joyn"},
        {"trigger": "look", "source": "solid", "dest": None, "prepare": "os.path.join"},
        {
            "trigger": "burn",
            "source": "solid",
            "dest": "gas",
            "conditions": "is_hot",
            "unless": "is_hot",
        },
    ]
    machine = theirs(rows, Own(), after_state_change="lgo", auto_transitions=False)
    assert from_transitions(machine).problems == (
        "heat from solid to gas is never reached: one before it, to liquid, is taken whenever it"
        " could be",
        "cool from gas leads to sold, which is no state",
        "cool from gaz: gaz is no state",
        "burn from solid to gas is never taken: it wants hot to be true and false",
        "look is no trigger of Own, which has its own look",
        "after_state_change calls lgo, which Own does not have",
        "cool from liquid calls lgo, which Own does not have",
        "cool from gaz calls os.path.joyn, which Own does not have",
        "on_enter_sold of Own is never called: there is no state sold",
        "on_exit_gas of Own is never called: it is no method",
    )


def test_what_is_never_awaited_is_said() -> None:
    class Late(Matter):
        async def is_calm(self) -> bool:
            return True

        async def write(self) -> None: ...

        def is_ready(self) -> bool:
            return True

    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "liquid", "conditions": "is_calm"},
        {"trigger": "heat", "source": "liquid", "dest": "gas", "conditions": "is_ready"},
        {"trigger": "cool", "source": "gas", "dest": "solid", "after": "write"},
    ]
    nothing = "Machine awaits nothing, so a callback does nothing and a condition is never true"
    assert from_transitions(theirs(rows, Late(), auto_transitions=False)).problems == (
        f"heat from solid calls is_calm, which is asynchronous: {nothing}",
        f"cool from gas calls write, which is asynchronous: {nothing}",
    )


def test_what_is_never_awaited_is_said_without_a_model() -> None:
    async def is_calm() -> bool:
        return True

    class Late:
        async def __call__(self) -> bool:
            return True

    late = Late()
    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "liquid", "conditions": [is_calm, late]},
        {"trigger": "heat", "source": "liquid", "dest": "gas", "conditions": "is_calm"},
        {"trigger": "cool", "source": "gas", "dest": "solid", "unless": lambda: True},
    ]
    options: dict[str, Any] = {"initial": "solid", "auto_transitions": False}
    for cls in (Theirs, AsyncMachine):
        made: Any = cls(None, states=STATES, transitions=rows, **options)
        said = [
            each for each in from_transitions(made).problems if "which is asynchronous: " in each
        ]
        assert [each.partition(", which is asynchronous")[0] for each in said] == (
            ["heat from solid calls is_calm", f"heat from solid calls {name_of(late)}"]
            if cls is Theirs
            else []
        )


def test_states_that_are_never_reached_are_said() -> None:
    rows = [{"trigger": "heat", "source": "gas", "dest": "liquid"}]
    assert from_transitions(theirs(rows)).problems == (
        "liquid is reached by to_liquid only",
        "gas is reached by to_gas only",
    )
    found = from_transitions(theirs(rows, auto_transitions=False))
    assert found.problems == ("liquid is reached never", "gas is reached never")
    machine = theirs(rows, auto_transitions=False)
    machine.add_model(Matter(), initial="gas")
    assert from_transitions(machine).problems == ()


def test_a_second_machine_of_a_model_is_told_what_it_does_not_get() -> None:
    model = Matter()
    rows = [{"trigger": "go", "source": "solid", "dest": "liquid"}]
    theirs(rows, model, auto_transitions=False)
    second = Theirs(
        model,
        states=["a", "b"],
        transitions=[["go", "a", "b"]],
        initial="a",
        model_attribute="other",
        auto_transitions=False,
    )
    assert from_transitions(second).problems == (
        "go is no trigger of Matter, which has its own go",
        "may_go is no trigger of Matter, which has its own may_go",
        "trigger is no method of the machine on Matter, which has its own trigger",
        "may_trigger is no method of the machine on Matter, which has its own may_trigger",
    )


def test_overriding_models_get_only_what_they_declare() -> None:
    class Declares(Matter):
        def go(self) -> bool:
            raise RuntimeError("to be overridden")

    rows = [{"trigger": "go", "source": "solid", "dest": "liquid"}]
    machine = Theirs(
        Declares(),
        states=["solid", "liquid"],
        transitions=rows,
        initial="solid",
        model_override=True,
        auto_transitions=False,
    )
    none = "which has none to be replaced: `model_override`"
    assert from_transitions(machine).problems == (
        f"may_go is no trigger of Declares, {none}",
        *(
            f"{name} is no method of the machine on Declares, {none}"
            for name in ("trigger", "may_trigger", "is_solid", "is_liquid")
        ),
    )


def test_parallel_states_are_refused() -> None:
    parallel: list[Any] = ["a", {"name": "p", "parallel": ["c", "d"]}]
    with pytest.raises(ValueError, match=r"its states are parallel \(p\): one state at a time is"):
        from_transitions(HierarchicalMachine(Matter(), states=parallel, initial="a"))
    both: Any = HierarchicalMachine(
        Matter(), states=["a", {"name": "p", "children": "c"}], initial="a"
    )
    both._initial = ["a", "p_c"]
    with pytest.raises(ValueError, match=r"its states are parallel \(the initial ones\)"):
        from_transitions(both)


def test_a_nested_machine_without_nested_states_is_a_flat_one() -> None:
    flat = HierarchicalMachine(Matter(), states=STATES, transitions=ROWS, initial="solid")
    own = "    Its class is HierarchicalMachine.\n"
    assert from_transitions(flat).text.replace(own, "") == from_transitions(theirs(ROWS)).text


def test_without_an_initial_state_there_is_nothing_to_begin_with() -> None:
    with pytest.raises(ValueError, match="it has no initial state"):
        from_transitions(Theirs(None, states=STATES, initial=None))


def test_what_fails_when_it_is_looked_at_is_there() -> None:
    class Fails(Matter):
        @property
        def bad(self) -> bool:
            raise ZeroDivisionError

    rows = [
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": "bad"},
        {"trigger": "heat", "source": "solid", "dest": "liquid"},
    ]
    assert from_transitions(theirs(rows, Fails())).problems == ()
