"""Steps that have the name of time's own."""

from lawful import Clock, Machine, Nat, transition


class Window(Machine):
    clock: Clock = Clock()
    rounds: Nat = 0

    @transition()
    def tick(self) -> None:
        self.rounds += 1

    @transition(event="tick")
    def first(self) -> None: ...
