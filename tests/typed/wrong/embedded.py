"""Mistakes of a service that embeds a machine."""

from lawful import Machine, Nat, Refused, Scope, Sort, State, Timer, Undefined, transition
from lawful.runtime.timers import SimulatedClock


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Guest(Sort):
    """Who comes in."""


class Hall(Machine):
    state: Door = Door.SHUT
    seen: dict[Guest, Nat] = {}
    idle: Timer = Timer()

    @transition(source=Door.SHUT, target=Door.OPEN)
    def enter(self, who: Guest) -> Nat:
        self.seen[who] = 1
        return 1

    @transition(source=Door.OPEN, target=Door.SHUT, timer="idle")
    def shut(self) -> None: ...

    scope = Scope(3)  # error
    large = Scope(expects=3)  # error


def embed(hall: Hall) -> None:
    Hall(3)  # error
    Hall(universe=[Guest])  # error
    Hall(clock=3)  # error
    hall.enter("a")  # error
    hall.enter()  # error
    hall.enter(Door.OPEN)  # error
    hall.enter(Guest("a"), 2)  # error
    hall.enter(Guest("a")).who  # error
    hall.close()  # error
    text: str = hall.enter(Guest("a"))  # error
    assert hall.shut().text == text  # error
    hall.lawful.observe(3)  # error
    hall.lawful.next_deadline(3)  # error
    hall.lawful.fire_due("now")  # error
    hall.lawful.next_deadline() + 1  # error
    hall.lawful.explain(3)  # error
    hall.lawful.explain("enter", Guest("a"))[0].text  # error
    hall.lawful.missing  # error
    hall.lawful.snapshot().seen  # error
    hall.lawful.state(3)  # error
    Hall.lawful.enabled()  # error
    Hall.lawful.fingerprint.all  # error
    Hall.lawful.restore({}).enter(3)  # error
    Door.AJAR  # error
    SimulatedClock().advance("x")  # error
    try:
        hall.shut()
    except Refused as refused:
        refused.text  # error
    except Undefined as fault:
        fault.clause  # error
