"""Properties that change the state or guard it."""

from lawful import Machine, Nat, invariant, needed, require, transition


class Peer(Machine):
    sent: Nat = 0
    last: Nat | None = None

    def bump(self) -> Nat:
        self.sent += 1
        return self.sent

    @transition()
    def send(self) -> None:
        self.bump()

    @invariant
    def grows(self) -> bool:
        self.sent += 1
        require(self.sent > 0, "nothing was sent")
        assert self.sent > 0
        return self.bump() > 0 and needed(self.last, "none") > 0
