"""A model with the interface of transitions over a declaration, which decides."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from transitions import Machine as Theirs
from transitions import MachineError

from lawful import Ambiguous, Refused
from lawful.runtime.interop import from_transitions
from lawful.runtime.interop.bound import Bound, bind
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.timers import SimulatedClock
from tests.runtime.interop.doors import Begins, Chosen, Counts, Door, Leaf, Patient, Twice
from tests.runtime.interop.samples import ROWS, STATES, Color, Matter, theirs


class Visitor:
    """A model that writes down what it is called for."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_enter_CLOSED(self, *args: Any, **named: Any) -> None:
        self.seen.append("on_enter_CLOSED")

    def on_exit_LOCKED(self, *args: Any, **named: Any) -> None:
        self.seen.append("on_exit_LOCKED")


class Plain:
    """Nothing of its own."""


def fails(*args: Any, **named: Any) -> None:
    raise ZeroDivisionError


def bound(model: Any = None, machine: Any = Door, **options: Any) -> tuple[Any, Any]:
    model = model or Plain()
    return model, bind(model, machine, **options)


def test_a_model_has_the_interface() -> None:
    model, machine = bound()
    assert (model.state, model.is_LOCKED(), model.is_OPEN()) == (Leaf.LOCKED, True, False)
    assert model.unlock(1234)
    assert (model.state, model.may_open(), model.may_unlock(1234)) == (Leaf.CLOSED, True, False)
    assert model.trigger("open")
    assert (model.may_trigger("close"), model.may_trigger("unlock", 1)) == (True, False)
    assert machine.get_triggers(Leaf.OPEN) == ["close", "fall", "leave", "swing"]
    rows = machine.get_transitions(source=Leaf.CLOSED)
    assert [(row.source, row.dest, row.law) for row in rows] == [
        ("CLOSED", "OPEN", "open"),
        ("CLOSED", "LOCKED|GONE", "leave"),
    ]
    assert not hasattr(model, "to_OPEN")
    assert (machine.initial, list(machine.states)) == (
        "LOCKED",
        ["LOCKED", "CLOSED", "OPEN", "GONE"],
    )


def test_its_guards_and_its_variables_are_the_declarations() -> None:
    model, machine = bound(machine=Door(code=7))
    entry = machine.lawful_entry(model)
    assert model.unlock(1) and model.unlock(given=2)
    assert (entry.tries, model.state) == (2, Leaf.LOCKED)
    assert model.unlock(7)
    assert (entry.tries, model.state) == (0, Leaf.CLOSED)
    model.leave(True)
    assert [model.unlock(n) for n in (1, 2, 3, 4, 7)] == [True, True, True, False, False]
    assert (entry.tries, model.state) == (3, Leaf.LOCKED)


def test_an_event_of_another_state_is_an_error_that_says_why() -> None:
    model, machine = bound(name="door")
    with pytest.raises(MachineError) as caught:
        model.open()
    assert str(caught.value) == '"door: Can\'t trigger event open from state LOCKED!"'
    assert isinstance(caught.value.__cause__, Refused)
    assert str(caught.value.__cause__) == "open: state is LOCKED, not CLOSED"
    quiet, _ = bound(ignore_invalid_triggers=True)
    assert not quiet.open()
    with pytest.raises(AttributeError, match="Do not know event named 'fly'"):
        model.trigger("fly")
    assert machine.lawful_entry(model) == Door()


def test_what_the_declaration_ignores_is_no_error() -> None:
    model, machine = bound(machine=Door.lawful.state(state=Leaf.CLOSED))
    told: list[Stepped] = []
    machine.lawful_entry(model).lawful.observe(told.append)
    assert not model.close()
    assert [each.outcome for each in told] == ["ignored"]
    assert (model.state, model.may_close()) == (Leaf.CLOSED, False)


def test_what_is_ignored_where_its_guard_refuses_is_not_taken() -> None:
    model, machine = bound(machine=Patient)
    machine.after_go(fails)
    assert (model.go(), model.may_go(), model.state) == (False, False, Leaf.CLOSED)
    assert model.prepare()
    with pytest.raises(ZeroDivisionError):
        model.go()
    assert model.state is Leaf.OPEN


def test_what_callbacks_change_in_between_is_told() -> None:
    model, machine = bound(machine=Door(most=1))

    def wrong(given: int) -> None:
        machine.lawful_entry(model).unlock(5)

    machine.before_unlock(wrong)
    with pytest.raises(MachineError, match="unlock: a callback has changed the state") as caught:
        model.unlock(1234)
    assert "too many tries" in str(caught.value.__cause__)
    assert model.state is Leaf.LOCKED
    waiting, patient = bound(machine=Patient)
    waiting.prepare()
    patient.before_go(waiting.unprepare)
    patient.after_go(fails)
    with pytest.raises(MachineError, match="go: a callback has changed the state since CLOSED"):
        waiting.go()
    assert waiting.state is Leaf.CLOSED


