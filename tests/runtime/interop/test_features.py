"""What a machine of transitions does beyond its rows is said, for no declaration of them has it."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest
from transitions import Event, State, Transition
from transitions import Machine as Theirs
from transitions.core import Condition
from transitions.extensions import (
    AsyncMachine,
    GraphMachine,
    HierarchicalMachine,
    LockedMachine,
)
from transitions.extensions import states as features_of_states
from transitions.extensions.asyncio import AsyncTimeout
from transitions.extensions.states import Error, Tags, Timeout, Volatile, add_state_features

from lawful import PropertyViolated
from lawful.runtime.interop import from_transitions
from lawful.runtime.interop.drop_in import LawfulMachine
from tests.runtime.interop.samples import ROWS, STATES, Matter

Retry: type[Any] = vars(features_of_states)["Retry"]  # Its types do not tell of it.
PLAIN = [["go", "a", "b"], ["back", "b", "a"]]
NOT = "which the declaration does not do"


def problems(cls: Any, states: list[Any], rows: Any = PLAIN, **options: Any) -> tuple[str, ...]:
    machine = cls(
        Matter(), states=states, transitions=rows, initial="a", auto_transitions=False, **options
    )
    found = from_transitions(machine)
    found.load()
    return found.problems


def featured(*features: type[Any], of: Any = Theirs) -> Any:
    cls: Any = type("Featured", (of,), {})
    return add_state_features(*features)(cls)


def test_a_timeout_is_a_timer_and_no_problem() -> None:
    states = ["a", {"name": "b", "timeout": 2.5, "on_timeout": ["log", "back"]}]
    assert problems(featured(Timeout), states) == ()
    states = ["a", {"name": "b", "timeout": 1, "on_timeout": "lgo"}]
    assert problems(featured(Timeout), states) == (
        "on_timeout of b calls lgo, which Matter does not have",
    )
    assert problems(featured(Timeout), ["a", {"name": "b", "timeout": 0}]) == ()


def test_a_timeout_of_an_asynchronous_machine_is_a_timer() -> None:
    states = ["a", {"name": "b", "timeout": 1, "on_timeout": "back"}]
    assert problems(featured(AsyncTimeout, of=AsyncMachine), states) == (
        "Featured is asynchronous: an event can be cancelled between its callbacks, which no step"
        " of the declaration is",
    )


def test_other_features_are_said() -> None:
    states: list[Any] = ["a", {"name": "b", "retries": 3, "on_failure": "log"}]
    assert problems(featured(Retry), states) == (
        "b has a Retry: entered from itself more than 3 times, it calls log in the place of"
        f" on_enter, {NOT}",
    )
    assert problems(featured(Volatile), [{"name": "a", "hook": "box", "volatile": dict}, "b"]) == (
        f"a is Volatile: while a model is there, its box is a new dict, {NOT}",
        f"b is Volatile: while a model is there, its scope is a new VolatileObject, {NOT}",
    )
    assert problems(featured(Tags, Retry), ["a", "b"]) == ()


def test_an_error_is_an_invariant_and_an_accepted_end_is_terminal() -> None:
    cls, rows = featured(Error), [["go", "a", "b"], ["end", "a", "c"], ["on", "a", "d"]]
    rows.append(["back", "d", "a"])
    states: list[Any] = ["a", "b", {"name": "c", "accepted": True}, "d"]
    machine = cls(Matter(), states=states, transitions=rows, initial="a", auto_transitions=False)
    found = from_transitions(machine)
    assert found.problems == ()
    assert found.text[found.text.index("    @terminal") :] == ENDS
    made: Any = found.load()
    made.lawful.enforce("all")
    instance = made()
    with pytest.raises(PropertyViolated, match="no_error"):
        instance.go()
    instance.end()
    assert instance.state.value == "c"
    # Automatic triggers lead out of every state: transitions raises nothing.
    machine = cls(Matter(), states=states, transitions=rows, initial="a")
    assert "no_error" not in from_transitions(machine).text


ENDS = """\
    @terminal
    def final(self) -> bool:
        return self.state == Place.C

    @invariant
    def no_error(self) -> bool:
        return self.state != Place.B
