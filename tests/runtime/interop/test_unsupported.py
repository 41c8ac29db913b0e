"""What a machine in which a declaration decides does not do is refused, in words that say what
does it; the contexts of a `LockedMachine` are entered."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from typing import Any

import pytest
from transitions import Machine as Theirs
from transitions.extensions import (
    AsyncMachine,
    GraphMachine,
    HierarchicalMachine,
    LockedMachine,
)
from transitions.extensions.asyncio import AsyncTimeout
from transitions.extensions.nesting import NestedState
from transitions.extensions.states import add_state_features

from lawful import Machine, require, transition
from lawful.runtime.interop.async_drop_in import AsyncLawfulMachine
from lawful.runtime.interop.bound import Bound, bind
from lawful.runtime.interop.decided import Event
from lawful.runtime.interop.drop_in import LawfulMachine
from lawful.runtime.interop.locked import LockedLawfulMachine
from tests.runtime.interop.doors import Door, Leaf

LOCKED = "enters no contexts; locked.LockedLawfulMachine does"
NESTED = "LawfulMachine has no nested states; from_transitions imports those that are not parallel"


def nested_state() -> NestedState:
    state = NestedState("b")
    state.add_substate(NestedState("c"))
    return state


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ({"name": "b", "children": ["c"]}, "b has children"),
        ({"name": "b", "states": ["c"]}, "b has states"),
        ({"name": "b", "parallel": ["c", "d"]}, "b has parallel"),
        (nested_state(), "b has states"),
    ],
)
def test_nested_states_are_refused(state: Any, what: str) -> None:
    with pytest.raises(TypeError) as caught:
        LawfulMachine(None, states=["a", state], initial="a")
    assert str(caught.value) == f"{what}: {NESTED}"
    machine = LawfulMachine(None, states=["a"], initial="a")
    with pytest.raises(TypeError):
        machine.add_states([state])
    assert list(machine.states) == ["a"]


def test_several_initial_states_are_refused() -> None:
    with pytest.raises(TypeError) as caught:
        LawfulMachine(None, states=["a", "b"], initial=["a", "b"])
    assert str(caught.value) == f"initial has several states: {NESTED}"
    machine = LawfulMachine(None, states=["a"], initial="a")
    with pytest.raises(TypeError) as caught:
        machine.add_states("b", children=["c"])
    assert str(caught.value) == f"b has children: {NESTED}"


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        (LawfulMachine, HierarchicalMachine, NESTED.partition(" ")[2]),
        (Bound, HierarchicalMachine, NESTED.partition(" ")[2]),
        (AsyncLawfulMachine, HierarchicalMachine, NESTED.partition(" ")[2]),
        (LawfulMachine, AsyncMachine, "awaits nothing; async_drop_in.AsyncLawfulMachine does"),
        (LawfulMachine, GraphMachine, "draws nothing; `lawful draw` draws declaration().text"),
        (LawfulMachine, LockedMachine, LOCKED),
        (AsyncLawfulMachine, LockedMachine, LOCKED),
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_classes_whose_work_would_not_be_done_are_refused(
    ours: type[Any], theirs: type[Any], why: str, first: bool
) -> None:
    with pytest.raises(TypeError) as caught:
        type("Mine", (theirs, ours) if first else (ours, theirs), {})
    assert str(caught.value) == f"Mine is no {theirs.__name__}: it {why}"


async def ready(*args: Any) -> bool:
    return True


@pytest.mark.parametrize("call", ["conditions", "unless", "prepare", "before", "after"])
@pytest.mark.parametrize("event", [False, True])
def test_what_would_have_to_be_awaited_is_refused(call: str, event: bool) -> None:
    """An asynchronous condition was false for ever, an asynchronous callback never ran."""
    rows: list[Any] = [{"trigger": "go", "source": "a", "dest": "b", call: ready}]
    machine: Any = LawfulMachine(states=["a", "b"], transitions=rows, initial="a", send_event=event)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError) as caught:
            machine.go()
        gc.collect()
    said = "ready is asynchronous: LawfulMachine awaits nothing;"
    assert str(caught.value) == f"{said} async_drop_in.AsyncLawfulMachine does"
    assert machine.state == ("b" if call == "after" else "a")


def test_what_a_bound_model_would_have_to_await_is_refused() -> None:
    class Visitor:
        async def on_enter_OPEN(self) -> None: ...

    visitor: Any = Visitor()
    bind(visitor, Door.lawful.state(state=Leaf.CLOSED))
    with pytest.raises(TypeError, match=r"^on_enter_OPEN is asynchronous: Bound awaits nothing"):
        visitor.open()


class Gate(Machine):
    state: Leaf = Leaf.CLOSED

    @transition(source=Leaf.CLOSED, target=Leaf.OPEN)
    def lift(self, ready: bool) -> None:
        require(ready, "not yet")


def test_an_argument_that_would_have_to_be_awaited_is_refused() -> None:
    class Visitor:
        async def ready(self) -> bool:
            return True

    visitor: Any = Visitor()
    bind(visitor, Gate)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"^ready is asynchronous: Bound awaits nothing"):
            visitor.lift()
        gc.collect()
    assert visitor.state is Leaf.CLOSED


def test_states_that_would_have_to_be_awaited_are_refused() -> None:
    class Mine(LawfulMachine): ...

    timed: Any = add_state_features(AsyncTimeout)(Mine)
    with pytest.raises(TypeError, match=r"^a is asynchronous \(CustomState\): Mine awaits nothing"):
        timed(None, states=["a"], initial="a")


def test_contexts_that_nothing_enters_are_refused() -> None:
    with pytest.raises(TypeError) as caught:
        LawfulMachine(None, states=["a"], initial="a", machine_context=[])
    assert str(caught.value) == (f"machine_context is given: LawfulMachine {LOCKED}")


class Counted:
    """A context that knows whether one is inside."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.inside = 0

    def __enter__(self) -> None:
        self.inside += 1
        self.log.append("enter")

    def __exit__(self, *error: object) -> None:
        self.inside -= 1
        self.log.append("exit")


