from typing import ClassVar

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    State,
    assume,
    invariant,
    refuse,
    step_property,
    total,
    transition,
)


class Player(State):
    WHITE = "white"
    BLACK = "black"

    @property
    def opponent(self) -> "Player":
        return Player.BLACK if self == Player.WHITE else Player.WHITE


class Phase(State):
    SETUP = "setup"
    RUNNING = "running"
    PAUSED = "paused"
    FLAGGED = "flagged"


class Move(Record):
    by: Player
    spent: Nat
    left: Nat


class ChessClock(Machine):
    INCREMENT: ClassVar[int] = 1
    LIMIT: ClassVar[int] = 4

    phase: Phase = Phase.SETUP
    turn: Player = Player.WHITE
    left: dict[Player, Nat] = total(0)
    moves: Nat = 0
    base: Param[Nat] = 3
    spent: Nat = 0

    @assume
    def positive(self) -> bool:
        return 0 < self.base <= self.LIMIT

    @transition(source=Phase.SETUP, target=Phase.RUNNING)
    def start(self) -> None:
        for p in Player:
            self.left[p] = self.base
        self.turn = Player.WHITE

    @transition(source=Phase.RUNNING, target=(Phase.RUNNING, Phase.FLAGGED))
    def second(self) -> Nat:
        left = self.left[self.turn] = max(self.left[self.turn] - 1, 0)
        self.spent += 1
        self.phase = Phase.FLAGGED if not left else Phase.RUNNING
        return left

    @transition(source=Phase.RUNNING)
    def press(self, who: Player) -> Move:
        if who is not self.turn:
            refuse(f"it is not {who.value}'s turn")
        self.left[who] = min(self.left[who] + self.INCREMENT, self.LIMIT)
        move = Move(by=who, spent=self.spent, left=self.left[who])
        self.turn, self.spent = who.opponent, 0
        if who == Player.BLACK:
            self.moves = (self.moves + 1) % 3
        return move

    @transition(source=Phase.RUNNING, target=Phase.PAUSED)
    def pause(self) -> None: ...

    @transition(source=Phase.PAUSED, target=Phase.RUNNING)
    def resume(self) -> None: ...

    @transition(source=Phase.FLAGGED, target=Phase.SETUP)
    def reset(self) -> tuple[Player, int]:
        loser = min(Player, key=lambda p: (self.left[p], p.value))
        result = (loser.opponent, self.moves)
        self.moves = self.spent = 0
        self.left = dict.fromkeys(Player, 0)
        return result

    @transition
    def shown(self) -> str:
        lines = [f"{p.name.lower():<6} {self.left[p]:02d}" for p in Player]
        return "\n".join(lines)

    @invariant
    def at_most_limit(self) -> bool:
        return all(0 <= t <= self.LIMIT for t in self.left.values())

    @invariant
    def flag_means_zero(self) -> bool:
        return (0 in self.left.values()) == (self.phase in (Phase.FLAGGED, Phase.SETUP))

    @step_property
    def only_mover_loses_time(self, after: "ChessClock") -> bool:
        other = self.turn.opponent
        return after.left[other] >= self.left[other] or after.phase == Phase.SETUP

    scope = Scope(Nat=range(0, 6), base=[2, 3])