"""


def test_tags_and_what_features_call_are_in_the_docstring() -> None:
    states: list[Any] = [
        {"name": "a", "tags": ["cold", "safe"]},
        {"name": "b", "timeout": 1, "on_timeout": "back"},
    ]
    machine = featured(Tags, Timeout)(Matter(), states=states, transitions=PLAIN, initial="a")
    doc = from_transitions(machine).load().__doc__
    assert doc is not None
    assert "tags of a: cold, safe\n" in doc and "on_timeout of b: back\n" in doc


def test_classes_that_decide_by_themselves_are_said() -> None:
    class Loud(State):
        def enter(self, event_data: Any) -> None: ...

    class Lazy(Transition):
        def execute(self, event_data: Any) -> bool:
            return False

    class Odd(Event):
        def trigger(self, model: Any, *args: Any, **kwargs: Any) -> bool:
            return True

    class Own(Theirs):
        state_cls, transition_cls, event_cls = Loud, Lazy, Odd

        def set_state(self, state: Any, model: Any = None) -> None: ...

    machine = Own(
        None, states=["a", "b"], transitions=[["go", "a", "b"]], initial="a", auto_transitions=False
    )
    assert from_transitions(machine).problems == (
        f"Own, the machine, has its own set_state (Own), {NOT}",
        f"a, a state, has its own enter (Loud), {NOT}",
        f"b, a state, has its own enter (Loud), {NOT}",
        f"go has its own trigger (Odd), {NOT}",
        f"go, in its rows, has its own execute (Lazy), {NOT}",
    )


def test_conditions_that_decide_by_themselves_are_said() -> None:
    class Not(Condition):
        def check(self, event_data: Any) -> bool:
            return not super().check(event_data)

    class Row(Transition):
        condition_cls = Not

    class Own(Theirs):
        transition_cls = Row

        @staticmethod
        def resolve_callable(func: Any, event_data: Any) -> Any:
            return bool

    rows: Any = [{"trigger": "go", "source": "a", "dest": "b", "conditions": "ready"}]
    machine = Own(None, states=["a", "b"], transitions=rows, initial="a", auto_transitions=False)
    assert from_transitions(machine).problems == (
        f"Own, the machine, has its own resolve_callable (Own), {NOT}",
        f"go, in its conditions, has its own check (Not), {NOT}",
    )


def test_what_replaces_a_method_on_one_object_is_named() -> None:
    machine: Any = Theirs(
        None, states=["a", "b"], transitions=[["go", "a", "b"]], initial="a", auto_transitions=False
    )
    machine.set_state = machine.states["b"].enter = print
    machine.events["go"].transitions["a"][0].execute = print
    assert from_transitions(machine).problems == (
        f"Machine, the machine, has its own set_state (an attribute), {NOT}",
        f"b, a state, has its own enter (an attribute), {NOT}",
        f"go, in its rows, has its own execute (an attribute), {NOT}",
    )


def test_contexts_that_are_no_locks_are_said() -> None:
    class Traced(contextlib.nullcontext[None]): ...

    class Counted(contextlib.nullcontext[None]): ...

    class Model: ...

    def said(*contexts: Any, of_model: Any = ()) -> tuple[str, ...]:
        machine: Any = LockedMachine(
            None,
            states=["a", "b"],
            transitions=PLAIN,
            initial="a",
            auto_transitions=False,
            machine_context=list(contexts),
        )
        machine.add_model(Model(), model_context=list(of_model))
        return from_transitions(machine).problems

    assert said(threading.RLock()) == said(of_model=[threading.Lock()]) == ()
    around = "around its events, which the declaration does not do"
    assert said(Traced(), of_model=[Counted()]) == (
        f"LockedMachine enters Traced {around}",
        f"LockedMachine enters Counted {around}",
    )


def test_a_trigger_without_rows_is_said() -> None:
    machine = Theirs(
        None, states=["a", "b"], transitions=PLAIN, initial="a", auto_transitions=False
    )
    machine.add_transition("end", "a", "b")
    machine.remove_transition("end")
    machine.events["idle"] = Event("idle", machine)
    assert from_transitions(machine).problems == (
        "idle is a trigger without any row: the declaration does not have it",
    )


@pytest.mark.parametrize(
    "cls", [Theirs, LockedMachine, HierarchicalMachine, LawfulMachine, GraphMachine]
)
def test_classes_of_transitions_do_what_their_rows_say(cls: Any) -> None:
    options: dict[str, Any] = {} if cls is not GraphMachine else {"graph_engine": "mermaid"}
    machine = cls(
        Matter(),
        states=STATES,
        transitions=ROWS,
        initial="solid",
        queued=True,
        send_event=True,
        **options,
    )
    plain = Theirs(Matter(), states=STATES, transitions=ROWS, initial="solid")
    assert from_transitions(machine).problems == from_transitions(plain).problems == ()
