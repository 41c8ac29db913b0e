"""Prisoners and two switches: who counts, and when is he sure?

Source: tlaplus/Examples, specifications/Prisoners/Prisoners.tla (L. Lamport; the puzzle of the
radio show "Car Talk"); its manifest has the figures. The configuration was not read: with three
prisoners beside the one who counts they come out.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    Scope,
    Sort,
    Weak,
    eventually,
    initial,
    invariant,
    reachable,
    step_property,
    total,
    transition,
)

COUNTS = (214, 860, 14)


class Prisoner(Sort):
    """All but the one who counts."""


class Prisoners(Machine):
    """Who comes into the room must flip one of two switches; only A is a message."""

    a_up: bool
    b_up: bool
    switched: dict[Prisoner, Annotated[int, Interval(ge=0, le=2)]] = total(0)
    count: Annotated[int, Interval(ge=0, le=7)] = 0

    @initial
    def start(self, a_up: bool, b_up: bool) -> None:
        """Init: nobody knows how the switches are."""
        self.a_up = a_up
        self.b_up = b_up

    @transition()
    def one_comes(self, prisoner: Prisoner) -> None:
        """NonCounterStep: twice in his life each moves switch A up."""
        if not self.a_up and self.switched[prisoner] < 2:
            self.a_up = True
            self.switched[prisoner] += 1
        else:
            self.b_up = not self.b_up

    @transition()
    def counter_comes(self) -> None:
        """CounterStep: he moves switch A down and counts it."""
        if self.a_up:
            self.a_up = False
            self.count += 1
        else:
            self.b_up = not self.b_up

    def done(self) -> bool:
        """Done: as often as two for each of the others."""
        return self.count == 2 * len(Prisoner)

    @invariant
    def done_means_all_were_here(self, prisoner: Prisoner) -> bool:
        """Safety."""
        return not self.done() or self.switched[prisoner] > 0

    @invariant
    def counts_what_was_switched(self) -> bool:
        """CountInvariant: one too many if switch A was up at first."""
        seen = sum(self.switched[p] for p in Prisoner) - (1 if self.a_up else 0)
        return self.count in (seen, seen + 1)

    @step_property
    def exactly_one_is_flipped(self, after: "Prisoners") -> bool:
        return (self.a_up == after.a_up) != (self.b_up == after.b_up)

    @reachable
    def free(self) -> bool:
        return self.done()

    @reachable
    def free_though_one_switched_once(self) -> bool:
        return self.done() and any(self.switched[p] == 1 for p in Prisoner)

    @eventually
    def freed(self) -> bool:
        """Liveness."""
        return self.done()

    fairness = Fairness(Weak("counter_comes"), Weak("one_comes", each=("prisoner",)))
    scope = Scope(Prisoner=3)
