"""Dining philosophers who clean a fork before they hand it over.

Source: K. M. Chandy and J. Misra, "The drinking philosophers problem" (1984); as in
tlaplus/Examples, specifications/DiningPhilosophers/DiningPhilosophers.tla (J. Hemphill), whose
manifest has the figures. The configuration was not read: with five philosophers they come out.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    Record,
    State,
    Weak,
    infinitely_often,
    invariant,
    reachable,
    total,
    transition,
)

COUNTS = (67, 336, 29)

Seat = Annotated[int, Interval(ge=1, le=5)]


class Label(State):
    """Where a philosopher's program stands."""

    LOOP = "loop"
    EAT = "eat"
    THINK = "think"


class Fork(Record):
    """Who holds it, and whether it is clean: eating makes it dirty."""

    holder: Seat
    clean: bool


def left(p: Seat) -> Seat:
    """The philosopher on the left; the fork there has one's own number."""
    return 5 if p == 1 else p - 1


def right(p: Seat) -> Seat:
    """The philosopher on the right, and the fork there."""
    return 1 if p == 5 else p + 1


class Philosophers(Machine):
    """Dirty forks are cleaned and handed over; one eats with two clean forks."""

    pc: dict[Seat, Label] = total(Label.LOOP)
    hungry: dict[Seat, bool] = total(True)
    forks: dict[Seat, Fork] = total(lambda fork: Fork(1 if fork == 2 else fork, False))

    def can_eat(self, p: Seat) -> bool:
        mine = Fork(p, True)
        return self.forks[p] == mine and self.forks[right(p)] == mine

    @transition(source=Label.LOOP, target=(Label.LOOP, Label.EAT, Label.THINK), of="pc[p]")
    def loop(self, p: Seat) -> None:
        """Loop: hand a dirty fork over, then see what to do next."""
        if self.forks[p] == Fork(p, False):
            self.forks[p] = Fork(left(p), True)
        elif self.forks[right(p)] == Fork(p, False):
            self.forks[right(p)] = Fork(right(p), True)
        if not self.hungry[p]:
            self.pc[p] = Label.THINK
        elif self.can_eat(p):
            self.pc[p] = Label.EAT

    @transition(source=Label.THINK, target=Label.LOOP, of="pc[p]")
    def think(self, p: Seat) -> None:
        """Think."""
        self.hungry[p] = True

    @transition(source=Label.EAT, target=Label.LOOP, of="pc[p]")
    def eat(self, p: Seat) -> None:
        """Eat."""
        self.hungry[p] = False
        self.forks[p] = self.forks[p].replace(clean=False)
        self.forks[right(p)] = self.forks[right(p)].replace(clean=False)

    @invariant
    def neighbours_do_not_eat_together(self, p: Seat) -> bool:
        """ExclusiveAccess."""
        return not (self.pc[p] == Label.EAT and self.pc[right(p)] == Label.EAT)

    @reachable
    def eats(self, p: Seat) -> bool:
        return self.pc[p] == Label.EAT

    @infinitely_often
    def nobody_starves(self, p: Seat) -> bool:
        """NobodyStarves."""
        return not self.hungry[p]

    fairness = Fairness(Weak("loop", "think", "eat", each=("p",)))
