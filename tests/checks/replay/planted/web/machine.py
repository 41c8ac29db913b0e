"""Sessions of a web shop, from its access log."""

from lawful import Machine, Nat, State, require, terminal, transition


class Stage(State):
    OUT = "out"
    IN = "in"
    GONE = "gone"


class Session(Machine):
    state: Stage = Stage.OUT
    failures: Nat = 0
    items: Nat = 0

    @transition(source=Stage.OUT, target=Stage.IN)
    def login(self) -> None:
        require(self.failures < 3, "locked")
        self.failures = 0

    @transition(source=Stage.OUT, target=Stage.OUT)
    def refuse(self) -> None:
        self.failures += 1

    @transition(source=Stage.IN, target=Stage.IN)
    def add(self, count: Nat) -> None:
        require(count > 0, "adds nothing")
        self.items += count

    @transition(source=Stage.IN, target=Stage.IN)
    def buy(self) -> None:
        require(self.items > 0, "buys nothing")
        self.items = 0

    @transition(source=Stage.IN, target=Stage.GONE)
    def logout(self) -> None:
        pass

    @terminal
    def over(self) -> bool:
        return self.state == Stage.GONE
