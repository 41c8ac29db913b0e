"""Turns of tic-tac-toe."""

from enum import Enum
from typing import Annotated, TypeAlias

from annotated_types import Interval

from lawful import Machine, Scope, State, invariant, require, terminal, transition


class Mark(Enum):
    CROSS = "X"
    NOUGHT = "O"

    def other(self) -> "Mark":
        return Mark.NOUGHT if self is Mark.CROSS else Mark.CROSS


class Game(State):
    RUNNING = 0
    WON = 1
    DRAW = 2


Cell: TypeAlias = Annotated[int, Interval(ge=0, le=8)]
LINES = (
    [(r * 3, r * 3 + 1, r * 3 + 2) for r in range(3)]
    + [(c, c + 3, c + 6) for c in range(3)]
    + [(0, 4, 8), (2, 4, 6)]
)


class TicTacToe(Machine):
    state: Game = Game.RUNNING
    board: dict[Cell, Mark] = {}
    turn: Mark = Mark.CROSS
    winner: Mark | None = None

    def has_line(self, who: Mark) -> bool:
        return any(all(self.board.get(c) == who for c in line) for line in LINES)

    @transition(source=Game.RUNNING, target=(Game.RUNNING, Game.WON, Game.DRAW))
    def play(self, who: Mark, cell: Cell) -> str:
        require(who == self.turn, "not your turn")
        require(cell not in self.board, "taken")
        self.board[cell] = who
        if self.has_line(who):
            self.winner = who
            self.state = Game.WON
            return f"{who.value} wins"
        elif len(self.board) == 9:
            self.state = Game.DRAW
            return "draw"
        self.turn = self.turn.other()
        return f"{self.turn.value} to move"

    @transition(source=Game.RUNNING, target=Game.WON)
    def resign(self, who: Mark) -> None:
        self.winner = who.other()

    @terminal
    def over(self) -> bool:
        return self.state in (Game.WON, Game.DRAW)

    @invariant
    def fair_turns(self) -> bool:
        xs = sum(1 for m in self.board.values() if m == Mark.CROSS)
        os = len(self.board) - xs
        return 0 <= xs - os <= 1

    @invariant
    def one_winner(self) -> bool:
        return not (self.has_line(Mark.CROSS) and self.has_line(Mark.NOUGHT))

    scope = Scope()
