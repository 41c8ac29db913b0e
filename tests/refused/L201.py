"""Names that nobody defined."""

from __future__ import annotations

from lawful import Machine, Nat, transition


class Peer(Machine):
    sent: Nat = 0
    window: Windwo = 0

    @transition()
    def send(self, upto: Nat) -> None:
        sent = sent + 1
        self.sent = min(up_to, sent)

    @transition()
    def stop(self) -> Closed:
        for k in range(3):
            if k > limit:
                break
