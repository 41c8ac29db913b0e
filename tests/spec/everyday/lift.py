"""A lift."""

from typing import Literal

from lawful import Machine, Nat, Scope, invariant, require, transition

TOP = 3
Direction = Literal["up", "down"]


class Lift(Machine):
    floor: Nat = 0
    open: bool = False
    calls: list[Nat] = []
    direction: Direction = "up"

    @transition
    def call(self, floor: Nat) -> None:
        require(0 <= floor <= TOP, f"there is no floor {floor}")
        if floor not in self.calls:
            self.calls.append(floor)

    @transition
    def move(self) -> Direction:
        require(not self.open, "the door is open")
        require(len(self.calls) > 0 and self.calls[0] != self.floor, "nowhere to go")
        self.direction = "up" if self.calls[0] > self.floor else "down"
        self.floor += 1 if self.direction == "up" else -1
        return self.direction

    @transition
    def arrive(self) -> Nat:
        require(bool(self.calls) and self.calls[0] == self.floor, "not there")
        self.open = True
        return self.calls.pop(0)

    @transition
    def close(self) -> None:
        require(self.open, "it is shut")
        self.open = False

    @invariant
    def in_the_building(self) -> bool:
        return 0 <= self.floor <= TOP

    scope = Scope(Nat=range(0, 4), calls=2)
