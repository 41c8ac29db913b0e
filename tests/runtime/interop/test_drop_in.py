"""A machine of transitions decided by its own declaration does what transitions does."""

from __future__ import annotations

import copy
import json
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import transitions
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions import MachineError
from transitions.extensions.states import Tags, add_state_features

from lawful.cli import main
from lawful.runtime.interop.decided import EventData, Transition
from lawful.runtime.interop.drop_in import LawfulMachine
from lawful.runtime.journal import Journal
from lawful.runtime.kernel.event_record import Stepped
from tests.runtime.interop.samples import ROWS, STATES, Matter

NAMES = ("a", "b", "c")
KINDS = ("prepare", "before", "after")
MACHINE = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "finalize_event",
    "on_exception",
    "on_final",
)


class Model:
    """A model with nothing of its own."""


def told(log: list[Any], name: str, model: Any, bad: str) -> Callable[..., None]:
    """A callback that writes down that it was called, with what, and where the model is."""

    def call(*args: Any, **named: Any) -> None:
        given = args[0].kwargs if args and hasattr(args[0], "machine") else named
        log.append((name, getattr(model, "state", None), given.get("x")))
        if name == bad:
            raise RuntimeError(name)

    return call


def answer(log: list[Any], name: str, value: bool) -> Callable[..., bool]:
    def call(*args: Any, **named: Any) -> bool:
        log.append(name)
        return value

    return call


row: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "trigger": st.sampled_from(["go", "stop"]),
        "source": st.sampled_from([*NAMES, "*", ["a", "b"]]),
        "dest": st.sampled_from([*NAMES, "=", None]),
        "conditions": st.lists(st.booleans(), max_size=2),
        "unless": st.lists(st.booleans(), max_size=1),
        "calls": st.sets(st.sampled_from(KINDS)),
    }
)
setting: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "rows": st.lists(row, min_size=1, max_size=6),
        "states": st.sets(
            st.tuples(st.sampled_from(NAMES), st.sampled_from(["on_enter", "on_exit"]))
        ),
        "final": st.sets(st.sampled_from(NAMES)),
        "quiet": st.dictionaries(st.sampled_from(NAMES), st.booleans()),
        "machine": st.sets(st.sampled_from(MACHINE)),
        "bad": st.sampled_from(
            [
                "",
                "",
                "before 0",
                "after 1",
                "on_enter b",
                "finalize_event",
                "on_exit a",
                "prepare 1",
                "before_state_change",
            ]
        ),
        "options": st.fixed_dictionaries(
            {
                "queued": st.booleans(),
                "send_event": st.booleans(),
                "ignore_invalid_triggers": st.sampled_from([None, True]),
            }
        ),
    }
)
calls = st.lists(
    st.sampled_from(["go", "stop", "to_b", "may_go", "may_stop", "may_to_c"]),
    min_size=1,
    max_size=6,
)


