"""The method of an event is compiled when somebody looks it up first; nothing else shows that."""

from __future__ import annotations

import inspect
import threading
import traceback
from types import FunctionType
from typing import Any
from unittest import mock

import pytest

from lawful import Machine, Nat, Refused, State, drop, require, transition
from lawful.runtime.compile import generated_code
from tests.runtime.services.interrupting import at_every_place, handled


class Lamp(State):
    OFF = "off"
    ON = "on"


def lamp() -> type[Any]:
    """A new class, of which nothing is compiled."""

    class Switch(Machine):
        state: Lamp = Lamp.OFF
        sums: dict[Nat, Nat] = {}

        @transition(source=Lamp.OFF, target=Lamp.ON)
        def on(self, by: Nat, much: Nat = 2) -> Nat:
            """Light it."""
            require(by > 0, "nobody")
            self.book(by, much)
            return self.total(by) + 1

        @transition(source=Lamp.ON, target=Lamp.OFF)
        def off(self, by: Nat) -> None:
            self.book(by, 1)

        def book(self, by: Nat, much: Nat) -> None:
            self.sums[by] = self.total(by) + much

        def total(self, by: Nat) -> Nat:
            return self.sums.get(by, 0)

    return Switch


class Shop(Machine):
    sold: Nat = 0

    @transition()
    def sell(self) -> Nat:
        self.sold += 1
        return self.sold

    @transition()
    def close(self) -> None:
        self.sold = 0


class Kiosk(Shop):
    never = drop("close")


def compiled(cls: type[Any]) -> list[str]:
    """The events whose methods are compiled."""
    return [way.name for way in cls.lawful.plan.ways.values() if way.method is not None]


def state(switch: Any) -> Any:
    return switch.state, dict(switch.sums)


def test_what_nobody_looks_up_is_not_compiled() -> None:
    cls = lamp()
    switch = cls()
    assert compiled(cls) == []
    assert switch.on(1) == 3
    assert compiled(cls) == ["on"]
    assert [type(vars(cls)[name]) is FunctionType for name in ("on", "off")] == [True, False]
    with pytest.raises(Refused):
        switch.lawful.take("on", 1)
    assert compiled(cls) == ["on"]
    assert switch.lawful.take("off", 5) is None
    assert compiled(cls) == ["on", "off"]
    assert state(switch) == (Lamp.OFF, {1: 2, 5: 1})
    plan = cls.lawful.plan
    assert all(plan.method(way) is getattr(cls, way.name) for way in plan.ways.values())


def test_an_heir_may_drop_an_event_that_is_not_compiled() -> None:
    assert Shop().sold == 0
    kiosk: Any = Kiosk()
    with pytest.raises(AttributeError, match=r"Kiosk\.close is dropped"):
        kiosk.close()
    assert (kiosk.sell(), compiled(Shop), compiled(Kiosk)) == (1, [], ["sell"])


def test_what_an_interrupt_left_out_is_compiled_by_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cls = lamp()
    switch = cls()
    with monkeypatch.context() as broken:
        interrupted = mock.Mock(side_effect=KeyboardInterrupt)
        broken.setattr(generated_code, "compile", interrupted, raising=False)
        with pytest.raises(KeyboardInterrupt):
            switch.on(1)
    assert compiled(cls) == []
    assert (switch.on(1), state(switch)) == (3, (Lamp.ON, {1: 2}))
    with pytest.raises(Refused, match="state is ON, not OFF"):
        switch.on(0)


def test_the_text_has_all_methods() -> None:
    cls = lamp()
    text = cls.lawful.generated()
    assert compiled(cls) == ["on", "off"]
    assert "def on(self, by, much):" in text and "def off(self, by):" in text


def test_a_method_looks_as_it_was_written_before_and_after_its_first_call() -> None:
    cls = lamp()
    looks = [(inspect.signature(cls.on), cls.on.__doc__, cls.on.__name__)]
    cls().on(1)
    looks.append((inspect.signature(cls.on), cls.on.__doc__, cls.on.__name__))
    assert str(looks[0][0]) == "(self, by: 'Nat', much: 'Nat' = 2) -> 'Nat'"
    assert looks[0] == looks[1] and looks[0][1:] == ("Light it.", "on")
    taken = lamp()
    assert taken().lawful.take("on", 1) == 3  # With the default of `much`.


def test_the_first_call_has_the_frames_of_any_other() -> None:
    switch, found = lamp()(), list[list[tuple[str, int | None]]]()
    for _ in range(2):
        with pytest.raises(Refused) as refusal:
            switch.on(0)
        frames = traceback.extract_tb(refusal.value.__traceback__)
        found.append([(each.name, each.lineno) for each in frames])
    assert found[0] == found[1]
    assert [name for name, _ in found[0]][1:2] == ["on"]


def test_an_interrupt_of_the_compilation_changes_nothing() -> None:
    """And the next call compiles it."""

    def play(attempt: Any) -> None:
        cls = lamp()
        switch = cls()
        was = attempt(lambda: switch.on(1))
        assert state(switch) in [(Lamp.OFF, {}), (Lamp.ON, {1: 2})][not was :]
        if switch.state is Lamp.OFF:
            assert switch.on(1) == 3
        switch.off(1)
        assert state(switch) == (Lamp.OFF, {1: 3})

    assert at_every_place((), play, every=331) > 2000


@pytest.mark.parametrize("number", range(50, 3000, 590))
def test_a_handler_that_calls_another_event_first_in_the_middle(number: int) -> None:
    cls = lamp()
    first, other = cls(), cls()

    def handler() -> None:
        with pytest.raises(Refused):
            other.off(1)
        assert other.on(2) == 3

    assert handled(number, (), lambda: first.on(1), handler)
    assert (state(first), state(other)) == ((Lamp.ON, {1: 2}), (Lamp.ON, {2: 2}))
    first.off(1)
    assert state(first) == (Lamp.OFF, {1: 3})


def test_threads_that_call_it_first_at_once() -> None:
    cls = lamp()
    switches = [cls() for _ in range(8)]
    ready, given = threading.Barrier(8), list[Any]()

    def call(switch: Any) -> None:
        ready.wait()
        given.append(switch.on(1))

    threads = [threading.Thread(target=call, args=(each,)) for each in switches]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert given == [3] * 8


def test_a_patch_is_put_back() -> None:
    cls = lamp()
    switch = cls()
    with mock.patch.object(cls, "on", mock.Mock(return_value="patched")):
        assert switch.on(1) == "patched"
    assert switch.on(1) == 3
    assert type(vars(cls)["on"]) is FunctionType
