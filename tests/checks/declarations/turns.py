"""A machine with few obligations, all of which induction proves."""

from __future__ import annotations

from lawful import Machine, State, invariant, transition


class Turn(State):
    ONE = 1
    TWO = 2


class Turns(Machine):
    state: Turn = Turn.ONE
    second: bool = False

    @transition(source=Turn.ONE, target=Turn.TWO)
    def go(self) -> None:
        self.second = True

    @transition(source=Turn.TWO, target=Turn.ONE)
    def back(self) -> None:
        self.second = False

    @invariant
    def known(self) -> bool:
        return self.second == (self.state is Turn.TWO)
