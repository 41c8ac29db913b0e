"""What an observer takes for another machine, or for one that it is not."""

from __future__ import annotations

from lawful import Machine, Nat, transition
from lawful.runtime.kernel.event_record import Stepped


class Lamp(Machine):
    lit: Nat = 0

    @transition()
    def light(self) -> None:
        self.lit += 1


class Bell(Machine):
    rung: Nat = 0


def of_a_bell(done: Stepped[Bell]) -> None:
    print(done.instance.lit)  # error


Lamp().lawful.observe(of_a_bell)  # error
Bell().lawful.observe(lambda done: print(done.instance.lit))  # error
number: Stepped[int]  # error
