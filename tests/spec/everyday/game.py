"""A guessing game for two players, in turns."""

from enum import IntEnum
from typing import Literal

from lawful import Machine, Nat, Scope, State, invariant, needed, require, transition

Player = Literal[0, 1]
POINTS = {"easy": 1, "hard": 2}
LEVELS = ("easy", "hard")


class Turn(State):
    FIRST = 0
    SECOND = 1


class Level(IntEnum):
    EASY = 1
    HARD = 2


class Game(Machine):
    state: Turn = Turn.FIRST
    secret: Nat | None = None
    score: tuple[Nat, Nat] = (0, 0)
    rounds: Nat = 0

    @transition
    def think(self, number: Nat) -> None:
        require(self.secret is None, "somebody guesses")
        require(number in range(3), f"{number} is too large")
        self.secret = number

    @transition(target=(Turn.FIRST, Turn.SECOND))
    def guess(self, number: Nat, level: Level = Level.EASY) -> bool:
        right = number == needed(self.secret, "no number yet")
        points = POINTS["hard"] if level is Level.HARD else POINTS["easy"]
        if right:
            first, second = self.score
            self.score = (first + points, second) if self._first() else (first, second + points)
            self.secret = None
            self.rounds += 1
        self.state = Turn.SECOND if self._first() else Turn.FIRST
        return right

    @transition
    def leader(self) -> Player:
        require(self.score[0] != self.score[1], "a draw")
        return 0 if self.score[0] > self.score[1] else 1

    def _first(self) -> bool:
        return self.state is Turn.FIRST

    @invariant
    def points_for_rounds(self) -> bool:
        return self.score[0] + self.score[1] >= self.rounds

    scope = Scope(Nat=range(0, 3))