def test_values_outside_their_types_are_the_callers_fault() -> None:
    model, _ = bound()
    with pytest.raises(ValueError, match="given: -1"):
        model.unlock(-1)
    with pytest.raises(TypeError, match="given is a Nat"):
        model.may_unlock("1234")
    with pytest.raises(TypeError, match="unlock needs given: it is not given, and no given of"):
        model.unlock()
    assert model.state is Leaf.LOCKED


ORDER = [
    "prepare_event",
    "prepare",
    "before_state_change",
    "before",
    "on_exit_LOCKED",
    "on_enter_CLOSED",
    "on_enter",
    "after",
    "after_state_change",
    "finalize_event",
]


def test_callbacks_come_in_the_order_of_transitions() -> None:
    model: Any = Visitor()

    def say(name: str) -> Callable[..., None]:
        def call(*args: Any) -> None:
            model.seen.append(name)

        return call

    names = (
        "prepare_event",
        "before_state_change",
        "after_state_change",
        "finalize_event",
        "on_exception",
        "on_final",
    )
    options: dict[str, Any] = {name: say(name) for name in names}
    machine = bind(model, Door, **options)
    for name in ("prepare", "before", "after"):
        getattr(machine, f"{name}_unlock")(say(name))
    machine.on_enter_CLOSED(say("on_enter"))
    assert model.unlock(1234)
    assert model.seen == ORDER
    model.seen.clear()
    assert model.leave(False)
    assert model.seen == [
        "prepare_event",
        "before_state_change",
        "on_final",
        "after_state_change",
        "finalize_event",
    ]
    model.seen.clear()
    assert not model.leave(True)
    assert model.seen == ["on_exception", "finalize_event"]


def test_where_a_guard_refuses_only_what_prepares_is_called() -> None:
    model: Any = Visitor()
    machine: Any = bind(model, Door(most=0), before_state_change=fails)
    machine.prepare_unlock("on_exit_LOCKED")
    assert not model.unlock(1234)
    assert model.seen == ["on_exit_LOCKED"] * 2
    assert machine.lawful_entry(model).tries == 0


def test_a_reflexive_transition_leaves_and_enters_an_internal_one_does_not() -> None:
    seen: list[str] = []
    model, machine = bound(machine=Door.lawful.state(state=Leaf.OPEN))
    machine.on_enter_OPEN(lambda: seen.append("enter"))
    machine.on_exit_OPEN(lambda: seen.append("exit"))
    machine.on_exit_LOCKED(fails)
    assert model.swing()
    assert seen == ["exit", "enter"]
    other: Any = Plain()
    machine.add_model(other)
    assert other.unlock(1)
    assert seen == ["exit", "enter"]


def test_what_raises_before_the_step_leaves_all_as_it_was() -> None:
    model, machine = bound(before_state_change=fails)
    with pytest.raises(ZeroDivisionError):
        model.unlock(1234)
    assert machine.lawful_entry(model) == Door()
    assert model.state is Leaf.LOCKED


def test_what_an_event_returns_is_told_to_callbacks() -> None:
    outputs: list[int] = []
    model, machine = bound(send_event=True)

    def after(data: Any) -> None:
        outputs.append(data.output)

    machine.after_unlock(after)
    model.unlock(1)
    model.unlock(2)
    assert outputs == [1, 2]


def test_two_that_are_enabled_are_the_declarations_fault() -> None:
    model, _ = bound(machine=Twice)
    with pytest.raises(Ambiguous, match="both one and two are enabled"):
        model.go()
    assert model.state is Leaf.CLOSED
    chosen, machine = bound(machine=Chosen)
    assert list(machine.events) == ["one", "two"]
    assert chosen.two()
    assert chosen.state is Leaf.GONE


def test_a_model_follows_what_its_instance_does_by_itself() -> None:
    clock = SimulatedClock()
    entry: Any = Door(clock=clock)
    model, machine = bound(machine=entry)
    assert model.unlock(1234) and model.open()
    assert len(entry.lawful.fire_due(clock.advance(11))) == 1
    assert model.is_OPEN()
    assert machine.follow(model).name == "CLOSED"
    assert model.is_CLOSED()
    entry.open()
    assert model.close()
    assert model.state is Leaf.CLOSED


def test_nobody_else_puts_a_model_anywhere() -> None:
    model, machine = bound()
    with pytest.raises(ValueError, match="a Plain bound to Door cannot be put into OPEN"):
        machine.set_state("OPEN")
    machine.set_state(Leaf.LOCKED, model)
    model.state = Leaf.OPEN
    for call in (model.close, model.may_close):
        with pytest.raises(ValueError, match=r"a Plain bound to Door was assigned to <Leaf\.OPEN"):
            call()
    model.state = Leaf.LOCKED
    assert model.unlock(1234)


