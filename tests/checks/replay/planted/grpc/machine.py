"""A call of gRPC, from a log of its messages."""

from lawful import Machine, Nat, State, require, terminal, transition


class Step(State):
    IDLE = "idle"
    OPEN = "open"
    HALF = "half"
    CLOSED = "closed"


class Call(Machine):
    state: Step = Step.IDLE
    sent: Nat = 0
    got: Nat = 0

    @transition(source=Step.IDLE, target=Step.OPEN)
    def header(self) -> None: ...

    @transition(source=Step.OPEN, target=Step.OPEN)
    def client_message(self, size: Nat) -> None:
        self.sent += size

    @transition(source=Step.OPEN, target=Step.HALF)
    def half_close(self) -> None: ...

    @transition(source=(Step.OPEN, Step.HALF), target=(Step.OPEN, Step.HALF))
    def server_message(self, size: Nat) -> None:
        self.got += size

    @transition(source=(Step.OPEN, Step.HALF), target=Step.CLOSED)
    def trailer(self, ok: bool, messages: Nat) -> None:
        require(not ok or self.got > 0, "an answer without a message")

    @terminal
    def over(self) -> bool:
        return self.state == Step.CLOSED