def made(kind: Any, given: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A machine of that kind, and the log of what it calls."""
    log: list[Any] = []
    model, bad = Model(), given["bad"]
    rows = [
        {
            "trigger": each["trigger"],
            "source": each["source"],
            "dest": each["dest"],
            "conditions": [answer(log, f"if {i}.{n}", v) for n, v in enumerate(each["conditions"])],
            "unless": [answer(log, f"unless {i}.{n}", v) for n, v in enumerate(each["unless"])],
            **{k: told(log, f"{k} {i}", model, bad) for k in sorted(each["calls"])},
        }
        for i, each in enumerate(given["rows"])
    ]
    states = [
        {
            "name": name,
            "final": name in given["final"],
            "ignore_invalid_triggers": given["quiet"].get(name),
            **{k: told(log, f"{k} {name}", model, bad) for n, k in given["states"] if n == name},
        }
        for name in NAMES
    ]
    options = {name: told(log, name, model, bad) for name in sorted(given["machine"])}
    options |= given["options"]
    return kind(model, states=states, transitions=rows, initial="a", **options), log


def done(model: Any, call: str) -> Any:
    try:
        return getattr(model, call)(x=call)
    except Exception as error:
        return type(error), str(error)


@settings(max_examples=60)
@given(setting, calls)
def test_it_calls_the_same_in_the_same_order(given: dict[str, Any], several: list[str]) -> None:
    """What is called, with what and in which state; what comes back; where the model is."""
    theirs, their_log = made(transitions.Machine, given)
    ours, our_log = made(LawfulMachine, given)
    for call in several:
        assert done(ours.model, call) == done(theirs.model, call)
        assert our_log == their_log
        assert ours.model.state == theirs.model.state


def lawful(model: Any = None, rows: list[dict[str, Any]] | None = None, **options: Any) -> Any:
    return LawfulMachine(
        model or Matter(), states=STATES, transitions=rows or ROWS, initial="solid", **options
    )


def test_the_declaration_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of what transitions itself would decide with is asked."""

    def asked(*args: Any) -> bool:
        raise AssertionError("transitions was asked")

    monkeypatch.setattr(transitions.Transition, "_eval_conditions", asked)
    monkeypatch.setattr(transitions.Transition, "_change_state", asked)
    monkeypatch.setattr(transitions.Event, "_process", asked)
    machine = lawful()
    entry = machine.lawful_entry(machine.model)
    assert machine.model.heat()
    assert (machine.model.state, entry.state.value) == ("liquid", "liquid")
    assert machine.model.cool()
    with pytest.raises(MachineError) as caught:
        machine.model.cool()
    assert str(caught.value.__cause__) == "cool: state is SOLID, not GAS or LIQUID"
    assert machine.declaration().events["cool"] == "cool"


def test_what_is_journalled_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = lawful(ignore_invalid_triggers=True)
    journal = tmp_path / "journal.jsonl"
    with Journal(journal) as writer:
        writer.attach(machine.lawful_entry(machine.model), "a")
        model = machine.model
        assert [model.heat(), model.heat(), model.cool(), model.cool(), model.to_gas()] == [
            True,
            False,
            True,
            False,
            True,
        ]
    rows = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [(each["event"], each["outcome"]) for each in rows] == [
        (None, "made"),
        ("heat", "done"),
        ("heat", "refused"),
        ("cool", "done"),
        ("cool", "ignored"),
        ("to_gas", "done"),
    ]
    text = tmp_path / "imported.py"
    text.write_text(machine.declaration().text, encoding="utf-8")
    assert main(["replay", str(journal), str(text), "--engine", "local"]) == 0
    capsys.readouterr()


def test_rows_may_be_added_and_taken_away_at_any_time() -> None:
    machine = lawful()
    model = machine.model
    assert model.heat()
    machine.add_states(["dust"])
    machine.add_transition("burn", "liquid", "dust")
    assert (model.burn(), model.state) == (True, "dust")
    machine.remove_transition("heat", source="solid")
    model.to_solid()
    with pytest.raises(MachineError):
        model.heat()
    row = machine.get_transitions("cool", "gas")[0]
    row.conditions.append(row.condition_cls("is_hot"))
    model.to_gas()
    assert not model.cool()
    row.dest = "liquid"
    model.hot = True
    assert (model.cool(), model.state) == (True, "liquid")
    machine.ignore_invalid_triggers = True
    assert model.burn()
    assert not model.burn()


def test_rows_are_not_changed_behind_who_is_told_of_them() -> None:
    machine = lawful()
    told: list[Stepped] = []
    end = machine.lawful_entry(machine.model).lawful.observe(told.append)
    machine.add_transition("burn", "solid", "gas")
    with pytest.raises(ValueError, match="changed while an instance is observed"):
        machine.model.burn()
    end()
    assert machine.model.burn()
    assert told == []


def test_a_model_may_be_put_elsewhere() -> None:
    machine = lawful()
    model = machine.model
    model.state = "gas"
    assert (model.cool(), model.state) == (True, "solid")
    machine.set_state("liquid")
    assert (model.cool(), model.state) == (True, "solid")
    model.state = "nowhere"
    with pytest.raises(ValueError, match="State 'nowhere' is not a registered state"):
        model.cool()


def test_a_callback_that_makes_another_step_first_is_told() -> None:
    rows = [
        {"trigger": "heat", "source": "solid", "dest": "liquid", "before": "cool"},
        {"trigger": "cool", "source": "solid", "dest": "gas"},
    ]
    machine = lawful(rows=rows)
    with pytest.raises(MachineError, match="a callback has changed the state since SOLID"):
        machine.model.heat()
    assert machine.model.state == "gas"
    queued = lawful(rows=[rows[0], {**rows[1], "source": "liquid"}], queued=True)
    assert queued.model.heat()
    assert queued.model.state == "gas"


def test_a_condition_that_makes_a_step_is_told_too() -> None:
    rows: list[dict[str, Any]] = [
        {"trigger": "heat", "source": "solid", "dest": "liquid", "conditions": "cool"},
        {"trigger": "cool", "source": "solid", "dest": "gas"},
    ]
    machine = lawful(rows=rows)
    with pytest.raises(MachineError, match="heat: a callback has changed the state since solid"):
        machine.model.heat()
    assert machine.model.state == "gas"


def test_a_callback_may_change_the_rows_of_the_event_that_calls_it() -> None:
    machine = lawful()

    def more() -> None:
        machine.add_transition("burn", "solid", "gas")
        assert machine.model.may_burn()

    machine.before_heat(more)
    assert (machine.model.heat(), machine.model.state) == (True, "liquid")
    assert not machine.model.may_burn()


def test_many_states_are_declared_soon_enough() -> None:
    """With the automatic triggers there are as many rows as pairs of states."""
    names = [f"s{i}" for i in range(40)]
    machine: Any = LawfulMachine(states=names, initial="s0", ordered_transitions=True)
    assert machine.next_state() and machine.to_s7() and machine.next_state()
    assert machine.state == "s8"
    assert machine.declaration().text.count("source=") == 40
    assert machine.declaration().text.count("@transition(") == 80


def test_unknown_destinations_are_told_before_anything_is_called() -> None:
    called: list[str] = []
    rows = [
        {
            "trigger": "go",
            "source": "solid",
            "dest": "sold",
            "before": lambda: called.append("before"),
        }
    ]
    machine = lawful(rows=rows)
    assert not machine.model.may_go()
    with pytest.raises(ValueError, match="State 'sold' is not a registered state"):
        machine.model.go()
    assert (called, machine.model.state) == ([], "solid")


def test_a_condition_is_asked_once_unless_something_was_prepared() -> None:
    asked: list[str] = []

    def no(*args: Any) -> bool:
        asked.append("no")
        return False

    rows: list[dict[str, Any]] = [
        {"trigger": "go", "source": "solid", "dest": "gas", "conditions": no} for _ in range(3)
    ]
    assert not lawful(rows=rows).model.go()
    assert asked == ["no"]
    rows[2]["prepare"] = lambda: None
    assert not lawful(rows=rows).model.go()
    assert asked == ["no"] * 3


def test_conditions_that_are_neither_true_nor_false_hold_in_no_row() -> None:
    rows: list[dict[str, Any]] = [
        {"trigger": "go", "source": "solid", "dest": "gas", "conditions": "says"},
        {"trigger": "go", "source": "solid", "dest": "liquid", "unless": "says"},
    ]
    for kind in (transitions.Machine, LawfulMachine):
        for value, state in (("yes", "solid"), (1, "gas"), (0, "liquid"), (None, "solid")):
            model: Any = Matter()
            model.says = value
            kind(model, states=STATES, transitions=rows, initial="solid")
            assert (model.go(), model.state) == (state != "solid", state)


def test_machines_and_models_are_pickled_and_copied() -> None:
    model: Any = Matter()
    lawful(model).model.heat()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.state == "liquid"
        other.cool()
        assert (other.state, model.state) == ("solid", "liquid")


def test_several_models_each_have_their_instance() -> None:
    machine = lawful()
    other: Any = Matter()
    machine.add_model(other, initial="gas")
    assert machine.dispatch("shake")
    first = machine.models[0]
    assert machine.lawful_entry(first) is not machine.lawful_entry(other)
    assert first.heat()
    machine.remove_model(first)
    assert (first.state, other.state) == ("liquid", "gas")
    proxy: Any = weakref.proxy(first)
    machine.add_model(proxy)
    assert (proxy.heat(), first.state) == (True, "liquid")


def test_states_with_features_are_entered_and_left() -> None:
    @add_state_features(Tags)
    class Tagged(LawfulMachine):
        pass

    states = ["a", {"name": "b", "tags": ["last"]}]
    machine: Any = Tagged(states=states, initial="a", transitions=[["go", "a", "b"]])
    assert machine.go()
    assert machine.get_state("b").is_last
    assert machine.state == "b"


def test_rows_of_their_own_kind_keep_what_they_add() -> None:
    class Counted(Transition):
        times = 0

        def execute(self, event_data: Any) -> bool:
            type(self).times += 1
            return super().execute(event_data)

    class Counting(LawfulMachine):
        transition_cls = Counted

    machine: Any = Counting(states=STATES, initial="solid", transitions=[["go", "*", "gas"]])
    assert machine.go()
    assert Counted.times == 1

    class Deciding(LawfulMachine):
        transition_cls = transitions.Transition  # type: ignore[assignment]  # it is refused

    with pytest.raises(TypeError, match="would decide by itself: derive it from"):
        Deciding(states=STATES, initial="solid")


def test_a_machine_without_an_initial_state_is_decided_too() -> None:
    machine: Any = LawfulMachine(None, states=STATES, transitions=ROWS, initial=None)
    model: Any = Matter()
    machine.add_model(model, initial="gas")
    assert (model.cool(), model.state) == (True, "solid")


def test_arguments_go_where_transitions_sends_them() -> None:
    seen: list[Any] = []

    def warm(event: EventData) -> bool:
        return bool(event.kwargs["degrees"] > 3)

    def after(event: EventData) -> None:
        seen.append((event.args, event.kwargs, event.result))

    rows: list[dict[str, Any]] = [
        {"trigger": "go", "source": "solid", "dest": "gas", "conditions": "warm", "after": after}
    ]
    model: Any = SimpleNamespace(warm=warm)
    lawful(model, rows=rows, send_event=True)
    assert not model.go(1, degrees=3)
    assert model.go(1, degrees=4)
    assert seen == [((1,), {"degrees": 4}, False)]
