"""What observers and `restore` are typed as: the very class of the instance."""

from __future__ import annotations

from typing import assert_type

from lawful import Machine, Nat, Scope, transition
from lawful.runtime.kernel.event_record import Stepped


class Lamp(Machine):
    scope = Scope(Nat=range(0, 4))

    lit: Nat = 0

    @transition()
    def light(self) -> None:
        self.lit += 1


def of_a_lamp(done: Stepped[Lamp]) -> None:
    assert_type(done.instance, Lamp)
    assert_type(done.instance.lit, Nat)


def of_any_machine(done: Stepped[Machine]) -> None:
    assert_type(done.instance, Machine)
    print(done.instance.lawful.enabled())


def untold(done: Stepped) -> None:
    print(done.instance.lawful.enabled())


def embed() -> None:
    lamp = Lamp()
    for observer in (of_a_lamp, of_any_machine, untold):
        lamp.lawful.observe(observer)
    lamp.lawful.observe(lambda done: print(done.instance.lit))
    heard = list[Stepped]()
    lamp.lawful.observe(heard.append)
    assert_type(Lamp.lawful.restore(lamp.lawful.snapshot()), Lamp)
    assert_type(Lamp.lawful.state(lit=3), Lamp)
