"""An asynchronous machine decided by its own declaration does what transitions does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from transitions import MachineError
from transitions.extensions import AsyncMachine

from lawful.runtime.interop.async_drop_in import AsyncEvent, AsyncLawfulMachine, AsyncTransition
from lawful.runtime.interop.decided import Transition
from lawful.runtime.kernel.event_record import Stepped
from tests.runtime.interop.test_drop_in import calls, made, setting


async def done(model: Any, call: str) -> Any:
    try:
        return await getattr(model, call)(x=call)
    except Exception as error:
        return type(error), str(error)


@settings(max_examples=30)
@given(setting, calls)
def test_it_calls_the_same_in_the_same_order(given: dict[str, Any], several: list[str]) -> None:
    """What is called, with what and in which state; what comes back; where the model is."""

    async def compare() -> None:
        theirs, their_log = made(AsyncMachine, given)
        ours, our_log = made(AsyncLawfulMachine, given)
        for call in several:
            assert await done(ours.model, call) == await done(theirs.model, call)
            assert our_log == their_log
            assert ours.model.state == theirs.model.state

    asyncio.run(compare())


def lawful(rows: list[Any], **options: Any) -> Any:
    options = {"states": ["a", "b", "c"], "initial": "a", **options}
    return AsyncLawfulMachine(transitions=rows, **options)


def test_a_condition_is_asked_once_for_an_event() -> None:
    asked: list[str] = []

    async def first() -> bool:
        asked.append("first")
        return False

    async def second() -> bool:
        asked.append("second")
        return True

    rows: list[Any] = [
        {"trigger": "go", "source": "a", "dest": "b", "conditions": [first, second]},
        {"trigger": "go", "source": "a", "dest": "c", "conditions": second, "unless": first},
    ]
    machine = lawful(rows)
    assert asyncio.run(machine.go())
    # One in `conditions` and the same in `unless` are asked each for itself.
    assert (machine.state, asked) == ("c", ["first", "second", "first"])


class Gate:
    """Callbacks that wait until they are let through."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.reached = asyncio.Event()

    async def wait(self) -> bool:
        self.reached.set()
        await self.open.wait()
        return True


def test_the_declaration_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked(*args: Any) -> bool:
        raise AssertionError("transitions was asked")

    for cls, names in (
        (AsyncTransition.__mro__[2], ("execute", "_eval_conditions", "_change_state")),
        (AsyncEvent.__mro__[1], ("_trigger", "_process")),
    ):
        for name in names:
            monkeypatch.setattr(cls, name, asked)

    async def ready() -> bool:
        return True

    machine = lawful([{"trigger": "go", "source": "a", "dest": "b", "conditions": ready}])
    entry, seen = machine.lawful_entry(machine), list[type[Any]]()

    def observer(each: object) -> None:
        seen.append(type(each))

    entry.lawful.observe(observer)
    assert asyncio.run(machine.go())
    assert (machine.state, entry.state.value, seen) == ("b", "b", [Stepped])
    with pytest.raises(MachineError) as caught:
        asyncio.run(machine.go())
    assert str(caught.value.__cause__) == "go: state is B, not A"


def at_a_gate(where: str, then: Callable[[Any, Gate], Awaitable[None]]) -> tuple[Any, Any]:
    """A machine whose event `go` waits at a gate, meanwhile what happens; and what `go` gave."""

    async def run() -> tuple[Any, Any]:
        gate = Gate()
        rows: list[Any] = [
            {"trigger": "go", "source": "a", "dest": "b", where: gate.wait},
            ["other", "*", "c"],
        ]
        machine = lawful(rows)
        going = asyncio.create_task(machine.go())
        await gate.reached.wait()
        await then(machine, gate)
        gate.open.set()
        result = (await asyncio.gather(going, return_exceptions=True))[0]
        return machine, result

    return asyncio.run(run())


@pytest.mark.parametrize("where", ["conditions", "before", "after"])
def test_an_event_that_is_taken_cancels_the_one_that_waits(where: str) -> None:
    async def other(machine: Any, gate: Gate) -> None:
        assert await machine.other()

    machine, result = at_a_gate(where, other)
    assert (machine.state, machine.lawful_entry(machine).state.value, result) == ("c", "c", False)


@pytest.mark.parametrize(("where", "state"), [("conditions", "a"), ("before", "a"), ("after", "b")])
def test_a_cancelled_event_has_made_its_step_or_has_changed_nothing(where: str, state: str) -> None:
    async def cancel(machine: Any, gate: Gate) -> None:
        await machine.cancel_running_transitions(machine)

    machine, result = at_a_gate(where, cancel)
    assert (machine.state, machine.lawful_entry(machine).state.value) == (state, state)
    assert result is False


@pytest.mark.parametrize("where", ["conditions", "before"])
def test_a_model_that_is_put_elsewhere_meanwhile_is_told(where: str) -> None:
    async def put(machine: Any, gate: Gate) -> None:
        machine.set_state("c")
        machine.lawful_entry(machine)

    machine, result = at_a_gate(where, put)
    assert isinstance(result, MachineError) and "has changed the state since" in str(result)
    assert machine.state == "c"


def test_rows_that_would_be_awaited_by_nobody_are_refused() -> None:
    class Mine(AsyncLawfulMachine):
        transition_cls: Any = Transition

    with pytest.raises(TypeError, match=r"would decide by itself: .*AsyncTransition"):
        Mine(None, states=["a"], initial="a")
