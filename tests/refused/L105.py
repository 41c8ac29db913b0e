"""Decorators that change what a method is."""

import functools

from lawful import Machine, Nat, invariant, transition


class Peer(Machine):
    sent: Nat = 0

    @functools.cache
    @transition()
    def send(self) -> None:
        self.sent += 1

    @invariant
    @transition()
    def both(self) -> None: ...