def test_states_and_rows_are_declared() -> None:
    _, machine = bound()
    for call, args in (
        (machine.add_transition, ("go", "LOCKED", "OPEN")),
        (machine.add_states, ("A",)),
        (machine.add_state, ("A",)),
        (machine.remove_transition, ("open",)),
        (machine.add_transitions, ([["go", "LOCKED", "OPEN"]],)),
        (machine.add_ordered_transitions, ()),
    ):
        with pytest.raises(TypeError, match="states and transitions are those of Door"):
            call(*args)
    with pytest.raises(TypeError, match="initial, states: Door has states and transitions"):
        bind(Plain(), Door, states=["a"], initial="a")


def test_what_no_model_can_follow_is_refused() -> None:
    with pytest.raises(ValueError, match="Counts has no control state"):
        bind(Plain(), Counts)
    with pytest.raises(TypeError, match="Begins begins with begin: bind an instance"):
        bind(Plain(), Begins)
    begun = Begins()
    begun.begin()
    model, _ = bound(machine=begun)
    assert (model.go(), model.state) == (True, Leaf.GONE)


def test_other_models_have_instances_of_their_own() -> None:
    first, machine = bound()
    other: Any = Plain()
    machine.add_model(other, initial=Leaf.OPEN)
    assert (first.state, other.state) == (Leaf.LOCKED, Leaf.OPEN)
    assert other.close()
    assert first.unlock(1234)
    assert machine.dispatch("open")
    machine.remove_model(other)
    assert machine.model is first
    assert machine.dispatch("close")
    assert other.state is Leaf.OPEN
    with pytest.raises(ValueError, match="a Plain is not bound to Door here"):
        other.close()
    machine.before_open(lambda: machine.remove_model(first))
    assert (first.open(), first.state, machine.models) == (True, Leaf.OPEN, [])


def test_queued_events_of_callbacks_come_after() -> None:
    class Eager(Plain):
        open: Any

        def on_exit_LOCKED(self, *args: Any) -> None:
            assert self.open()

    model, _ = bound(Eager(), queued=True)
    assert model.unlock(1234)
    assert model.state is Leaf.OPEN
    hasty, _ = bound(Eager())
    with pytest.raises(MachineError, match="Can't trigger event open from state LOCKED"):
        hasty.unlock(1234)
    assert hasty.state is Leaf.LOCKED


def test_bound_models_are_pickled_and_copied() -> None:
    model, _ = bound(Visitor(), Door(code=7))
    model.unlock(1)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.unlock(7)
        assert other.unlock.func.__self__.machine.lawful_entry(other).code == 7
        assert (other.state, model.state) == (Leaf.CLOSED, Leaf.LOCKED)


def test_another_attribute_may_have_the_state() -> None:
    model: Any = Plain()
    model.state = "its own"
    bind(model, Door, model_attribute="leaf")
    assert model.unlock(1234)
    assert (model.leaf, model.state, model.is_leaf_CLOSED()) == (Leaf.CLOSED, "its own", True)


def test_a_machine_may_be_its_own_model() -> None:
    machine: Any = bind("self", Door)
    assert isinstance(machine, Bound)
    assert machine.unlock(1234)
    assert machine.is_CLOSED()


# An import, bound again: the way from transitions to here.


def test_an_import_bound_again_does_what_the_machine_did() -> None:
    found = from_transitions(theirs(ROWS), automatic=True)
    for hot, pressed in ((False, False), (True, False), (True, True)):
        old, new = Matter(), Matter()
        both: list[Any] = [old, new]
        theirs(ROWS, old)
        bind(new, found.load(), as_text=True)
        for model in both:
            model.hot, model.pressed = hot, pressed
        for call in ("heat", "heat", "shake", "cool", "look", "to_gas", "cool", "may_heat"):
            done: list[Any] = []
            for model in both:
                try:
                    done.append(getattr(model, call)())
                except MachineError as error:
                    done.append(str(error))
            assert done[0] == done[1]
            assert both[0].state == both[1].state
            assert both[1].is_gas() is both[0].is_gas()


def test_parameters_may_come_from_elsewhere() -> None:
    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "gas", "conditions": [lambda: True, "boils"]}
    ]
    found = from_transitions(Theirs(Matter(), states=STATES, transitions=rows, initial="solid"))
    model: Any = Matter()
    bind(model, found.load(), as_text=True, inputs=found.sources)
    assert not model.heat()
    model.temperature = 101
    model.color = Color.RED
    assert (model.heat(), model.state) == (True, "gas")
