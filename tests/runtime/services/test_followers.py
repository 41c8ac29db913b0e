"""What follows an instance: it looks after each event, and gets no record."""

from __future__ import annotations

import pytest

from lawful import Machine, Nat, Refused, Timer, invariant, require, transition
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.timers import SimulatedClock


class Egg(Machine):
    """Its one timer is started, and refused while it is raw."""

    done: Timer = Timer()
    raw: bool = False

    @transition()
    def boil(self, seconds: Nat, raw: bool) -> None:
        require(seconds > 0, "no time")
        self.raw = raw
        self.done.start(seconds)

    @transition(timer="done")
    def serve(self) -> None:
        require(not self.raw, "not yet")

    @invariant
    def is_here(self) -> bool:
        return self.raw or not self.raw


def test_an_instance_without_observers_has_no_records() -> None:
    """Its events are followed by `Deadlines` alone, as long as that has it."""
    deadlines, egg = Deadlines(), Egg(clock=SimulatedClock())
    end = deadlines.add(egg, print)
    egg.boil(90, False)
    assert deadlines.next_deadline() == 90
    plan = Egg.lawful.plan
    assert (sorted(plan.runs), plan.tells) == (["boil"], {})
    heard: list[str] = []
    forget = egg.lawful.observe(lambda done: heard.append(done.event))
    egg.boil(80, False)
    assert (heard, deadlines.next_deadline(), [*plan.tells]) == (["boil"], 80, ["boil"])
    forget()
    egg.boil(70, False)
    assert (heard, deadlines.next_deadline()) == (["boil"], 70)
    end()
    assert egg.__watch__ is None
    egg.boil(60, False)
    assert deadlines.next_deadline() is None


@pytest.mark.parametrize("asserted", [False, True])
def test_a_refused_event_is_looked_at(asserted: bool) -> None:
    """What a timer fires is tried again after any event, also where properties are asserted."""
    clock, deadlines = SimulatedClock(), Deadlines()
    Egg.lawful.enforce("all" if asserted else "off")
    egg = Egg(clock=clock)
    Egg.lawful.enforce("off")
    deadlines.add(egg, print)
    egg.boil(5, True)
    assert deadlines.next_deadline() == 5
    assert deadlines.fire_due(clock.advance(7)) == 0
    assert deadlines.next_deadline() is None
    with pytest.raises(Refused):
        egg.boil(0, False)
    assert deadlines.next_deadline() == 5
    assert deadlines.fire_due(7) == 0
    assert deadlines.next_deadline() is None
    egg.boil(2, False)
    assert deadlines.next_deadline() == 9
