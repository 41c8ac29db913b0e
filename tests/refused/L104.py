"""Signatures that are not of the language."""

from lawful import Machine, Nat, step_property, transition


class Peer(Machine):
    sent: Nat = 0

    @transition()
    def send(self, count: Nat = 1, *more: Nat) -> None:
        self.sent += count

    @transition()
    def ack(message) -> None: ...

    @transition()
    async def receive(self) -> None: ...

    @transition()
    def drop(self, *, count: Nat, **options: Nat) -> None: ...