class Model:
    def __init__(self, contexts: list[Counted]) -> None:
        self.contexts = contexts
        self.seen: list[list[int]] = []

    def look(self) -> bool:
        self.seen.append([each.inside for each in self.contexts])
        return True


def test_the_contexts_of_a_machine_and_a_model_are_entered() -> None:
    """Around conditions, callbacks and the step, once for an event."""
    of_machine, of_model, of_other = Counted(), Counted(), Counted()
    contexts = [of_machine, of_model, of_other]
    model, other = Model(contexts), Model(contexts)
    rows = [{"trigger": "go", "source": "a", "dest": "b", "conditions": "look", "after": "look"}]
    machine = LockedLawfulMachine(
        None, states=["a", "b"], transitions=rows, initial="a", machine_context=[of_machine]
    )
    machine.add_model(model, model_context=[of_model])
    machine.add_model(other, model_context=[of_other])
    del of_machine.log[:]
    decided: Any = model
    assert decided.go()
    assert model.seen == [[1, 1, 0], [1, 1, 0]]
    assert [each.log for each in contexts] == [["enter", "exit"], ["enter", "exit"], []]
    entry: Any = machine.lawful_entry(model)
    assert entry.state.value == "b"


def test_a_locked_machine_is_pickled_and_copied() -> None:
    machine: Any = LockedLawfulMachine(
        states=["a", "b"], transitions=[["go", "a", "b"]], initial="a"
    )
    machine.go()
    for each in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine)):
        assert each.state == "b"
        each.to_a()
        assert each.go() and each.state == "b"


def test_triggers_that_would_enter_no_contexts_are_refused() -> None:
    class Mine(LockedLawfulMachine):
        event_cls: Any = Event

    with pytest.raises(TypeError, match=r"would decide by itself: derive it from .*LockedEvent"):
        Mine(None, states=["a"], initial="a")


def test_machines_of_transitions_are_left_alone() -> None:
    """Nothing is patched there."""
    machine: Any = Theirs(states=["a", "b"], initial="a", transitions=[["go", "a", "b"]])
    assert machine.go() and type(machine.events["go"]).__module__ == "transitions.core"
